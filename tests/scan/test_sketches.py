"""Sketches: resumed after a kill, gathered once, the same whatever the tasks and partitions."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from curate.corpus import Corpus
from curate.document import Document
from curate.errors import UserError
from curate.executors.executor import Serial
from curate.scan import sketch_writer, sketches
from curate.scan.sketch_writer import SketchWriter, sketch_all
from curate.scan.sketches import StoredSketches, gather, gather_group, partition_of
from curate.stage import Sketch, Verdicts
from tests.decided import documents, scan

ITEM = np.dtype([("number", "<i8")])


@dataclass(frozen=True, kw_only=True)
class Spread:
    """As many keys as the text says, and the text's number as the record."""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()
    record: ClassVar[np.dtype[Any] | None] = ITEM

    def sketch(self, doc: Document) -> Sketch:
        number = int(doc.text)
        return Sketch(np.arange(number % 4, dtype=np.uint64) + np.uint64(number % 10), np.array([(number,)], ITEM)[0])

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        return iter(())


class Bare(Spread):
    """Keys without records."""

    record = None

    def sketch(self, doc: Document) -> Sketch:
        return Sketch(super().sketch(doc).keys)


def held(gathered: StoredSketches) -> list[tuple[int, int]]:
    """All (key, document) pairs, in order."""
    return sorted(
        (int(key), int(document))
        for partition in range(gathered.partitions)
        for keys, numbers, _ in gathered.entries(partition)
        for key, document in zip(keys, numbers)
    )


def plain(docs: list[Document]) -> list[tuple[int, int]]:
    return sorted((int(key), n) for n, doc in enumerate(docs) for key in Spread().sketch(doc).keys)


@pytest.mark.parametrize("partitions", [1, 7, 64])
@pytest.mark.parametrize("task", [1, 9, 500])
def test_gathered_is_what_was_sketched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partitions: int, task: int
) -> None:
    monkeypatch.setattr(sketches, "GROUP_TASKS", 4)
    monkeypatch.setattr(sketches, "CHUNK_KEYS", 10)
    docs = documents(str(n * 7 % 100) for n in range(200))
    folders, counts = scan(tmp_path, [("it", Spread())], docs, task)
    gathered = gather(Serial(), tmp_path, "it", Spread(), folders, counts, partitions)
    assert held(gathered) == plain(docs) and gathered.keys == len(plain(docs))
    for partition in range(partitions):
        entries = list(gathered.entries(partition))
        for keys, numbers, _ in entries:
            assert (partition_of(keys, partitions) == partition).all() and (np.diff(numbers) >= 0).all()
    numbers = np.array([199, 0, 3, 3, 120, 57])
    assert gathered.records(numbers)["number"].tolist() == [n * 7 % 100 for n in numbers]
    blocks = list(gathered.blocks(documents=6))
    assert [n for start, rows in blocks for n in range(start, start + len(rows))] == list(range(200))
    assert np.concatenate([rows["number"] for _, rows in blocks]).tolist() == [n * 7 % 100 for n in range(200)]


def test_a_writer_goes_on_from_its_last_commit(tmp_path: Path) -> None:
    docs = documents(str(n) for n in range(40))
    stage = Spread()
    writer = SketchWriter(tmp_path, "it", stage)
    for number in range(25):
        writer.add(number, stage.sketch(docs[number]))
        if number == 14:
            lengths = writer.commit()
    writer.close()  # as a kill would, with more written than committed
    writer = SketchWriter.resume(tmp_path, "it", stage, lengths)
    with pytest.raises(ValueError, match="15 is due"):
        writer.add(16, stage.sketch(docs[16]))
    for number in range(15, 40):
        writer.add(number, stage.sketch(docs[number]))
    assert writer.commit() == {part: (tmp_path / f"it.{part}").stat().st_size for part in sketch_writer.FILES}
    writer.close()
    assert held(gather(Serial(), tmp_path, "it", stage, [tmp_path], [40], 3)) == plain(docs)


def test_a_new_writer_starts_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "it.keys").write_bytes(b"left over")
    writer = SketchWriter(tmp_path, "it", Bare())
    writer.add(0, Bare().sketch(documents(["3"])[0]))
    assert writer.commit() == {"keys": 24, "counts": 4, "records": 0}
    writer.close()


def test_a_record_of_another_size_is_a_bug(tmp_path: Path) -> None:
    writer = SketchWriter(tmp_path, "it", Spread())
    with pytest.raises(ValueError, match="record of 0 bytes"):
        writer.add(0, Sketch(np.empty(0, np.uint64)))
    writer.close()


def test_without_records(tmp_path: Path) -> None:
    docs = documents(str(n) for n in range(20))
    folders, counts = scan(tmp_path, [("it", Bare())], docs, 6)
    gathered = gather(Serial(), tmp_path, "it", Bare(), folders, counts, 2)
    assert held(gathered) == plain(docs)
    with pytest.raises(ValueError, match="no records"):
        gathered.records(np.array([0]))


def test_gather_again_does_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after the first group: the second run writes the rest only; a third run nothing."""
    monkeypatch.setattr(sketches, "GROUP_TASKS", 2)
    docs = documents(str(n) for n in range(60))
    folders, counts = scan(tmp_path, [("it", Spread())], docs, 10)
    real, written = gather_group, []

    def killed(task: sketches.GatherTask) -> int:
        if task.group == 1:
            (tmp_path / "it" / "new-00001-1").write_bytes(b"half")
            raise KeyboardInterrupt
        return real(task)

    def writing(task: sketches.GatherTask, path: Path) -> Any:
        written.append(task.group)
        return write_keys(task, path)

    write_keys = sketches._write_keys
    monkeypatch.setattr(sketches, "_write_keys", writing)
    monkeypatch.setattr(sketches, "gather_group", killed)
    with pytest.raises(KeyboardInterrupt):
        gather(Serial(), tmp_path, "it", Spread(), folders, counts, 5)
    monkeypatch.setattr(sketches, "gather_group", real)
    for _ in range(2):
        gathered = gather(Serial(), tmp_path, "it", Spread(), folders, counts, 5)
    assert written == [0, 1, 2] and held(gathered) == plain(docs)
    assert not list((tmp_path / "it").glob("new-*"))
    assert held(gather(Serial(), tmp_path, "it", Spread(), folders, counts, 2)) == plain(docs)


def test_files_that_do_not_fit_their_count_are_refused(tmp_path: Path) -> None:
    folders, _ = scan(tmp_path, [("it", Spread())], documents(["1", "2"]), 2)
    with pytest.raises(UserError, match="--fresh"):
        gather(Serial(), tmp_path, "it", Spread(), folders, [3], 1)


def test_no_tasks_and_empty_tasks(tmp_path: Path) -> None:
    none = gather(Serial(), tmp_path / "none", "it", Spread(), [], [], 3)
    assert held(none) == [] and none.starts.tolist() == [0]
    folder = tmp_path / "task"
    folder.mkdir()
    SketchWriter(folder, "it", Spread()).close()
    empty = gather(Serial(), tmp_path, "it", Spread(), [folder], [0], 3)
    assert held(empty) == [] and len(empty.records(np.empty(0, np.int64))) == 0


def test_partitions_are_even_also_for_small_keys() -> None:
    rng = random.Random(1)
    for keys in (np.arange(64_000, dtype=np.uint64), np.array([rng.getrandbits(64) for _ in range(64_000)], np.uint64)):
        sizes = np.bincount(partition_of(keys, 64), minlength=64)
        assert len(sizes) == 64 and sizes.min() > 800 and sizes.max() < 1200


def test_sketch_all_falls_back_on_one_by_one() -> None:
    docs = documents(["1", "2"])
    assert [s.keys.tolist() for s in sketch_all(Spread(), docs)] == [Spread().sketch(d).keys.tolist() for d in docs]
