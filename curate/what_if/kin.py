"""How far a change of its input reaches in a stage that drops near copies.

The stage names for each document its kin: those linked to it by pairs that are 2 t - 1 similar, t being its threshold.
Two documents that are each t like a third are kin, since unlikeness (the share of slots that differ) obeys the triangle
inequality. So a document that goes changes the fate of its kin alone, and a new one that of the kin of one document.
Buckets find kin less surely than copies (four in five pairs at the least), so a new document is taken to touch the kin
of two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curate.inspect.recorded import I64, Mask

TOUCHED = 2  # families of kin that one new document may change


@dataclass(frozen=True)
class Range:
    """Documents and words that are at least and at most kept."""

    documents: tuple[int, int]
    words: tuple[int, int]

    @property
    def exact(self) -> bool:
        """Whether both bounds are one."""
        return self.documents[0] == self.documents[1] and self.words[0] == self.words[1]


@dataclass(frozen=True)
class Reach:
    """One stage's input beside that of the run.

    `known` documents come in both and were kept in the run where `kept`; `gone` ones came in the run alone and matter;
    `new` ones the run's stage did not see.
    """

    family: I64  # of kin; a document without is a family of its own
    known: Mask
    kept: Mask
    gone: Mask
    new: Mask
    words: I64

    def ranges(self, groups: I64, size: int) -> tuple[Range, tuple[Range, ...]]:
        """What is kept, in all and of each group."""
        touched = np.zeros(int(self.family.max(initial=-1)) + 1, np.bool_)
        touched[self.family[self.gone]] = True
        ones, everything = np.ones(len(self.family), np.int64), np.ones(len(self.family), np.bool_)
        whole = Range(self._sums(touched, ones, everything, True), self._sums(touched, self.words, everything, False))
        if size == 1:
            return whole, (whole,)
        return whole, tuple(
            Range(self._sums(touched, ones, groups == group, False),
                  self._sums(touched, self.words, groups == group, False))
            for group in range(size)
        )  # fmt: skip

    def _sums(self, touched: Mask, weight: I64, mine: Mask, whole: bool) -> tuple[int, int]:
        """Lower and upper bound of what is kept, in documents (weight 1) or words. `whole`: of all documents."""

        def by_family(mask: Mask) -> npt.NDArray[np.int64]:
            within = mask & mine
            return np.bincount(self.family[within], weight[within], minlength=len(touched)).astype(np.int64)

        kept, members = by_family(self.kept), by_family(self.known)
        low = np.where(touched, np.minimum(members, 1) if whole else 0, kept)
        high = np.where(touched, members, kept)
        new = int(self.new.sum())
        lost = _largest(low, TOUCHED * new)
        least = int(low.sum() - lost.sum()) + (min(new, -(-int((lost > 0).sum()) // TOUCHED)) if whole else 0)
        back = _largest(np.where(touched, 0, members - kept), TOUCHED * new)
        return max(0, least), int(high.sum() + back.sum() + weight[self.new & mine].sum())


def _largest(values: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64]:
    if most >= len(values):
        return values
    return np.partition(values, len(values) - most)[len(values) - most :] if most else values[:0]


def narrowed(
    one: Range, groups: Sequence[Range], other: tuple[Range, tuple[Range, ...]]
) -> tuple[Range, tuple[Range, ...]]:
    """Both bounds at once; what a group keeps at the least is the whole less what the others keep at the most."""
    whole = _within(one, other[0])
    within = [_within(mine, more) for mine, more in zip(groups, other[1], strict=True)]
    documents, words = sum(group.documents[1] for group in within), sum(group.words[1] for group in within)
    return whole, tuple(
        Range(_share(group.documents, whole.documents, documents), _share(group.words, whole.words, words))
        for group in within
    )


def _share(group: tuple[int, int], whole: tuple[int, int], most: int) -> tuple[int, int]:
    """A group's bounds within those of the whole; `most` is what all groups together keep at the most."""
    return max(group[0], whole[0] - most + group[1]), min(group[1], whole[1])


def _within(one: Range, other: Range) -> Range:
    return Range((max(one.documents[0], other.documents[0]), min(one.documents[1], other.documents[1])),
                 (max(one.words[0], other.words[0]), min(one.words[1], other.words[1])))  # fmt: skip
