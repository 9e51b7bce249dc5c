"""Sketches on disk: appended during the scan, gathered after it, read a partition at a time.

During the scan each task writes three flat files for each corpus stage: its keys, the number of keys of each
document, its records. `gather` turns those of 256 tasks into two: the keys sorted into partitions, and the
records in document order. Keys propose, so documents with an equal key must meet: a partition holds all
entries of its keys, whichever task they came from.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from curate.document import Document
from curate.durable import write_json
from curate.errors import UserError
from curate.executors.executor import Executor, results
from curate.stage import CorpusStage, Sketch, declared

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

GROUP_TASKS = 256
CHUNK_KEYS = 1 << 20  # keys sorted into partitions at once: about 50 MB of work
ENTRY = np.dtype([("key", "<u8"), ("document", "<u4")])  # document within its group of tasks
FILES = ("keys", "counts", "records")
COUNT = np.dtype("<u4")
KEY = np.dtype("<u8")


def sketch_all(stage: CorpusStage, docs: Sequence[Document]) -> list[Sketch]:
    """The sketches of some documents: the same bytes as one by one, faster if the stage has `sketch_all`."""
    together = declared(stage).sketch_all
    return list(together(docs)) if together else [stage.sketch(doc) for doc in docs]


class SketchWriter:
    """Appends the sketches of one task's survivors for one stage, in document order."""

    def __init__(self, folder: Path, name: str, stage: CorpusStage) -> None:
        self._open(folder, name, stage, dict.fromkeys(FILES, 0))

    def _open(self, folder: Path, name: str, stage: CorpusStage, lengths: Mapping[str, int]) -> None:
        self.name = name
        self.itemsize = 0 if stage.record is None else stage.record.itemsize
        self.documents = lengths["counts"] // COUNT.itemsize
        self._files: dict[str, BinaryIO] = {}
        for part in FILES:
            path = folder / f"{name}.{part}"
            path.touch()
            file = path.open("r+b")
            file.truncate(lengths[part])
            file.seek(lengths[part])
            self._files[part] = file

    @classmethod
    def resume(cls, folder: Path, name: str, stage: CorpusStage, lengths: Mapping[str, int]) -> "SketchWriter":
        """Goes on from a committed state; what was appended after it is cut off."""
        writer = cls.__new__(cls)
        writer._open(folder, name, stage, lengths)
        return writer

    def add(self, document: int, sketch: Sketch) -> None:
        """Appends the sketch of the task's next survivor.

        ValueError for a document out of order or a record of another size: a bug in the caller or the stage.
        """
        if document != self.documents:
            raise ValueError(f"{self.name}: sketch of document {document} where {self.documents} is due")
        record = b"" if sketch.record is None else sketch.record.tobytes()
        if len(record) != self.itemsize:
            raise ValueError(f"{self.name}: a record of {len(record)} bytes, {self.itemsize} declared")
        self._files["keys"].write(np.asarray(sketch.keys, dtype=KEY).tobytes())
        self._files["counts"].write(len(sketch.keys).to_bytes(4, "little"))
        self._files["records"].write(record)
        self.documents += 1

    def commit(self) -> dict[str, int]:
        """Flushes, and returns the lengths in bytes to resume from."""
        for file in self._files.values():
            file.flush()
        return {part: file.tell() for part, file in self._files.items()}

    def close(self) -> None:
        for file in self._files.values():
            file.close()


def partition_of(keys: U64, partitions: int) -> npt.NDArray[np.uint16]:
    """The partition of each key, even where keys are not spread evenly over 64 bits."""
    mixed = (keys ^ (keys >> np.uint64(32))) * np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(32)
    return (((mixed & np.uint64(0xFFFFFFFF)) * np.uint64(partitions)) >> np.uint64(32)).astype(np.uint16)


@dataclass(frozen=True)
class GatherTask:
    """The tasks' folders that become one group."""

    target: Path
    group: int
    name: str
    folders: tuple[Path, ...]
    counts: tuple[int, ...]
    partitions: int
    itemsize: int


def _entries(task: GatherTask) -> Iterator[tuple[U64, npt.NDArray[np.uint32]]]:
    """The group's keys with their documents, in document order, about CHUNK_KEYS at a time."""
    keys: list[U64] = []
    documents: list[npt.NDArray[np.uint32]] = []
    waiting = base = 0
    for folder, count in zip(task.folders, task.counts):
        lengths = np.fromfile(folder / f"{task.name}.counts", COUNT)
        if len(lengths) != count:
            raise UserError(f"{folder}/{task.name}.counts: not {count} documents; run with --fresh")
        ends = np.cumsum(lengths, dtype=np.int64)
        with (folder / f"{task.name}.keys").open("rb") as file:
            start = 0
            while start < count:
                read = ends[start - 1] if start else 0
                stop = max(start + 1, int(np.searchsorted(ends, read + CHUNK_KEYS, "right")))
                keys.append(np.fromfile(file, KEY, int(ends[stop - 1] - read)))
                numbers = np.arange(base + start, base + stop, dtype=np.uint32)
                documents.append(np.repeat(numbers, lengths[start:stop]))
                waiting += len(keys[-1])
                start = stop
                if waiting >= CHUNK_KEYS:
                    yield np.concatenate(keys), np.concatenate(documents)
                    keys, documents, waiting = [], [], 0
        base += count
    if waiting:
        yield np.concatenate(keys), np.concatenate(documents)


def _write_keys(task: GatherTask, path: Path) -> I64:
    """Writes the group's entries partition after partition; returns where each begins, and the end."""
    held = np.zeros(task.partitions, np.int64)
    for keys, _ in _entries(task):
        held += np.bincount(partition_of(keys, task.partitions), minlength=task.partitions)
    starts = np.concatenate([[0], np.cumsum(held)])
    cursor = starts[:-1].copy()
    with path.open("wb") as file:
        for keys, documents in _entries(task):
            partition = partition_of(keys, task.partitions)
            order = np.argsort(partition, kind="stable")
            entries = np.empty(len(keys), ENTRY)
            entries["key"], entries["document"] = keys[order], documents[order]
            end = np.cumsum(np.bincount(partition, minlength=task.partitions))
            for index in np.unique(partition):
                some = entries[end[index - 1] if index else 0 : end[index]]
                file.seek(int(cursor[index]) * ENTRY.itemsize)
                file.write(some.tobytes())
                cursor[index] += len(some)
    return starts


def _write_records(task: GatherTask, path: Path) -> None:
    with path.open("wb") as target:
        for folder, count in zip(task.folders, task.counts):
            source_path = folder / f"{task.name}.records"
            if source_path.stat().st_size != count * task.itemsize:
                raise UserError(f"{source_path}: not {count} records; run with --fresh")
            with source_path.open("rb") as source:
                while block := source.read(1 << 22):
                    target.write(block)


def gather_group(task: GatherTask) -> int:
    """Writes one group's keys and records; the index comes last, so that it says that both are whole."""
    index = task.target / f"keys-{task.group:05}-of-{task.partitions}.index"
    if index.exists():
        return int(np.fromfile(index, np.int64)[-1])
    new = task.target / f"new-{task.group:05}-{os.getpid()}"  # a lost worker may still be writing its own
    if task.itemsize:
        _write_records(task, new)
        new.replace(task.target / f"records-{task.group:05}")
    starts = _write_keys(task, new)
    new.replace(task.target / f"keys-{task.group:05}-of-{task.partitions}")
    starts.tofile(new)
    new.replace(index)
    return int(starts[-1])


def gather(
    executor: Executor,
    work: Path,
    name: str,
    stage: CorpusStage,
    folders: Sequence[Path],
    counts: Sequence[int],
    partitions: int,
) -> "Sketches":
    """Makes `work/name` out of the sketches of all tasks.

    `folders` are the tasks' folders in crawl order, `counts` their numbers of survivors. May be repeated
    after a kill: what is whole stays. Raises UserError where a file does not fit its count.
    """
    if not 1 <= partitions <= 65_536:
        raise ValueError(f"partitions must be between 1 and 65536, not {partitions}")
    target = work / name
    target.mkdir(parents=True, exist_ok=True)
    for leftover in target.glob("new-*"):
        leftover.unlink()
    itemsize = 0 if stage.record is None else stage.record.itemsize
    tasks = []
    for first in range(0, len(folders), GROUP_TASKS):
        part, held = tuple(folders[first : first + GROUP_TASKS]), tuple(counts[first : first + GROUP_TASKS])
        tasks.append(GatherTask(target, first // GROUP_TASKS, name, part, held, partitions, itemsize))
    keys = results(executor, gather_group, tasks)
    sizes = [sum(task.counts) for task in tasks]
    if any(size > 0xFFFFFFFF for size in sizes):
        raise UserError(f"{name}: over 2^32 documents in {GROUP_TASKS} tasks; use smaller slices")
    facts = {"partitions": partitions, "sizes": sizes, "keys": keys}
    write_json(target / "gathered.json", facts)
    return Sketches.open(work, name, stage)


@dataclass(frozen=True)
class Sketches:
    """The gathered sketches of one stage. Small and picklable: files are opened where they are used."""

    folder: Path
    partitions: int
    sizes: tuple[int, ...]  # documents in each group
    keys: int  # in all
    record: np.dtype[Any] | None

    @classmethod
    def open(cls, work: Path, name: str, stage: CorpusStage) -> "Sketches":
        facts = json.loads((work / name / "gathered.json").read_text())
        return cls(work / name, facts["partitions"], tuple(facts["sizes"]), sum(facts["keys"]), stage.record)

    @cached_property
    def starts(self) -> I64:
        """Number of each group's first document, and at the end the number of all documents."""
        return np.concatenate([[0], np.cumsum(np.array(self.sizes, np.int64))]).astype(np.int64)

    def _index(self, group: int, partition: int) -> tuple[Path, int, int]:
        """A group's file of keys, and where the partition begins and ends in it, in entries."""
        path = self.folder / f"keys-{group:05}-of-{self.partitions}"
        begin, end = np.fromfile(f"{path}.index", np.int64, 2, offset=partition * 8).tolist()
        return path, begin, end

    def entry_count(self, partition: int) -> int:
        """Number of keys in a partition."""
        spans = (self._index(group, partition) for group in range(len(self.sizes)))
        return sum(end - begin for _, begin, end in spans)

    def entries(self, partition: int) -> Iterator[tuple[U64, I64]]:
        """The keys of a partition and their documents, a part of a group at a time; documents ascend."""
        for group, start in enumerate(self.starts[:-1]):
            path, begin, end = self._index(group, partition)
            for first in range(begin, end, CHUNK_KEYS):
                count = min(CHUNK_KEYS, end - first)
                some = np.fromfile(path, ENTRY, count, offset=first * ENTRY.itemsize)
                yield some["key"], some["document"] + start

    @cached_property
    def _maps(self) -> list[npt.NDArray[Any]]:
        raw = np.dtype((np.void, self._record.itemsize))  # taking items of structured types is ten times slower
        paths = [self.folder / f"records-{group:05}" for group in range(len(self.sizes))]
        return [
            np.asarray(np.memmap(path, raw, "r")) if size else np.empty(0, raw) for path, size in zip(paths, self.sizes)
        ]

    @property
    def _record(self) -> np.dtype[Any]:
        if self.record is None:
            raise ValueError(f"{self.folder.name} keeps no records")
        return self.record

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_maps", "starts")}

    def records(self, documents: I64) -> npt.NDArray[Any]:
        """The records of some documents, as a new array in the order asked for."""
        maps = self._maps
        if len(maps) == 1:
            return maps[0].take(documents).view(self._record)
        found = np.empty(len(documents), maps[0].dtype)
        group_of = np.searchsorted(self.starts, documents, "right") - 1
        for group in np.unique(group_of):
            mine = np.flatnonzero(group_of == group)
            found[mine] = maps[group].take(documents[mine] - self.starts[group])
        return found.view(self._record)

    def blocks(self, documents: int = 1 << 18) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """All records in document order: the first one's number and a view of at most `documents` of them."""
        for start, rows in zip(self.starts, self._maps):
            for first in range(0, len(rows), documents):
                yield int(start) + first, rows[first : first + documents].view(self._record)
