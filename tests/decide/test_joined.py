"""A run against earlier ones gives what one run over all gives, for the documents that are its own."""

import json
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.tools.verify import verify
from tests.engine import run_it, settings, text, tree_hash, write_jsonl
from tests.report.finished import call

STAGES: list[Any] = [{"url_dedup": {"keep": "first"}}, "exact_dedup", {"near_dedup": {"threshold": 0.6}}]
FILES = 4


def changed(line: str, dice: Random, words: int) -> str:
    some = line.split()
    for place in dice.sample(range(len(some)), words):
        some[place] = f"other{dice.randrange(1000)}"
    return " ".join(some)


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files of one crawl: exact copies, chains of near copies, URLs that come again, within files and across."""
    folder, dice = tmp_path_factory.mktemp("crawls"), Random(7)
    made: list[str] = []
    for file in range(FILES):
        lines = []
        for number in range(60):
            kind = dice.random()
            if made and kind < 0.2:
                lines.append(dice.choice(made))
            elif made and kind < 0.6:
                lines.append(changed(dice.choice(made), dice, dice.choice([1, 2, 3, 5])))
            else:
                lines.append(text(file * 1000 + number, words=90))
            made.append(lines[-1])
        path = write_jsonl(folder / f"{file}.jsonl", lines)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            row["url"] = f"http://site.example/{dice.randrange(150)}"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def run(crawls: Path, out: Path, files: list[int], stages: list[Any] | None = None, **more: Any) -> Path:
    paths = {"path": [str(crawls / f"{file}.jsonl") for file in files], "url": "url"}
    options = {name: more.pop(name) for name in ("slice_bytes", "partitions") if name in more}
    config = settings({"crawl": paths}, out, stages=stages or STAGES, **{"write": {"index": True}, **more})
    run_it(config, **options)
    return out


def rows(out: Path, kind: str, files: list[int]) -> list[dict[str, Any]]:
    """The rows of some files' documents, without what counts all documents."""
    wanted = {f"{file}.jsonl" for file in files}

    def found() -> Iterator[dict[str, Any]]:
        for path in sorted((out / kind).rglob("*.parquet")):
            yield from pq.read_table(path).to_pylist()

    return [row for row in found() if Path(row["file_path"]).name in wanted]


@pytest.mark.parametrize(("before", "after"), [([[0, 1]], [2, 3]), ([[0], [1, 2]], [3]), ([[0], [1]], [2, 3])])
def test_the_same_as_one_run_over_all(before: list[list[int]], after: list[int], crawls: Path, tmp_path: Path) -> None:
    whole = run(crawls, tmp_path / "whole", [*chain.from_iterable(before), *after])
    olds: list[str] = []
    for number, files in enumerate(before):
        olds.append(str(run(crawls, tmp_path / f"old-{number}", files, against=list(olds))))
    new = run(crawls, tmp_path / "new", after, against=olds)
    for kind in ("shards", "ledger"):
        expected = rows(whole, kind, after)
        assert rows(new, kind, after) == expected and expected
    earlier = {f"{file}.jsonl" for files in before for file in files}
    twins = [row for row in rows(new, "ledger", after) if Path(row["matched_file"]).name in earlier]
    assert {row["stage"] for row in twins} == {"url_dedup", "exact_dedup", "near_dedup"}
    kept = [row for out in (*map(Path, olds), new) for row in rows(out, "shards", list(range(FILES)))]
    assert sorted(row["id"] for row in kept) == sorted(row["id"] for row in rows(whole, "shards", list(range(FILES))))


def test_the_index_and_the_run_follow_neither_slices_nor_partitions(crawls: Path, tmp_path: Path) -> None:
    hashes = set()
    for name, more in (("one", {}), ("other", {"slice_bytes": 4096, "partitions": 7})):
        old = run(crawls, tmp_path / name / "old", [0, 1], **more)
        shutil.rmtree(tmp_path / "old", ignore_errors=True)
        shutil.copytree(old, tmp_path / "old")
        new = run(crawls, tmp_path / name / "new", [2, 3], against=[str(tmp_path / "old")], **more)
        hashes.add((tree_hash(old), tree_hash(new)))
    assert len(hashes) == 1


def test_parts_of_the_index_are_joined_whole(crawls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = run(crawls, tmp_path / "one", [0, 1])
    new = run(crawls, tmp_path / "new", [2], against=[str(one)])
    monkeypatch.setattr("curate.decide.index.DOCUMENTS", 7)
    many = run(crawls, tmp_path / "many", [0, 1])
    assert len(list((many / "index").glob("part-*"))) > 10
    other = run(crawls, tmp_path / "other", [2], against=[str(many)])
    for kind in ("shards", "ledger"):
        assert rows(new, kind, [2]) == rows(other, kind, [2])


def test_the_bytes_of_a_document_are_those_that_the_docs_state(crawls: Path, tmp_path: Path) -> None:
    out = run(crawls, tmp_path / "out", [0, 1])
    index = json.loads((out / "index/index.json").read_text())
    documents = sum(index["documents"])
    size = {
        kind: sum(file["bytes"] for file in index["files"] if kind in file["name"])
        for kind in ("url_dedup", "exact_dedup", "near_dedup", "offsets")
    }
    assert size == {
        kind: documents * each
        for kind, each in {"url_dedup": 36, "exact_dedup": 32, "near_dedup": 716, "offsets": 8}.items()
    }


def test_verify_finds_a_changed_index(crawls: Path, tmp_path: Path) -> None:
    out = run(crawls, tmp_path / "out", [0])
    assert not list(verify(OpenedRun.of(str(out))))
    path = out / "index/part-00000/near_dedup.records"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    fault = "index/part-00000/near_dedup.records: its SHA-256 is not the manifest's"
    assert list(verify(OpenedRun.of(str(out)))) == [fault]


def test_why_tells_of_a_twin_in_an_earlier_run(crawls: Path, tmp_path: Path) -> None:
    old = run(crawls, tmp_path / "old", [0])
    new = run(crawls, tmp_path / "new", [1, 2], against=[str(old)])
    row = next(row for row in rows(new, "ledger", [1, 2]) if row["matched_file"].endswith("0.jsonl"))
    assert "of an earlier run" in call("why", new, f"{row['file_path']}:{row['offset']}").output


NEAR = {"near_dedup": {"threshold": 0.6}}


@pytest.mark.parametrize(
    ("stages", "fault"),
    [
        (["url_dedup"], "url_dedup: keep: newest would drop pages of the earlier runs"),
        ([{"near_dedup": {"threshold": 0.6, "keep": "longest"}}], "near_dedup: other than keep: first"),
        ([{"near_dedup": {"threshold": 0.6, "cluster": "component"}}], "near_dedup: other than keep: first"),
        ([{"near_dedup": {"threshold": 0.7}}], "its sketches of near_dedup are of another option 'threshold'"),
        (["tokens"], "no stage of this config can look at earlier runs"),
        ([{"mixture": {"weights": {"crawl": 1}, "tokens": 10}}, "exact_dedup"], "exact_dedup stands after mixture"),
        (["line_dedup", "exact_dedup"], "exact_dedup stands after line_dedup"),
    ],
)
def test_what_could_not_be_the_same_is_refused(stages: list[Any], fault: str, crawls: Path, tmp_path: Path) -> None:
    old = run(crawls, tmp_path / "old", [0])
    if "mixture" in str(stages):
        stages = ["tokens", *stages]
    with pytest.raises(UserError, match=fault):
        run(crawls, tmp_path / "new", [1], stages=stages, against=[str(old)])
    assert not (tmp_path / "new").exists()


def test_an_earlier_run_without_what_is_needed_is_refused(crawls: Path, tmp_path: Path) -> None:
    bare = run(crawls, tmp_path / "bare", [0], write={})
    with pytest.raises(UserError, match="keeps no index of its documents; run it again with write"):
        run(crawls, tmp_path / "new", [1], against=[str(bare)])
    old = run(crawls, tmp_path / "old", [0], stages=["exact_dedup"])
    with pytest.raises(UserError, match="has no sketches of url_dedup"):
        run(crawls, tmp_path / "new", [1], against=[str(old)])
    with pytest.raises(UserError, match="no finished run here"):
        run(crawls, tmp_path / "new", [1], against=[str(tmp_path)])
    index = old / "index/index.json"
    content = json.loads(index.read_text())
    content["stages"]["exact_dedup"]["scheme"] += 1
    index.write_text(json.dumps(content))
    with pytest.raises(UserError, match="its sketches of exact_dedup are of another scheme"):
        run(crawls, tmp_path / "new", [1], stages=["exact_dedup"], against=[str(old)])


def test_another_index_is_another_run(crawls: Path, tmp_path: Path) -> None:
    old = run(crawls, tmp_path / "old", [0])
    new = run(crawls, tmp_path / "new", [2], against=[str(old)])
    shutil.rmtree(old)
    run(crawls, tmp_path / "old", [1])
    with pytest.raises(UserError, match=r"the file .*index\.json has changed"):
        run(crawls, new, [2], against=[str(old)])
