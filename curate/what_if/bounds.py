"""What corpus stages keep of another set of documents than the run's: a lower and an upper bound for each stage.

Known is, of the run's own documents, which were dropped for which twin; nothing is known of the texts of others.
For every bound the worst case is taken, so that a rerun's value lies within:

* A stage whose twins are equal texts (`equal = True`) keeps one document of each class of equals. New documents may
  be copies of any document or of none, and stand before it.
* Any other stage is exact as long as its input is the same, or differs only by documents that it dropped and that
  no other document was dropped for. Else documents before the first change in crawl order keep their fate where the
  stage keeps the first (`keep: first`), and everything after it may come out either way.
* Where the stage told who is kin (`curate.what_if.kin`), a change reaches no further than kin do.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import I64, Mask, Recorded, keys
from curate.stage import CorpusStage, declared
from curate.what_if.kin import Range, Reach, narrowed
from curate.what_if.redecide import total


@dataclass(frozen=True)
class StageBounds:
    """What one corpus stage keeps, in all and by group; `before` is what it kept in the run.

    `likely` is no bound: the run's own verdicts, and of new documents the share kept that the run kept.
    """

    stage: str
    before: tuple[int, int]  # documents and words
    after: Range
    groups: tuple[Range, ...]
    likely: int


@dataclass
class Input:
    """What may come into a corpus stage: documents that surely do (`sure`), and others that may (`perhaps`).

    `fresh` are those of either that the run's stage did not see, and `swapped` says how many of the sure ones may
    each have been replaced by an equal one of the others.
    """

    sure: Mask
    perhaps: Mask
    fresh: Mask
    swapped: int = 0


def twins(run: OpenedRun, recorded: Recorded) -> I64:
    """For each measured page the place of its twin in the run, -1 for none."""
    twin = np.full(len(recorded), -1, np.int64)
    columns = ["file_path", "offset", "matched_file", "matched_offset", "stage"]
    for path in run.parts("ledger"):
        table = run.read_part(path, columns)
        table = table.filter(table["matched_offset"].is_valid())
        if table.num_rows:
            here = np.searchsorted(recorded.key, keys(run, table["file_path"], table["offset"]))
            there = np.searchsorted(recorded.key, keys(run, table["matched_file"], table["matched_offset"]))
            twin[here] = there
    return twin


class Bounds:
    """Carries a set of documents through the corpus stages of a run. `groups[i]` is the group of page i."""

    def __init__(self, recorded: Recorded, twin: I64, words: I64, groups: I64, size: int) -> None:
        self.recorded, self.twin = recorded, twin
        self.words, self.groups, self.size = words, groups, size
        self.alive = recorded.passed  # in the run, before the stage at hand

    def through(self, passed: Mask, unknown: Mask) -> list[StageBounds]:
        """Bounds of each corpus stage when these pages pass the document stages, and perhaps the unknown ones."""
        given = Input(passed, unknown, (passed | unknown) & ~self.alive)
        found: list[StageBounds] = []
        likely = float(passed.sum())
        for code, name, stage in self.recorded.corpus_stages:
            came, known = int(self.alive.sum()), given.sure & ~given.fresh
            new = max(0.0, likely - float(known.sum()))
            dropped = self.recorded.stage == code
            stay = float((known & ~dropped).sum())
            reach = None
            if declared(stage).equal:
                given = self._equal(given, dropped)
            else:
                reach = self._reach(name, stage, given, dropped)
                given = self._other(stage, given, dropped)
            self.alive = self.alive & ~dropped
            before = total(self.alive, self.recorded.words)
            after, groups = self._ranges(given)
            if reach:
                after, groups = narrowed(after, groups, reach.ranges(self.groups, self.size))
            if found:
                after, groups = narrowed(after, groups, _no_more_than(found[-1]))
            likely = stay + new * (before[0] / came if came else 1.0)
            likely = min(max(likely, after.documents[0]), after.documents[1])
            found.append(StageBounds(name, before, after, groups, round(likely)))
        return found

    def _equal(self, given: Input, dropped: Mask) -> Input:
        """One of each class of equals. A known class keeps its first member unless a fresh equal stands before it."""
        leader = np.where(dropped, self.twin, np.arange(len(dropped)))
        known = given.sure & self.alive & ~given.fresh
        first = np.zeros_like(known)
        places = np.flatnonzero(known)
        first[places[np.unique(leader[places], return_index=True)[1]]] = True
        maybe = (given.perhaps & ~first) | (given.fresh & given.sure)
        fresh = given.fresh | (first & dropped)
        return Input(first, maybe, fresh, given.swapped + int(maybe.sum()))

    def _other(self, stage: CorpusStage, given: Input, dropped: Mask) -> Input:
        """The run's own verdicts as long as nothing that could change them came or went."""
        known = given.sure & ~given.fresh
        gone = self.alive & ~known
        held = np.zeros_like(known)  # documents that others were dropped for
        held[self.twin[dropped & known]] = True
        apart = self._judges_each_apart(stage, dropped)
        changed = given.fresh | given.perhaps | (gone & held if apart else gone)
        if not changed.any():
            return Input(known & ~dropped, np.zeros_like(known), np.zeros_like(known))
        ordered = apart and getattr(stage, "keep", None) == "first"
        before = np.arange(len(known)) < int(np.flatnonzero(changed)[0]) if ordered else np.zeros_like(known)
        sure = known & before & ~dropped
        perhaps = (given.sure | given.perhaps) & ~before
        return Input(sure, perhaps, (given.fresh | dropped) & perhaps)

    def _reach(self, name: str, stage: CorpusStage, given: Input, dropped: Mask) -> Reach | None:
        """How far changes go, by who is kin; None where the stage did not tell."""
        if declared(stage).kin_threshold is None or name not in self.recorded.families:
            return None
        known = given.sure & ~given.fresh
        gone = self.alive & ~known
        held = np.zeros_like(known)
        held[self.twin[dropped & known]] = True
        matters = held if getattr(stage, "cluster", "kept") == "kept" else held | dropped
        return Reach(
            self.recorded.families[name],
            known,
            known & ~dropped,
            gone & matters,
            given.fresh | given.perhaps,
            self.words,
        )

    def _judges_each_apart(self, stage: CorpusStage, dropped: Mask) -> bool:
        """Whether a document's verdict hangs on nothing but the kept documents before it that resemble it.

        Not so for a budget (no drop names a twin), for whole clusters, where a cap bit (`wide_buckets` and the
        like in the notes), or where similar documents need not share a bucket.
        """
        if getattr(stage, "cluster", "kept") != "kept" or not (self.twin[dropped] >= 0).all():
            return False
        notes = self.recorded.run.stats["notes"].get(self.recorded.stages[self._code(stage)], {})
        if any(notes.get(name) for name in ("wide_buckets", "capped_documents", "split_clusters")):
            return False
        slots, threshold = getattr(stage, "permutations", 0), getattr(stage, "threshold", 1.0)
        unlike = int(slots * (1 - threshold))  # slots in which two documents at the threshold differ
        return bool(unlike <= getattr(stage, "bands", slots))

    def _code(self, stage: CorpusStage) -> int:
        return next(code for code, _, own in self.recorded.corpus_stages if own is stage)

    def _ranges(self, given: Input) -> tuple[Range, tuple[Range, ...]]:
        """Sums over all and over each group; in a group, a document may be swapped for an equal one of another."""
        low, high = self._sums(given.sure), self._sums(given.sure | given.perhaps)
        swaps = self._sums(given.perhaps) if given.swapped else [np.zeros(self.size, np.int64)] * 2
        groups = []
        for group in range(self.size):
            lost = [int(swap.sum() - swap[group]) for swap in swaps]
            least = [max(0, int(one[group]) - less) for one, less in zip(low, lost, strict=True)]
            most = [int(one[group]) for one in high]
            groups.append(Range((least[0], most[0]), (least[1], most[1])))
        all_low, all_high = ([int(one.sum()) for one in sums] for sums in (low, high))
        return Range((all_low[0], all_high[0]), (all_low[1], all_high[1])), tuple(groups)

    def _sums(self, mask: Mask) -> list[npt.NDArray[np.int64]]:
        documents = np.bincount(self.groups[mask], minlength=self.size)
        words = np.bincount(self.groups[mask], self.words[mask], minlength=self.size)
        return [documents.astype(np.int64), words.astype(np.int64)]


def _no_more_than(earlier: StageBounds) -> tuple[Range, tuple[Range, ...]]:
    """What is left for the stages after one, in all and of each group: what it keeps, or less."""
    whole, *groups = (Range((0, most.documents[1]), (0, most.words[1])) for most in (earlier.after, *earlier.groups))
    return whole, tuple(groups)
