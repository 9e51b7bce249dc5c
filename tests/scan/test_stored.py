"""One unit for people: bytes of the files as they lie, whatever the reader counts."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.scan.stored import Expected, expected, read_bytes
from curate.scan.tasks import ScanTask
from curate.sources.reader import InputFile, Slice
from tests.engine import run_it, settings, text


def task(index: int, file: int, start: int, end: int | None, limit: int | None = None) -> ScanTask:
    return ScanTask("work", index, file, Slice(start, end), limit)


FILES = [InputFile("a", "rows.parquet", 1001, ""), InputFile("a", "b.warc.gz", 500, ""), InputFile("a", "c.gz", 70, "")]


def test_shares_of_a_file_add_up_to_its_size() -> None:
    tasks = [task(0, 0, 0, 3), task(1, 0, 3, 7), task(2, 1, 0, 200), task(3, 1, 200, None), task(4, 2, 0, None)]
    shares = expected(tasks, FILES)
    assert [one.bytes for one in shares] == [429, 572, 200, 300, 70]
    assert shares[1].at(5) == 572 * 2 // 4 and shares[1].at(99) == 572 and shares[1].at(0) == 0
    assert shares[3].at(350) == 150 and Expected(0, 0, 0).at(5) == 0


def test_a_trial_run_has_read_a_share() -> None:
    tasks = [task(0, 0, 0, None, 5), task(1, 1, 0, None, 0), task(2, 2, 0, None, 3)]
    assert read_bytes(tasks, FILES, [[5], [0], [1000]], {0: 7, 1: 500, 2: None}) == 1001 * 5 // 7 + 0 + 70
    assert read_bytes([task(0, 0, 0, 7)], FILES, [[7]], {}) == 1001


def test_small_files_that_share_a_task_are_added_up() -> None:
    shared = ScanTask("work", 0, 1, Slice(), files=2)
    assert [one.bytes for one in expected([shared], FILES)] == [570] and read_bytes(
        [shared], FILES, [[500, 9]], {}
    ) == 570
    trial = ScanTask("work", 0, 0, Slice(), 20, files=3)
    assert read_bytes([trial], FILES, [[7, 100]], {0: 7, 1: 500, 2: None}) == 1101


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz"])
def test_stats_and_progress_count_the_file_as_it_lies(kind: str, tmp_path: Path) -> None:
    rows = [{"text": text(number), "url": f"http://a.example/{number}"} for number in range(300)]
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        path.write_bytes(gzip.compress(lines) if kind.endswith("gz") else lines)
    seen: list[tuple[str, Any]] = []
    report = run_it(
        settings(str(path), tmp_path / "out", stages=["exact_dedup"]),
        progress=lambda phase, figures: seen.append((phase, figures)),
        slice_bytes=4000,
    )
    assert report.stats["read"]["bytes"] == path.stat().st_size
    done = sum(figures["read"] for phase, figures in seen if phase == "scan")
    assert done == sum(one.bytes for one in dict(seen)["plan"]["tasks"]) == path.stat().st_size
