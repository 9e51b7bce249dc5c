"""Whole runs: accounting, determinism, resume, refusals, output order."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.executors.executor import Executor, Outcome, Serial
from curate.executors.processes import Processes
from curate.scan import slice as scan
from tests.engine import STAGES, crawl, run_it, settings, table, text, tree_hash, write_jsonl


@dataclass(frozen=True)
class Shuffled:
    """Serial, in random order."""

    seed: int = 0
    workers: int = 1

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        order = list(range(len(tasks)))
        Random(self.seed).shuffle(order)
        for index in order:
            yield Outcome(index, function(tasks[index]))

    def close(self) -> None: ...


@dataclass
class Dying:
    """Serial, but an exception stands for SIGKILL before the n-th task of the run."""

    left: int
    workers: int = 1
    done: list[str] = field(default_factory=list)

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        for index, task in enumerate(tasks):
            if self.left == 0:
                raise Killed
            self.left -= 1
            self.done.append(f"{function.__name__} {task}")
            yield Outcome(index, function(task))

    def close(self) -> None: ...


class Killed(BaseException):
    pass


@pytest.fixture(scope="module")
def input_glob(tmp_path_factory: pytest.TempPathFactory) -> str:
    return crawl(tmp_path_factory.mktemp("crawl"))


@pytest.fixture(scope="module")
def expected(input_glob: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    output = tmp_path_factory.mktemp("expected") / "out"
    run_it(settings(input_glob, output))
    return tree_hash(output)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (Serial, {"slice_bytes": 2000}),
        (lambda: Shuffled(1), {"slice_bytes": 5000, "partitions": 7}),
        (lambda: Shuffled(2), {"slice_bytes": 100, "partitions": 64}),
        (lambda: Processes(2), {"partitions": 7}),
        (lambda: Processes(4), {"slice_bytes": 3000, "partitions": 64}),
    ],
)
def test_the_same_bytes_however_it_is_run(
    make: Callable[[], Executor], options: dict[str, Any], input_glob: str, expected: str, tmp_path: Path
) -> None:
    executor = make()
    report = run_it(settings(input_glob, tmp_path / "out"), executor, **options)
    if isinstance(executor, Processes):
        executor.close()
    assert report.stats["kept"]["documents"] > 0
    assert tree_hash(tmp_path / "out") == expected


def test_killed_before_any_task_it_goes_on_and_does_nothing_twice(
    input_glob: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[str] = []
    plainly = scan._scan
    monkeypatch.setattr(scan, "_scan", lambda task: (scanned.append(str(task)), plainly(task)))
    everything = Dying(-1)
    run_it(settings(input_glob, tmp_path / "all"), everything, slice_bytes=4000)
    total, slices = len(everything.done), len(scanned)
    assert total > slices > 5
    for left in range(total):
        output = tmp_path / f"out-{left}"
        scanned.clear()
        with pytest.raises(Killed):
            run_it(settings(input_glob, output), Dying(left), slice_bytes=4000)
        run_it(settings(input_glob, output), slice_bytes=999)  # the stored plan holds, not the new size
        assert tree_hash(output) == expected
        assert len(scanned) == slices
        shutil.rmtree(output)


def test_every_record_ends_as_one_row(input_glob: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    stats = run_it(settings(input_glob, output)).stats
    shards, ledger = table(output, "shards"), table(output, "ledger")
    assert stats["read"]["documents"] == 120 == shards.num_rows + ledger.num_rows
    places = [
        *zip(shards["file_path"].to_pylist(), shards["offset"].to_pylist(), strict=True),
        *zip(ledger["file_path"].to_pylist(), ledger["offset"].to_pylist(), strict=True),
    ]
    assert len(set(places)) == 120
    reasons = {(row["stage"], row["reason"]) for row in stats["dropped"]}
    assert {
        ("gopher", "too_few_words"),
        ("exact_dedup", "exact_duplicate"),
        ("near_dedup", "near_duplicate"),
        ("language", "other_language"),
    } <= reasons


def test_a_duplicate_names_its_twin_which_is_kept(input_glob: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run_it(settings(input_glob, output))
    shards, ledger = table(output, "shards").to_pylist(), table(output, "ledger").to_pylist()
    kept = {(row["file_path"], row["offset"]) for row in shards}
    twins = [row for row in ledger if row["stage"] in ("exact_dedup", "near_dedup")]
    assert twins
    for row in twins:
        assert (row["matched_file"], row["matched_offset"]) in kept
        assert row["score"] >= 0.8


def test_measures_tell_each_pages_verdict(input_glob: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    run_it(settings(input_glob, output))
    measures, ledger = table(output, "measures").to_pylist(), table(output, "ledger").to_pylist()
    verdicts = {(row["file_path"], row["offset"]): (row["stage"], row["reason"]) for row in ledger}
    assert len(measures) == 120
    for row in measures:
        assert (row["stage"], row["reason"]) == verdicts.get((row["file_path"], row["offset"]), (None, None))
    short = next(row for row in measures if row["reason"] == "too_few_words" or row["gopher.words"] == 4)
    assert short["language.language"] is not None


def test_samples_hold_dropped_texts_of_every_reason(input_glob: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    stats = run_it(settings(input_glob, output, samples=2)).stats
    samples = table(output, "samples").to_pylist()
    counts: dict[tuple[str, str], int] = {}
    for row in samples:
        assert row["text"] and row["url"]
        counts[row["stage"], row["reason"]] = counts.get((row["stage"], row["reason"]), 0) + 1
    dropped = {(row["stage"], row["reason"]) for row in stats["dropped"]}
    assert set(counts) == dropped
    assert max(counts.values()) == 2


def test_a_finished_run_is_not_done_again(input_glob: str, tmp_path: Path) -> None:
    config = settings(input_glob, tmp_path / "out")
    assert not run_it(config).ready
    again = Dying(0)
    assert run_it(config, again).ready
    assert again.done == []


def test_another_config_or_other_inputs_are_refused(input_glob: str, tmp_path: Path) -> None:
    folder, output = tmp_path / "in", tmp_path / "out"
    glob = crawl(folder, files=1, each=20)
    run_it(settings(glob, output))
    with pytest.raises(UserError, match=r"gopher.min_words was 50, is 30"):
        run_it(settings(glob, output, stages=["language", {"gopher": {"min_words": 30}}, "exact_dedup", "near_dedup"]))
    with pytest.raises(UserError, match="stages were"):
        run_it(settings(glob, output, stages=["language"]))
    with pytest.raises(UserError, match="differs: --limit was not given, is 3; give --fresh"):
        run_it(settings(glob, output), limit=3)
    write_jsonl(folder / "part-9.jsonl", [text(5)])
    with pytest.raises(UserError, match=r"1 added .*part-9.jsonl"):
        run_it(settings(glob, output))
    before = tree_hash(output)
    assert run_it(settings(glob, output), fresh=True).stats["read"]["documents"] == 21
    assert tree_hash(output) != before


def test_an_interrupted_run_with_another_config_is_refused_too(input_glob: str, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        run_it(settings(input_glob, tmp_path / "out"), Dying(2))
    with pytest.raises(UserError, match="seed was 0, is 1"):
        run_it(settings(input_glob, tmp_path / "out", seed=1))


def test_files_of_another_hand_in_the_output_are_not_touched(input_glob: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    (output / "shards").mkdir(parents=True)
    with pytest.raises(UserError, match="no trace of which"):
        run_it(settings(input_glob, output))


def test_limit_takes_the_first_documents_in_crawl_order(input_glob: str, tmp_path: Path) -> None:
    full, part = tmp_path / "full", tmp_path / "part"
    config: dict[str, Any] = {"stages": ["language"]}
    run_it(settings(input_glob, full, **config))
    stats = run_it(settings(input_glob, part, **config), limit=50).stats
    assert stats["read"]["documents"] == 50
    some = table(part, "shards")
    assert some.equals(table(full, "shards").slice(0, some.num_rows))


def test_shards_are_cut_by_bytes_and_keep_the_order(input_glob: str, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run_it(settings(input_glob, whole))
    run_it(settings(input_glob, cut, write={"shard_bytes": 8000, "row_group_rows": 3}))
    names = [shard["name"] for shard in json.loads((cut / "manifest.json").read_text())["shards"]]
    assert len(names) > 3
    assert pq.read_metadata(cut / "shards" / names[0]).row_group(0).num_rows == 3
    assert pq.read_table(cut / "shards").equals(pq.read_table(whole / "shards"))


def test_shuffled_output_holds_the_same_rows_in_another_order(input_glob: str, tmp_path: Path) -> None:
    whole, mixed, other = (tmp_path / name for name in ("whole", "mixed", "other"))
    run_it(settings(input_glob, whole))
    run_it(settings(input_glob, mixed, write={"order": "shuffle", "shard_bytes": 8000}))
    run_it(settings(input_glob, other, write={"order": "shuffle", "seed": 9}))
    orders = [table(folder, "shards")["offset"].to_pylist() for folder in (whole, mixed, other)]
    assert orders[0] != orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])


def test_shards_by_language(input_glob: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    stages = [{"language": {"keep": "all", "min_score": None}}]
    run_it(settings(input_glob, output, stages=stages, write={"by": "language"}))
    folders = sorted(path.name for path in (output / "shards").iterdir())
    assert {"language=de", "language=en"} <= set(folders)
    german = pq.read_table(output / "shards", filters=[("language", "==", "de")])
    assert german.num_rows and set(german["language"].to_pylist()) == {"de"}
    assert "language" not in pq.read_schema(output / "shards/language=de/part-00000.parquet").names


def test_write_by_an_attribute_that_nothing_declares_is_refused(input_glob: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="write: by: nothing among the stages declares the attribute 'colour'"):
        run_it(settings(input_glob, tmp_path / "out", write={"by": "colour"}))


@pytest.mark.parametrize(
    ("stages", "name"),
    [
        ([{"near_dedup": {"keep": {"by": "stars"}}}], "near_dedup: .*'stars'"),
        (["language", {"near_dedup": {"keep": {"by": "language"}}}], "'language' is string, but must be a number"),
        ([{"mixture": {"weights": {"crawl": 1}, "tokens": 9}}], "mixture: .*'token_count'"),
    ],
)
def test_an_attribute_that_a_stage_needs_must_be_declared_before_it(
    stages: Any, name: str, input_glob: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=name):
        run_it(settings(input_glob, tmp_path / "out", stages=stages))


def test_keeping_by_an_attribute(tmp_path: Path) -> None:
    base = text(3, 200)
    write_jsonl(tmp_path / "a.jsonl", [base, f"{base} more", f"{base} other"], stars=[1, 5, 3])
    source = {"crawl": {"path": str(tmp_path / "a.jsonl"), "url": "url", "columns": "all"}}
    for keep, kept in (({"by": "stars"}, 5), ("first", 1), ("longest", 3)):
        output = tmp_path / str(kept)
        run_it(settings(source, output, stages=[{"near_dedup": {"keep": keep}}]))
        assert table(output, "shards")["stars"].to_pylist() == [kept]


def test_columns_of_the_input_are_carried_through(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [text(n) for n in range(4)], stars=[5, 3, 1, 2])
    source = {"books": {"path": str(tmp_path / "a.jsonl"), "url": "url", "columns": "all"}}
    run_it(settings(source, tmp_path / "out", stages=STAGES))
    rows = table(tmp_path / "out", "shards")
    assert rows["stars"].to_pylist() == [5, 3, 1, 2]
    assert rows["source"].to_pylist() == ["books"] * 4
    assert rows.schema.names[:9] == [
        "text",
        "id",
        "dump",
        "url",
        "date",
        "file_path",
        "language",
        "language_score",
        "token_count",
    ]


def test_a_run_that_keeps_nothing_still_writes_its_books(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", ["too short", ""])
    report = run_it(settings(str(tmp_path / "a.jsonl"), tmp_path / "out"))
    assert report.stats["kept"]["documents"] == 0
    assert table(tmp_path / "out", "ledger").num_rows == 2


def test_the_same_file_twice_is_refused(input_glob: str, tmp_path: Path) -> None:
    twice = {"a": input_glob, "b": input_glob}
    with pytest.raises(UserError, match="is read twice"):
        run_it(settings(twice, tmp_path / "out"))


def test_failures_over_the_ceiling_stop_the_run(input_glob: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"stages failed on \d+ of 120 documents"):
        run_it(settings(input_glob, tmp_path / "out", stages=["tests.hostile:Hostile"]))
