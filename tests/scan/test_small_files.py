"""Small files share a task; who they are follows from the input, and nothing of it is seen in the output."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from curate.config.file import Config, parse_config
from curate.decide.survivors import Survivors
from curate.document import Document
from curate.errors import UserError
from curate.executors.executor import Executor
from curate.executors.processes import Processes
from curate.scan import blocks, guard
from curate.scan import crawl as scanning
from curate.scan.crawl import groups, plan
from curate.scan.tasks import load_run, load_tasks
from curate.sources.reader import InputFile
from curate.write.accounts import AccountsOpen, check_bytes
from tests.engine import run_it, settings, table, text, texts, tree_hash, write_jsonl
from tests.test_run import Killed, Shuffled

MEMORY = 4 << 30
ROOT = Path(__file__).parents[2]
MIB = 1 << 20
SEEN: list[str] = []


def many(folder: Path, count: int, each: int = 1) -> Path:
    """JSONL files of few lines, some of them copies of others; the first line of each is at offset 0."""
    folder.mkdir()
    lines = texts(count * each)
    for number in range(count):
        path = folder / f"f{number:04d}.jsonl"
        write_jsonl(path, lines[number * each : (number + 1) * each])
        path.write_text(path.read_text().replace(f"/{path.stem}/", f"/{number}/"))
    return folder


def sized(*sizes: int, source: str = "a") -> list[InputFile]:
    return [InputFile(source, f"{source}{number}.jsonl", size, "") for number, size in enumerate(sizes)]


def config_of(*sources: str) -> Config:
    return parse_config(
        {"input": {name: f"{name}*.jsonl" for name in sources}, "output": "out", "stages": ["language"]}
    )


def counts(files: list[InputFile], size: int = 64 * MIB) -> list[int]:
    found = list(groups(config_of(*{file.source for file in files}), files, size))
    assert [first for first, _ in found] == [sum(count for _, count in found[:n]) for n in range(len(found))]
    return [count for _, count in found]


def test_groups_follow_from_sizes_and_order() -> None:
    assert counts(sized(*[10] * 150)) == [64, 64, 22]
    assert counts(sized(MIB // 2, MIB // 2, 1, 1)) == [2, 2]
    assert counts(sized(5, 2 * MIB, 5, 5)) == [1, 1, 2]  # what may be cut stands alone
    assert counts(sized(0, 0, 0)) == [3]
    assert counts(sized(5, 5) + sized(5, 5, source="b")) == [2, 2]  # a task has one source


def test_files_over_the_size_of_a_slice_are_still_cut() -> None:
    assert counts(sized(50, 4000, 4001, 50, 50), size=4000) == [2, 1, 2]


def test_there_are_never_too_many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "MOST_TASKS", 4)
    assert len(counts(sized(*[10] * 4000))) <= 5
    assert len(counts(sized(*[MIB] * 40))) <= 5


def test_an_index_is_never_small(tmp_path: Path) -> None:
    """It names records of any size elsewhere."""
    config = parse_config({"input": {"a": {"cdx": "*.cdxj"}}, "output": "out", "stages": ["extract"]})
    assert [count for _, count in groups(config, sized(10, 10, 10), MIB)] == [1, 1, 1]


@pytest.mark.parametrize("write", [{}, {"order": "shuffle", "shard_bytes": 4000}, {"by": "language"}])
def test_the_bytes_are_those_of_one_file_a_task(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "GROUP_FILES", 10)
    folder = many(tmp_path / "in", 24, 4)
    stages = ["language", {"gopher": {"min_words": 20}}, "line_dedup", "exact_dedup", "near_dedup"]
    config = settings(f"{folder}/*", tmp_path / "out", stages=stages, write=write, samples=3)
    stats = run_it(config, keep_work=True).stats
    assert [task.files for task in load_tasks(str(tmp_path / "out/.work"))] == [10, 10, 4]
    assert stats["kept"]["documents"] > 20 and len(stats["dropped"]) > 3
    hashes = [tree_hash(tmp_path / "out")]
    run_it(config, Shuffled(3), fresh=True, partitions=3)
    hashes.append(tree_hash(tmp_path / "out"))
    monkeypatch.setattr(scanning, "GROUP_FILES", 1)
    run_it(config, fresh=True)
    assert {*hashes, tree_hash(tmp_path / "out")} == {hashes[0]}


def test_every_row_names_its_own_file(tmp_path: Path) -> None:
    run_it(settings(f"{many(tmp_path / 'in', 30)}/*", tmp_path / "out"))
    rows = [row for kind in ("shards", "ledger") for row in table(tmp_path / "out", kind).to_pylist()]
    assert len(rows) == 30 and {row["offset"] for row in rows} == {0}
    assert all(int(Path(row["file_path"]).stem[1:]) == int(row["url"].split("/")[3]) for row in rows)


@pytest.mark.parametrize("stage", ["tests.hostile:Hostile", "tests.together:HostileTogether"])
@pytest.mark.parametrize(("way", "reason"), [("crash", "crashed"), ("hang", "hung"), ("eat", "out_of_memory")])
def test_a_hostile_page_costs_itself_among_pages_of_other_files(
    stage: str, way: str, reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(12):
        write_jsonl(folder / f"f{number:02d}.jsonl", [text(number)], url=[f"http://a.example/{number}"])
    config = settings(f"{folder}/*", tmp_path / "out", stages=[{stage: {way: 5}}], cpu_seconds=0.2)
    executor: Executor = Processes(1)
    try:
        run_it(config, executor, memory=MEMORY)
    finally:
        executor.close()
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["stage"], row["reason"], Path(row["file_path"]).name) == ("guard", reason, "f05.jsonl")
    assert table(tmp_path / "out", "shards").num_rows == 11


def test_a_page_that_took_a_serial_run_down_is_named_with_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(4):
        write_jsonl(
            folder / f"f{number}.jsonl", [text(9), text(number)], url=["http://a.example/9", f"http://a/{number}"]
        )
    config = settings(f"{folder}/*", tmp_path / "out", stages=[{"tests.hostile:Hostile": {"crash": 2}}])
    (tmp_path / "run.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "curate", "run", str(tmp_path / "run.json"), "--executor", "serial"]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    offset = (folder / "f2.jsonl").read_text().index("\n") + 1
    assert first.returncode == -signal.SIGSEGV and f"{folder / 'f2.jsonl'}:{offset}: the run ended" in first.stderr


def test_damage_is_told_of_the_file_that_has_it(tmp_path: Path) -> None:
    folder = many(tmp_path / "in", 9, 3)
    (folder / "f0004.jsonl").write_text('{"text": \n' * 2 + '{"text": "one line that is well"}\n')
    (folder / "f0006.jsonl").write_bytes(b"")
    stats = run_it(settings(f"{folder}/*", tmp_path / "out", stages=["exact_dedup"])).stats
    damaged = [row for row in table(tmp_path / "out", "ledger").to_pylist() if row["reason"] == "damaged"]
    assert [(Path(row["file_path"]).name, row["offset"]) for row in damaged] == [
        ("f0004.jsonl", 0),
        ("f0004.jsonl", 10),
    ]
    assert stats["read"]["documents"] == 24 and stats["read"]["bytes"] == sum(
        path.stat().st_size for path in folder.iterdir()
    )


@dataclass(frozen=True, kw_only=True)
class Noting:
    """Notes each page, and is killed over one; or changes a file of the input then."""

    die_at: int | None = None
    append_to: str = ""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document:
        if self.die_at is not None and len(SEEN) == self.die_at:
            if not self.append_to:
                raise KeyboardInterrupt
            with Path(self.append_to).open("a") as file:
                file.write("\n")
        SEEN.append(doc.url)
        return doc


def test_a_killed_group_goes_on_after_its_last_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    folder = many(tmp_path / "in", 40, 3)
    config = settings(f"{folder}/*", tmp_path / "out", stages=["tests.scan.test_small_files:Noting", "exact_dedup"])
    SEEN.clear()
    run_it(config)
    expected, pages = tree_hash(tmp_path / "out"), len(SEEN)
    apply = Noting.apply

    def dying(stage: Noting, doc: Document) -> Document:
        if len(SEEN) == 70:
            raise Killed
        return apply(stage, doc)

    SEEN.clear()
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(Noting, "apply", dying)
        patched.setattr("curate.belt.is_stop", lambda error: isinstance(error, Killed))
        run_it(config, fresh=True)
    run_it(config)
    assert tree_hash(tmp_path / "out") == expected
    assert pages <= len(SEEN) <= pages + 8


@pytest.mark.parametrize("name", ["f0002.jsonl", "f0007.jsonl"])  # while it is read, and before
def test_a_file_of_a_group_that_changes_ends_the_run(name: str, tmp_path: Path) -> None:
    folder = many(tmp_path / "in", 9, 3)
    stage = {"tests.scan.test_small_files:Noting": {"die_at": 7, "append_to": str(folder / name)}}
    SEEN.clear()
    with pytest.raises(UserError, match=rf"{name}' was changed while the run read it"):
        run_it(settings(f"{folder}/*", tmp_path / "out", stages=[stage]))


def test_the_accounts_are_closed_file_by_file(tmp_path: Path) -> None:
    """Rows that are entered under a neighbour in the same task are found, though the task's sum is right."""
    run_it(settings(f"{many(tmp_path / 'in', 6, 3)}/*", tmp_path / "out"), keep_work=True)
    work = tmp_path / "out/.work"
    tasks = load_tasks(str(work))
    results: list[Any] = [json.loads((task.folder / "result.json").read_text()) for task in tasks]
    check_bytes(Survivors.of(work, tasks, results), results, limited=False)
    one, other = results[0]["pieces"][1:3]
    one["survivors"], other["survivors"] = one["survivors"] + 1, other["survivors"] - 1
    with pytest.raises(AccountsOpen, match=r"f0001.jsonl: task 0 read \d+ bytes but entered \d+"):
        check_bytes(Survivors.of(work, tasks, results), results, limited=False)
    one["survivors"], other["survivors"] = one["survivors"] - 1, other["survivors"] + 1
    other["size"] += 1
    with pytest.raises(AccountsOpen, match=r"f0002.jsonl: entered bytes 0 to \d+ of \d+"):
        check_bytes(Survivors.of(work, tasks, results), results, limited=False)


def test_the_plan_hangs_on_the_input_alone(tmp_path: Path) -> None:
    files = sized(*[3000] * 500, 3 * MIB)
    (tmp_path / "a500.jsonl").touch()
    planned = [
        [(task.file_index, task.files) for task in plan(config_of("a"), files, tmp_path / str(size), size, None)]
        for size in (MIB, 4 * MIB)
        if not (tmp_path / str(size)).mkdir()
    ]
    assert [[count for _, count in number if count > 1] for number in planned] == [[64] * 7 + [52]] * 2


def test_verdicts_are_found_by_file_and_offset(tmp_path: Path) -> None:
    verdicts = guard.Accusations(tmp_path)
    for file, offset in ((7, 0), (8, 0), (8, 12), (1000008, 12)):
        verdicts.store(file, offset, "hung", "signal 27")
    verdicts.set_apart(8)
    assert sorted(verdicts.of_files(range(7, 9))) == [(0, 0), (1, 0), (1, 12)]
    assert sorted(verdicts.of_files(range(8, 9))) == [(0, 0), (0, 12)]


def test_survivors_find_their_files(tmp_path: Path) -> None:
    run_it(settings(f"{many(tmp_path / 'in', 70)}/*", tmp_path / "out", stages=["gopher"]), keep_work=True)
    work = tmp_path / "out/.work"
    tasks = load_tasks(str(work))
    results: list[Any] = [json.loads((task.folder / "result.json").read_text()) for task in tasks]
    survivors = Survivors.of(work, tasks, results)
    names = [file.name for file in load_run(str(work)).files]
    stored = [url for column in survivors.column("url") for url in column.to_pylist()]
    assert 0 < survivors.size < 70 and len(tasks) == 2
    found = [survivors.address(number).file for number in range(survivors.size)]
    assert found == [names[int(url.split("/")[3])] for url in stored]
