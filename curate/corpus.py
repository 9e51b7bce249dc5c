"""What a corpus stage sees when it decides: buckets, records and attributes of the living documents."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from curate.executors.executor import Executor, results

T = TypeVar("T")
R = TypeVar("R")
I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Sketches(Protocol):
    """What the scan kept of all documents for one corpus stage (`curate.scan.sketches` stores it)."""

    @property
    def partitions(self) -> int: ...

    def entry_count(self, partition: int) -> int: ...

    def entries(self, partition: int) -> Iterator[tuple[npt.NDArray[np.uint64], I64, npt.NDArray[np.uint64]]]: ...

    def records(self, documents: I64) -> npt.NDArray[Any]: ...

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]: ...


class Buckets(NamedTuple):
    """The buckets of one partition that hold two or more living documents.

    Bucket i is documents[starts[i] : starts[i + 1]], ascending and without repeats. Buckets lie in the
    order of their keys.
    """

    documents: I64
    starts: I64  # one more than there are buckets

    @property
    def sizes(self) -> I64:
        return np.diff(self.starts)


class Entries(NamedTuple):
    """Keys, the documents that brought them and what they carry; in the order of documents and of their sketches."""

    keys: npt.NDArray[np.uint64]
    documents: I64
    carried: npt.NDArray[np.uint64]


def buckets_of(keys: npt.NDArray[np.uint64], documents: npt.NDArray[Any]) -> Buckets:
    """Groups documents by equal keys and leaves out what stands alone."""
    order = np.argsort(keys)
    keys = keys[order]
    shared = np.zeros(len(keys) + 1, np.bool_)
    np.equal(keys[1:], keys[:-1], out=shared[1:-1])
    shared = shared[1:] | shared[:-1]
    keys, order = keys[shared], order[shared]
    documents = documents[order].astype(np.int64)
    order = np.lexsort((documents, keys))
    keys, documents = keys[order], documents[order]
    fresh = np.ones(len(keys), np.bool_)  # a document may bring one key twice
    fresh[1:] = (keys[1:] != keys[:-1]) | (documents[1:] != documents[:-1])
    keys, documents = keys[fresh], documents[fresh]
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    starts = np.append(np.flatnonzero(first), len(keys)).astype(np.int64)
    alone = np.diff(starts) == 1
    if alone.any():
        keep = np.ones(len(keys), np.bool_)
        keep[starts[:-1][alone]] = False
        return Buckets(documents[keep], np.append(0, np.cumsum(np.diff(starts)[~alone])).astype(np.int64))
    return Buckets(documents, starts)


@dataclass(frozen=True)
class Corpus:
    """The living documents for one corpus stage: those that no earlier stage dropped.

    Verdicts of the stage itself do not change what it sees. Sent to a worker, it leaves executor and
    attributes behind and keeps the rest.
    """

    sketches: Sketches
    size: int
    living_path: Path  # the verdict table's column `stage`
    index: int  # of this stage
    folder: Path  # scratch for this stage
    executor: Executor | None = None
    source: Callable[[str], Iterator[Any]] | None = None
    notes: dict[str, int] = field(default_factory=dict)  # integers for the report
    columns: Mapping[str, np.dtype[Any]] = field(default_factory=dict)  # what corpus stages set

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "executor": None, "source": None, "notes": {}}

    @property
    def partitions(self) -> int:
        return self.sketches.partitions

    def living(self, start: int = 0, stop: int | None = None) -> Mask:
        """Whether each of the documents start … stop - 1 is living."""
        stop = self.size if stop is None else min(stop, self.size)
        if start >= stop:
            return np.empty(0, np.bool_)
        stage = np.fromfile(self.living_path, np.uint8, stop - start, offset=start)
        return self._is_living(stage)

    def _is_living(self, stage: npt.NDArray[np.uint8]) -> Mask:
        living: Mask = (stage == 0) | (stage == self.index + 1)
        return living

    def column(self, name: str, start: int, stop: int) -> npt.NDArray[Any]:
        """What an earlier corpus stage set for the documents start … stop - 1. KeyError where none sets it."""
        kind = self.columns[name]
        path = self.living_path.with_name(f"{name}.column")
        return np.fromfile(path, kind, max(0, stop - start), offset=start * kind.itemsize)

    def buckets(self, partition: int) -> Buckets:
        """The buckets of one partition. Peak of memory: about 33 bytes a key, below 2^32 documents."""
        stage = np.memmap(self.living_path, np.uint8, "r") if self.size else np.empty(0, np.uint8)
        total = self.sketches.entry_count(partition)
        keys = np.empty(total, np.uint64)
        documents = np.empty(total, np.uint32 if self.size <= 1 << 32 else np.int64)
        held = 0
        for some, holders, _ in self.sketches.entries(partition):
            alive = self._is_living(stage[holders])
            end = held + int(alive.sum())
            keys[held:end], documents[held:end] = some[alive], holders[alive]
            held = end
        return buckets_of(keys[:held], documents[:held])

    def entries(self, partition: int) -> Entries:
        """All keys of one partition that living documents brought. Peak of memory: about 60 bytes a key."""
        stage = np.memmap(self.living_path, np.uint8, "r") if self.size else np.empty(0, np.uint8)
        none = np.empty(0, np.uint64)
        found = [Entries(none, none.astype(np.int64), none)]
        for keys, documents, carried in self.sketches.entries(partition):
            alive = self._is_living(stage[documents])
            found.append(Entries(keys[alive], documents[alive], carried[alive] if len(carried) else carried))
        return Entries(*(np.concatenate(parts) for parts in zip(*found)))

    def records(self, documents: I64) -> npt.NDArray[Any]:
        """The records of some documents, in the order asked for."""
        return self.sketches.records(documents)

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any], Mask]]:
        """All records in document order: the first one's number, a view of a block, and which are living."""
        for first, records in self.sketches.blocks():
            yield first, records, self.living(first, first + len(records))

    def attribute(self, name: str) -> Iterator[Any]:
        """An attribute of all survivors in document order, chunk by chunk; nothing inside a task."""
        return iter(()) if self.source is None else self.source(name)

    def saved(self, name: str, write: Callable[[Path], None]) -> Path:
        """The scratch file `name`, written unless it was whole before a run was killed."""
        path = self.folder / name
        if not path.exists():
            new = self.folder / f"new-{name}-{os.getpid()}"
            write(new)
            new.replace(path)
        return path

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Runs a module-level function on small picklable tasks; results in task order."""
        if self.executor is None:
            raise ValueError("a task can't start tasks")
        return results(self.executor, function, tasks)
