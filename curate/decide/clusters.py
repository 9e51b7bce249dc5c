"""Clusters of near copies: pairs proposed by buckets, confirmed by records, joined by minimum.

A partition's confirmed pairs become links from a document to the smallest number it was joined with; the
links of all partitions become one forest; its trees are the clusters. Which of a cluster's documents are kept
is up to `curate.decide.twins`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from curate.corpus import Buckets, Corpus

I64 = npt.NDArray[np.int64]
Forest = npt.NDArray[Any]  # unsigned or signed integers: the parent of each node, never above it

WIDE = 256  # documents in a bucket up to which all pairs are proposed
PAIRS = 1 << 13  # pairs confirmed at once: 4 MiB of records of 512 bytes on either side
LINKS = 1 << 20  # links joined at once
MEMBERS = 1 << 18  # documents in a block of clusters, unless one cluster is larger
BINS = 1 << 16


class Resemblance(Protocol):
    """What a stage must know of its records so that documents can be clustered."""

    @property
    def threshold(self) -> float: ...

    def similarity(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Similarity of records, item by item, with broadcasting; symmetric, 1.0 for equal ones."""

    def bucket_keys(self, records: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """The keys of each record, shape (n, keys), as `sketch` gave them."""

    def identity(self, records: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """A hash of all that `similarity` looks at."""

    def rank(self, records: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
        """What the keep order looks at, larger first; None where the document's number alone decides."""


def roots(forest: Forest, nodes: I64) -> I64:
    """The root of each node; halves their paths on the way, so that a chain costs its logarithm."""
    while True:
        up = forest[nodes]
        upper = forest[up]
        if np.array_equal(up, upper):
            return up.astype(np.int64)
        forest[nodes] = upper


def join(forest: Forest, left: I64, right: I64) -> None:
    """Joins the trees of each pair under the smaller root: the order of pairs changes nothing."""
    while True:
        left, right = roots(forest, left), roots(forest, right)
        apart = left != right
        if not apart.any():
            return
        left, right = left[apart], right[apart]
        np.minimum.at(forest, np.maximum(left, right), np.minimum(left, right).astype(forest.dtype))


class LinkTask(NamedTuple):
    """Confirms the pairs that one partition's buckets propose."""

    corpus: Corpus
    stage: Resemblance
    partition: int


class _Confirmed:
    """The forest over the documents of one partition's buckets, grown by confirmed pairs."""

    def __init__(self, task: LinkTask, buckets: Buckets) -> None:
        self.corpus, self.stage = task.corpus, task.stage
        self.numbers, self.place = np.unique(buckets.documents, return_inverse=True)
        self.forest = np.arange(len(self.numbers), dtype=np.int64)

    def confirm(self, left: I64, right: I64) -> None:
        """Joins those pairs of places that are similar enough; pairs joined already are not looked at."""
        for begin in range(0, len(left), PAIRS):
            one, other = left[begin : begin + PAIRS], right[begin : begin + PAIRS]
            apart = roots(self.forest, one) != roots(self.forest, other)
            one, other = one[apart], other[apart]
            records = [self.corpus.records(self.numbers[side]) for side in (one, other)]
            alike = self.stage.similarity(*records) >= self.stage.threshold
            join(self.forest, one[alike], other[alike])

    def links(self) -> I64:
        """Pairs (document, root) of all documents that are not roots."""
        tree = roots(self.forest, np.arange(len(self.forest)))
        joined = tree != np.arange(len(tree))
        return np.stack([self.numbers[joined], self.numbers[tree[joined]]], axis=1)


def _confirm_neighbours(confirmed: _Confirmed, buckets: Buckets) -> None:
    """Each document with the first and with the previous one of its bucket."""
    place, starts = confirmed.place, buckets.starts
    first = np.repeat(place[starts[:-1]], buckets.sizes)
    inner = np.ones(len(place), np.bool_)
    inner[starts[:-1]] = False
    confirmed.confirm(first[inner], place[inner])
    inner[starts[:-1] + 1] = False  # there the previous one is the first
    confirmed.confirm(place[np.flatnonzero(inner) - 1], place[inner])


def _confirm_all(confirmed: _Confirmed, buckets: Buckets) -> None:
    """All pairs of the buckets of up to WIDE documents that are not one tree yet."""
    sizes = buckets.sizes
    for size in np.unique(sizes[(sizes > 2) & (sizes <= WIDE)]):
        starts = buckets.starts[:-1][sizes == size]
        left, right = np.triu_indices(size, 1)
        at_once = max(1, (1 << 18) // len(left))
        for begin in range(0, len(starts), at_once):
            places = confirmed.place[starts[begin : begin + at_once, None] + np.arange(size)]
            tree = roots(confirmed.forest, places.ravel()).reshape(places.shape)
            places = places[(tree != tree[:, :1]).any(axis=1)]
            confirmed.confirm(places[:, left].ravel(), places[:, right].ravel())


def link(task: LinkTask) -> Path:
    """The file of a partition's links (document, smaller one), after a pair (wide buckets, largest one)."""

    def write(path: Path) -> None:
        buckets = task.corpus.buckets(task.partition)
        confirmed = _Confirmed(task, buckets)
        _confirm_neighbours(confirmed, buckets)
        _confirm_all(confirmed, buckets)
        sizes = buckets.sizes
        with path.open("wb") as file:
            np.array([(sizes > WIDE).sum(), sizes.max(initial=0)], np.int64).tofile(file)
            confirmed.links().tofile(file)

    return task.corpus.saved(f"links-{task.partition:05}", write)


def _grow(corpus: Corpus, paths: list[Path]) -> Forest:
    """One forest of all partitions' links: 4 bytes a document, 8 beyond 2^32 documents."""
    forest = _bare(corpus)
    wide = largest = 0
    for path in paths:
        with path.open("rb") as file:
            some, size = np.fromfile(file, np.int64, 2).tolist()
            wide, largest = wide + some, max(largest, size)
            _join_all(forest, file)
    corpus.notes["wide_buckets"] = wide
    corpus.notes["largest_bucket"] = largest
    return forest


def _bare(corpus: Corpus) -> Forest:
    return np.arange(corpus.size, dtype=np.uint32 if corpus.size <= 1 << 32 else np.int64)


def _join_all(forest: Forest, file: BinaryIO) -> None:
    while len(links := np.fromfile(file, np.int64, 2 * LINKS).reshape(-1, 2)):
        join(forest, links[:, 0], links[:, 1])


def _members(forest: Forest) -> Iterator[I64]:
    """Pairs (root, document) of all documents that are not roots, in document order."""
    for first in range(0, len(forest), LINKS):
        numbers = np.arange(first, min(first + LINKS, len(forest)))
        root = roots(forest, numbers)
        below = root != numbers
        yield np.stack([root[below], numbers[below]], axis=1)


def blocks(corpus: Corpus, stage: Resemblance) -> list[Path]:
    """Files of pairs (root, document) in document order; each holds whole clusters, by ranges of roots."""
    tasks = [LinkTask(corpus, stage, partition) for partition in range(corpus.partitions)]
    forest = _grow(corpus, corpus.map(link, tasks))
    width = corpus.size // BINS + 1
    held = np.zeros(BINS, np.int64)
    for pairs in _members(forest):
        held += np.bincount(pairs[:, 0] // width, minlength=BINS)
    before = np.cumsum(held) - held
    _, block_of = np.unique(before // MEMBERS, return_inverse=True)  # bins that go together
    paths = [corpus.folder / f"block-{index:06}" for index in range(int(block_of[-1]) + 1)]
    for path in paths:
        path.write_bytes(b"")
    for pairs in _members(forest):
        block = block_of[pairs[:, 0] // width]
        for index in np.unique(block):
            with paths[index].open("ab") as file:
                pairs[block == index].tofile(file)
    return [path for path in paths if path.stat().st_size]
