"""Survivors: what many processes ask of one work folder at once."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.decide.survivors import OFFSETS, Survivors, load_survivors
from tests.engine import crawl, run_it, settings


def test_offsets_are_gathered_once_whoever_else_asks_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_it(settings(crawl(tmp_path / "in"), tmp_path / "out"), keep_work=True)
    work = tmp_path / "out" / ".work"
    (work / OFFSETS).unlink(missing_ok=True)
    stored = [pq.read_table(path, columns=["offset"]) for path in sorted(work.glob("scan/*/survivors.parquet"))]
    true = pa.concat_tables(stored).column("offset").to_pylist()
    first, second = (load_survivors(str(work)) for _ in range(2))
    first, second = (Survivors(s.work, s.tasks, s.held, s.ledger, s.measures) for s in (first, second))
    answers: list[list[int]] = []
    thread = threading.Thread(target=lambda: answers.append(second.offsets.tolist()))
    gathered = []
    column = Survivors.column

    def slow(survivors: Survivors, name: str) -> Iterator[pa.ChunkedArray]:
        gathered.append(survivors)
        for number, piece in enumerate(column(survivors, name)):
            yield piece
            if number == 0 and survivors is first:
                thread.start()
                thread.join(0.3)  # long enough to spoil what the first one is writing

    monkeypatch.setattr(Survivors, "column", slow)
    answers.append(first.offsets.tolist())
    thread.join()
    assert answers == [true, true]
    assert len(gathered) == 1
