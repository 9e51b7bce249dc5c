"""The documents of a mixture as it sees them: group, tokens and hash of each, block after block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from curate.corpus import Corpus

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Table = Mapping[int, int]

CLUSTER = "cluster_size"
REHYDRATION: dict[str, dict[int, int]] = {
    "fineweb2": {1: 1, 2: 2, 3: 3, 5: 5, 100: 8, 1000: 1},  # data card of FineWeb-2 (Penedo et al. 2025)
    "txt360": {1: 1, 2: 3, 5: 5, 101: 8, 1001: 10},  # data card of TxT360 (LLM360 2024)
}
"""Copies by the size of the cluster that a kept document stands for: from each size on, up to the next."""
Rehydrate = Literal["fineweb2", "txt360"] | Mapping[int, int]


class PoolBlock(NamedTuple):
    """Some documents from number `start` on. `tokens` count a document as often as its cluster is worth, `times`."""

    start: int
    living: Mask
    group: I64
    tokens: I64
    hash: U64
    times: I64


@dataclass(frozen=True)
class Pool:
    """The living documents in groups; a group that has no name is the last one."""

    corpus: Corpus
    names: tuple[str, ...]
    found: Path | None = None  # an int32 for each document, where the groups were not known before
    rehydrate: Table | None = None
    totals: tuple[I64, I64] = field(init=False)  # documents and tokens of each group

    def __post_init__(self) -> None:
        documents, tokens = (np.zeros(len(self.names) + 1, np.int64) for _ in range(2))
        for block in self.blocks():
            group = block.group[block.living]
            documents += np.bincount(group, minlength=len(documents))
            np.add.at(tokens, group, block.tokens[block.living])
        object.__setattr__(self, "totals", (documents, tokens))

    def blocks(self) -> Iterator[PoolBlock]:
        """All documents in order."""
        for start, records, living in self.corpus.blocks():
            stop = start + len(records)
            times = self._times(start, stop)
            if self.found is None:
                group = records["group"].astype(np.int64)
            else:
                group = np.fromfile(self.found, np.int32, stop - start, offset=4 * start).astype(np.int64)
            yield PoolBlock(start, living, group, records["tokens"] * times, records["hash"], times)

    def _times(self, start: int, stop: int) -> I64:
        if self.rehydrate is None:
            return np.ones(stop - start, np.int64)
        return copies_of(self.corpus.column(CLUSTER, start, stop), self.rehydrate)


def copies_of(sizes: npt.NDArray[Any], table: Table) -> I64:
    """How often a document counts that stands for a cluster of so many."""
    steps = sorted(table)
    copies = np.array([1, *(table[step] for step in steps)], np.int64)
    found: I64 = copies[np.searchsorted(steps, sizes, "right")]
    return found


def grouped(corpus: Corpus, by: str, name: Callable[[Any], str]) -> tuple[tuple[str, ...], Path]:
    """The groups that living documents are in, in order of their names, and a file that says which each is in."""
    names: set[str] = set()
    for start, values in _values(corpus, by, name):
        living = corpus.living(start, start + len(values))
        names |= {value for value, lives in zip(values, living) if lives}
    ordered = tuple(sorted(names))
    place = {value: index for index, value in enumerate(ordered)}

    def write(path: Path) -> None:
        with path.open("wb") as file:
            for _, values in _values(corpus, by, name):
                np.array([place.get(value, len(ordered)) for value in values], np.int32).tofile(file)

    return ordered, corpus.saved("groups", write)


def _values(corpus: Corpus, by: str, name: Callable[[Any], str]) -> Iterator[tuple[int, Sequence[str]]]:
    start = 0
    for chunk in corpus.attribute(by):
        values = chunk.to_pylist() if hasattr(chunk, "to_pylist") else list(chunk)
        yield start, [name(value) for value in values]
        start += len(values)
