"""The README's first run, page by page: every verdict is the one that the sample crawl's truth states."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset as ds
import pytest

from sample_crawl.prose import normalized

ROOT = Path(__file__).parents[1]
Row = dict[str, Any]


class Run(NamedTuple):
    """What a run over the sample crawl left behind."""

    kept: dict[str, Row]  # by record id
    dropped: dict[tuple[str, int], Row]  # by file name and offset


def rows(folder: Path) -> list[Row]:
    found: list[Row] = ds.dataset(sorted(map(str, folder.rglob("*.parquet")))).to_table().to_pylist()
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("sample")
    (folder / "sample_crawl").symlink_to(ROOT / "sample_crawl")
    command = [str(Path(sys.executable).parent / "curate"), "run", str(ROOT / "configs" / "sample.yaml")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    kept = {row["id"]: row for row in rows(folder / "out" / "shards")}
    ledger = rows(folder / "out" / "ledger")
    dropped = {(Path(row["file_path"]).name, row["offset"]): row for row in ledger}
    assert len(dropped) == len(ledger)
    return Run(kept, dropped)


@pytest.fixture(scope="module")
def pages() -> list[Row]:
    lines = (ROOT / "sample_crawl" / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["expect"]]


def verdict(row: Row, run: Run) -> str:
    if row["record_id"] in run.kept:
        return "kept"
    entry = run.dropped[row["file"], row["offset"]]
    return f"{entry['stage']}.{entry['reason']}"


def test_every_page_gets_the_verdict_of_the_truth(run: Run, pages: list[Row]) -> None:
    got = {(row["kind"], row["url"]): verdict(row, run) for row in pages}
    assert got == {(row["kind"], row["url"]): row["expect"] for row in pages}


def test_every_page_ends_as_one_row(run: Run, pages: list[Row]) -> None:
    assert len(run.kept) + len(run.dropped) == len(pages)


def test_kept_texts_are_the_texts_of_the_pages(run: Run, pages: list[Row]) -> None:
    for row in pages:
        if row["expect"] == "kept":
            text = run.kept[row["record_id"]]["text"]
            assert hashlib.sha1(normalized(text).encode()).hexdigest() == row["text_sha1"], row["url"]
            assert row.get("needle", "") in text, row["kind"]


def test_copies_name_their_twin_and_how_alike_they_are(run: Run, pages: list[Row]) -> None:
    place = {row["record_id"]: (row["file"], row["offset"]) for row in pages}
    copies = [row for row in pages if "dedup" in row["expect"]]
    assert len(copies) > 20
    for row in copies:
        entry = run.dropped[row["file"], row["offset"]]
        assert (Path(entry["matched_file"]).name, entry["matched_offset"]) == place[row["of"]]
        assert entry["score"] == pytest.approx(row["jaccard"], abs=0.09)  # 2.5 deviations of 128 hashes at 0.85


def test_the_seven_pages_leave_two(run: Run, pages: list[Row]) -> None:
    seven = [row for row in pages if row["kind"].startswith("seven_")]
    assert [row["kind"] for row in seven if row["record_id"] in run.kept] == ["seven_0", "seven_6"]
