"""Which documents of a cluster are kept, and the kept twin of each that is not.

A cluster's documents are taken in keep order. One is dropped only when it is `threshold` like a document that
is kept, so a chain of small edits does not swallow texts that are unlike each other. It is compared with

* the first FIRST documents kept in its cluster, and
* of the documents kept in each of its buckets the first IN_BUCKET and the latest.

Why so few: a cluster of n pages has n² pairs, and clusters of a million exist (error pages, empty shops). The first
kept ones are what most members of a large cluster resemble; those of its own buckets are what the sketches say may be
near; the latest of a bucket follows a template that drifts with the crawl.

Its twin is the most similar of these, the earliest in keep order among equals. Documents of equal records are
judged as one: the first decides, the others are its copies. A cluster of more than JUDGED_AT_ONCE different records is
judged in blocks of so many, which know of each other only the first FIRST kept.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from curate.corpus import Corpus
from curate.decide.clusters import Resemblance, blocks
from curate.stage import Alarm, Verdicts

I64 = npt.NDArray[np.int64]

FIRST = 64  # so a cluster of 65 or less, nearly each one, is compared in full
IN_BUCKET = 256  # comparisons a document and bucket at most: work grows with n and no longer with n²
GIANT = 1_000  # documents; a round number by judgement: a cluster so large is more often a template than a text
JUDGED_AT_ONCE = 1 << 20  # records: with keys, buckets and counts under 1 GiB
READ = 1 << 15  # records read at once
MATRIX = 1 << 17  # similarities of small clusters computed at once

VERDICT = np.dtype([("document", "<i8"), ("twin", "<i8"), ("score", "<f4")])


class Capped(NamedTuple):
    """Where a bound made the answer coarser."""

    documents: int = 0  # compared with a part of a bucket's kept documents
    clusters: int = 0  # judged in blocks


def keep_order(stage: Resemblance, corpus: Corpus, members: I64) -> I64:
    """Ascending members in keep order: larger rank first; ties and NaN go to the smaller number."""
    ranks = []
    for begin in range(0, len(members), READ):
        rank = stage.rank(corpus.records(members[begin : begin + READ]))
        if rank is None:
            return members
        ranks.append(rank)
    return members[np.argsort(-np.concatenate(ranks), kind="stable")]  # NaN sorts last


def judge_small(stage: Resemblance, threshold: float, corpus: Corpus, clusters: I64) -> npt.NDArray[Any]:
    """Verdicts on clusters of one size, shape (n, size) of ascending numbers, size at most FIRST + 1."""
    count, size = clusters.shape
    records = corpus.records(clusters.ravel()).reshape(clusters.shape)
    rank = stage.rank(records)
    if rank is not None:
        order = np.argsort(-rank, axis=1, kind="stable")
        clusters = np.take_along_axis(clusters, order, 1)
        records = np.take_along_axis(records, order, 1)
    alike = stage.similarity(records[:, :, None], records[:, None, :])  # all pairs: cheaper at once than chosen ones
    kept = np.zeros((count, size), np.bool_)
    kept[:, 0] = True
    verdicts = np.empty((count, size), VERDICT)
    verdicts["document"] = clusters
    row = np.arange(count)
    for place in range(1, size):
        scores = np.where(kept[:, :place], alike[:, place, :place], -1.0)
        best = np.argmax(scores, axis=1)
        verdicts["twin"][:, place] = clusters[row, best]
        verdicts["score"][:, place] = scores[row, best]
        kept[:, place] = scores[row, best] < threshold
    return verdicts[~kept]


class _KeptSoFar:
    """The documents of a block kept so far, by bucket. Buckets that one document has alone are left out."""

    def __init__(self, keys: npt.NDArray[np.uint64]) -> None:
        self.bucket = np.full(keys.shape, -1, np.int32)  # of each document and band
        sizes: list[I64] = []
        buckets = 0
        for band in range(keys.shape[1]):
            _, bucket, size = np.unique(keys[:, band], return_inverse=True, return_counts=True)
            shared = size > 1
            self.bucket[:, band] = np.where(shared, buckets + np.cumsum(shared) - 1, -1)[bucket]
            sizes.append(size[shared])
            buckets += len(sizes[-1])
        self.counts = np.zeros(buckets, np.int32)
        ends = np.cumsum(np.concatenate(sizes))
        self.starts = np.append(0, ends)
        self.places = np.empty(self.starts[-1], np.int32)

    def candidates(self, place: int) -> tuple[list[npt.NDArray[np.int32]], bool]:
        """Kept places in the document's buckets, and whether some were left out."""
        found, capped = [], False
        for bucket in self.bucket[place].tolist():
            if bucket >= 0 and (count := int(self.counts[bucket])):
                start = int(self.starts[bucket])
                found.append(self.places[start : start + min(count, IN_BUCKET)])
                if count > IN_BUCKET:
                    found.append(self.places[start + count - 1 : start + count])
                    capped = True
        return found, capped

    def add(self, place: int) -> None:
        buckets = self.bucket[place]
        buckets = buckets[buckets >= 0]
        self.places[self.starts[buckets] + self.counts[buckets]] = place
        self.counts[buckets] += 1


def _keys(stage: Resemblance, corpus: Corpus, members: I64) -> npt.NDArray[np.uint64]:
    parts = (members[begin : begin + READ] for begin in range(0, len(members), READ))
    return np.concatenate([stage.bucket_keys(corpus.records(part)) for part in parts])


def _copies(stage: Resemblance, corpus: Corpus, members: I64) -> I64:
    """For each member, given in keep order, the place of the first with an equal record (perhaps its own)."""
    parts = (members[begin : begin + READ] for begin in range(0, len(members), READ))
    identity = np.concatenate([stage.identity(corpus.records(part)) for part in parts])
    _, first, inverse = np.unique(identity, return_index=True, return_inverse=True)
    leader = first[inverse]
    for begin in range(0, len(members), READ):
        some, lead = members[begin : begin + READ], leader[begin : begin + READ]
        unlike = stage.similarity(corpus.records(some), corpus.records(members[lead])) < 1.0
        lead[unlike] = np.flatnonzero(unlike) + begin  # a collision of the hash
    return leader


def judge_large(stage: Resemblance, threshold: float, corpus: Corpus, cluster: I64) -> tuple[npt.NDArray[Any], Capped]:
    """Verdicts on one cluster of any size, given as ascending numbers."""
    members = keep_order(stage, corpus, cluster)
    leader = _copies(stage, corpus, members)  # giant clusters are mostly one text: most members are settled here
    leaders = np.flatnonzero(leader == np.arange(len(members)))
    twin = np.arange(len(members))  # places; its own where kept
    score = np.ones(len(members), np.float32)
    opening: list[int] = []  # places of the first FIRST kept
    capped = 0
    for begin in range(0, len(leaders), JUDGED_AT_ONCE):
        block = leaders[begin : begin + JUDGED_AT_ONCE]
        kept = _KeptSoFar(_keys(stage, corpus, members[block]))
        for place, mine in enumerate(block.tolist()):
            near, some_left_out = kept.candidates(place)
            capped += some_left_out
            places = np.unique(np.concatenate([np.array(opening, np.int64), *(block[part] for part in near)]))
            record = corpus.records(members[mine : mine + 1])
            scores = stage.similarity(corpus.records(members[places]), record)
            best = int(np.argmax(scores)) if len(scores) else 0
            if len(scores) and scores[best] >= threshold:
                twin[mine], score[mine] = places[best], scores[best]
                continue
            kept.add(place)
            if len(opening) < FIRST:
                opening.append(mine)
    return _with_copies(members, leader, twin, score), Capped(capped, int(len(leaders) > JUDGED_AT_ONCE))


def _with_copies(members: I64, leader: I64, twin: I64, score: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
    """Verdicts on all dropped members: a copy has its leader's twin, or its leader where that is kept."""
    own = np.arange(len(members))
    dropped = np.flatnonzero((leader != own) | (twin != own))
    verdicts = np.empty(len(dropped), VERDICT)
    verdicts["document"] = members[dropped]
    verdicts["twin"] = members[twin[leader[dropped]]]
    verdicts["score"] = score[leader[dropped]]
    return verdicts


class JudgeTask(NamedTuple):
    """Judges the clusters of one block: a file of int64 pairs (root, member)."""

    corpus: Corpus
    stage: Resemblance
    threshold: float  # below 0: all but the first of a cluster go
    block: Path


class Judged(NamedTuple):
    """What became of one block."""

    path: Path  # of VERDICT items
    sizes: dict[int, int]  # how many clusters of each size
    capped: Capped


def judge(task: JudgeTask) -> Judged:
    """Judges all clusters of one block."""
    corpus, stage, threshold, block = task
    pairs = np.fromfile(block, np.int64).reshape(-1, 2)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    root, starts = np.unique(pairs[:, 0], return_index=True)
    sizes = np.diff(np.append(starts, len(pairs)))  # without the roots
    capped = Capped()
    path = block.with_suffix(".verdicts")
    with path.open("wb") as file:
        for size in np.unique(sizes).tolist():
            at_once = max(1, MATRIX // (size + 1) ** 2) if size <= FIRST else 1
            chosen = np.flatnonzero(sizes == size)
            for begin in range(0, len(chosen), at_once):
                some = chosen[begin : begin + at_once]
                rest = pairs[starts[some, None] + np.arange(size), 1]
                clusters = np.concatenate([root[some, None], rest], axis=1)
                if size <= FIRST:
                    verdicts = judge_small(stage, threshold, corpus, clusters)
                else:
                    verdicts, bite = judge_large(stage, threshold, corpus, clusters[0])
                    capped = Capped(capped.documents + bite.documents, capped.clusters + bite.clusters)
                verdicts.tofile(file)
    found, counts = np.unique(sizes + 1, return_counts=True)
    return Judged(path, dict(zip(found.tolist(), counts.tolist())), capped)


def _note(corpus: Corpus, judged: list[Judged]) -> None:
    """Integers for the report; a cluster is giant above GIANT documents and one in 100 of the living."""
    step = 1 << 24
    living = sum(int(corpus.living(at, at + step).sum()) for at in range(0, corpus.size, step))
    clusters = Counter[int]()
    for block in judged:
        clusters.update(block.sizes)
    giant = max(GIANT, living // 100)
    corpus.notes.update(
        clusters=clusters.total(),
        clustered_documents=sum(size * count for size, count in clusters.items()),
        largest_cluster=max(clusters, default=0),
        giant_clusters=sum(count for size, count in clusters.items() if size > giant),
        capped_documents=sum(block.capped.documents for block in judged),
        split_clusters=sum(block.capped.clusters for block in judged),
    )


ALARMS = {"giant_cluster": "one cluster of duplicates holds {of} pages"}


def alarmed(notes: Mapping[str, int]) -> Iterator[Alarm]:
    """The alarms in the notes of a stage that clusters: of a giant cluster."""
    largest = notes.get("largest_cluster", 0)
    if largest >= GIANT:
        yield Alarm("giant_cluster", largest - 1, largest)


def near_verdicts(corpus: Corpus, stage: Resemblance, reason: str, size_column: str, one: bool) -> Iterator[Verdicts]:
    """Clusters the living documents and drops all that have a kept twin.

    `one` keeps one document a cluster, however unlike the others are to it. Each kept document that has
    twins gets in `size_column` their number, itself counted.
    """
    threshold = -1.0 if one else stage.threshold
    tasks = [JudgeTask(corpus, stage, threshold, block) for block in blocks(corpus, stage)]
    judged = corpus.map(judge, tasks)
    _note(corpus, judged)
    for path, _, _ in judged:
        verdicts = np.fromfile(path, VERDICT)
        yield Verdicts(verdicts["document"], reason, verdicts["twin"], verdicts["score"])
        twins, counts = np.unique(verdicts["twin"], return_counts=True)
        yield Verdicts(twins, None, columns={size_column: counts + 1})
