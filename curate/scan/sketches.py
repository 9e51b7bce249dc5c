"""Sketches on disk: appended during the scan, gathered after it, read a partition at a time.

During the scan each task writes three flat files for each corpus stage: its keys, the number of keys of each
document, its records. `gather` turns those of 256 tasks into two: the keys sorted into partitions, and the
records in document order. Keys propose, so documents with an equal key must meet: a partition holds all
entries of its keys, whichever task they came from.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from curate.durable import write_json
from curate.errors import UserError
from curate.executors.executor import Executor, results
from curate.scan.sketch_writer import CARRIED, COUNT, KEY
from curate.stage import CorpusStage, declared

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

GROUP_TASKS = 256
CHUNK_KEYS = 1 << 20  # keys sorted into partitions at once: about 50 MB of work
ENTRY = np.dtype([("key", "<u8"), ("document", "<u4")])  # document within its group of tasks


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
    carries: bool = False


def entry(carries: bool) -> np.dtype[Any]:
    """The type of the gathered entries; `document` counts within the group of tasks."""
    return np.dtype([*ENTRY.descr, (CARRIED, "<u8")]) if carries else ENTRY


def _entries(task: GatherTask) -> Iterator[npt.NDArray[Any]]:
    """The group's keys with their documents and what they carry, in document order, about CHUNK_KEYS at a time."""
    found: list[npt.NDArray[Any]] = []
    waiting = base = 0
    for folder, count in zip(task.folders, task.counts):
        lengths = np.fromfile(folder / f"{task.name}.counts", COUNT)
        if len(lengths) != count:
            raise UserError(f"{folder}/{task.name}.counts: not {count} documents; run with --fresh")
        ends = np.cumsum(lengths, dtype=np.int64)
        with ExitStack() as opened:
            names = ("keys", CARRIED) if task.carries else ("keys",)
            files = [opened.enter_context((folder / f"{task.name}.{name}").open("rb")) for name in names]
            start = 0
            while start < count:
                read = ends[start - 1] if start else 0
                stop = max(start + 1, int(np.searchsorted(ends, read + CHUNK_KEYS, "right")))
                entries = np.empty(int(ends[stop - 1] - read), entry(task.carries))
                for name, file in zip(("key", CARRIED), files):
                    entries[name] = np.fromfile(file, KEY, len(entries))
                entries["document"] = np.repeat(np.arange(base + start, base + stop), lengths[start:stop])
                found.append(entries)
                waiting += len(entries)
                start = stop
                if waiting >= CHUNK_KEYS:
                    yield np.concatenate(found)
                    found, waiting = [], 0
        base += count
    if waiting:
        yield np.concatenate(found)


def _write_keys(task: GatherTask, path: Path) -> I64:
    """Writes the group's entries partition after partition; returns where each begins, and the end."""
    held = np.zeros(task.partitions, np.int64)
    for entries in _entries(task):
        held += np.bincount(partition_of(entries["key"], task.partitions), minlength=task.partitions)
    starts = np.concatenate([[0], np.cumsum(held)])
    cursor = starts[:-1].copy()
    with path.open("wb") as file:
        for entries in _entries(task):
            partition = partition_of(entries["key"], task.partitions)
            entries = entries[np.argsort(partition, kind="stable")]
            end = np.cumsum(np.bincount(partition, minlength=task.partitions))
            for index in np.unique(partition):
                some = entries[end[index - 1] if index else 0 : end[index]]
                file.seek(int(cursor[index]) * entries.itemsize)
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
) -> "StoredSketches":
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
    carries = declared(stage).carries
    tasks = []
    for first in range(0, len(folders), GROUP_TASKS):
        part, held = tuple(folders[first : first + GROUP_TASKS]), tuple(counts[first : first + GROUP_TASKS])
        tasks.append(GatherTask(target, first // GROUP_TASKS, name, part, held, partitions, itemsize, carries))
    keys = results(executor, gather_group, tasks)
    sizes = [sum(task.counts) for task in tasks]
    if any(size > 0xFFFFFFFF for size in sizes):
        raise UserError(f"{name}: over 2^32 documents in {GROUP_TASKS} tasks; use smaller slices")
    facts = {"partitions": partitions, "sizes": sizes, "keys": keys}
    write_json(target / "gathered.json", facts)
    return StoredSketches.open(work, name, stage)


@dataclass(frozen=True)
class StoredSketches:
    """The gathered sketches of one stage. Small and picklable: files are opened where they are used."""

    folder: Path
    partitions: int
    sizes: tuple[int, ...]  # documents in each group
    keys: int  # in all
    record: np.dtype[Any] | None
    carries: bool = False

    @classmethod
    def open(cls, work: Path, name: str, stage: CorpusStage) -> "StoredSketches":
        facts = json.loads((work / name / "gathered.json").read_text())
        held, carries = sum(facts["keys"]), declared(stage).carries
        return cls(work / name, facts["partitions"], tuple(facts["sizes"]), held, stage.record, carries)

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

    def entries(self, partition: int) -> Iterator[tuple[U64, I64, U64]]:
        """The keys of a partition, their documents and what they carry (else nothing), a part of a group at a time;
        documents ascend."""
        kind = entry(self.carries)
        for group, start in enumerate(self.starts[:-1]):
            path, begin, end = self._index(group, partition)
            for first in range(begin, end, CHUNK_KEYS):
                count = min(CHUNK_KEYS, end - first)
                some = np.fromfile(path, kind, count, offset=first * kind.itemsize)
                carried = some[CARRIED] if self.carries else np.empty(0, np.uint64)
                yield some["key"], some["document"] + start, carried

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
