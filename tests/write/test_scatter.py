"""Shards whose rows lie all over the crawl: one pass over the texts, and the same rows as without it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.decide.survivors import Survivors
from curate.write import scatter
from tests.engine import crawl, run_it, settings, tree_hash


def shuffled(folder: Path, source: str, **write: Any) -> Path:
    """A run with many small shards in another order than the crawl's."""
    output = folder / "out"
    run_it(settings(source, output, stages=["exact_dedup"], write={"shard_bytes": 3000, **write}))
    return output


@pytest.mark.parametrize(
    "write", [{"order": "shuffle"}, {"by": "source"}, {"order": "shuffle", "by": "source"}], ids=str
)
def test_each_text_is_read_once(write: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[int] = Counter()
    honest = Survivors.batches

    def counted(self: Survivors, index: int, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
        for start, table in honest(self, index, columns):
            if "text" in columns:
                read.update(range(start, start + table.num_rows))
            yield start, table

    monkeypatch.setattr(Survivors, "batches", counted)
    output = shuffled(tmp_path, crawl(tmp_path / "crawl"), **write)
    assert len(list(output.glob("shards/**/*.parquet"))) > 5
    assert read and set(read.values()) == {1}


def test_small_chunks_and_stretches_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = crawl(tmp_path / "crawl")
    honest = tree_hash(shuffled(tmp_path / "a", source, order="shuffle"))
    monkeypatch.setattr(scatter, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(scatter, "STRETCH", 20)
    assert tree_hash(shuffled(tmp_path / "b", source, order="shuffle")) == honest


def test_rows_are_those_of_the_unshuffled_run(tmp_path: Path) -> None:
    source = crawl(tmp_path / "crawl")
    plain, mixed = shuffled(tmp_path / "a", source), shuffled(tmp_path / "b", source, order="shuffle")
    texts = [pq.read_table(output / "shards").column("text").to_pylist() for output in (plain, mixed)]
    assert texts[0] != texts[1] and sorted(texts[0]) == sorted(texts[1])


def test_stretches_hold_every_task_once() -> None:
    counts = [scatter.STRETCH - 1, 2, 0, scatter.STRETCH * 3, 0, 5]
    assert list(scatter._stretches(counts)) == [(0, 1), (2, 3), (4, 5)]
    assert list(scatter._stretches([0, 0])) == [(0, 1)]
    assert list(scatter._stretches([])) == []


def test_a_run_that_keeps_nothing_is_shuffled_too(tmp_path: Path) -> None:
    stages = [{"where": {"keep": "words > 100000"}}]
    report = run_it(settings(crawl(tmp_path / "in"), tmp_path / "out", stages=stages, write={"order": "shuffle"}))
    assert report.stats["kept"]["documents"] == 0 and not list((tmp_path / "out" / "shards").iterdir())
