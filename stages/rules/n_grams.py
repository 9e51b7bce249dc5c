"""Where the n-grams of a text are that stand in it more than once, for n = 2 ... 10.

Words get exact integer ids, an n-gram the pair of the ids of its first n-1 words and its last word, and only
places whose (n-1)-gram is repeated are looked at again: the arrays shrink with every n. No hashing, so equal
means equal.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TOP_SIZES = (2, 3, 4)
DUPLICATE_SIZES = (5, 6, 7, 8, 9, 10)

Integers = NDArray[np.int64]


class RepeatedGrams(NamedTuple):
    """The places of n-grams that stand twice or more, group by group, ascending within a group."""

    places: Integers
    groups: Integers  # number of the group of each place, 0, 1, ...
    firsts: Integers  # index of each group's first place
    copies: Integers  # the places that are not the first of their group, ascending


class NGrams:
    """The n-grams of some words. `ends[i]` is the number of characters before word i, white space left out."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.ends = np.zeros(len(words) + 1, dtype=np.int64)
        np.fromiter(map(len, words), np.int64, len(words)).cumsum(out=self.ends[1:])
        self.characters = int(self.ends[-1])
        self.repeats = _all_repeats(words)

    def lengths(self, places: Integers, size: int) -> Integers:
        """Characters of the n-grams at these places."""
        return self.ends[places + size] - self.ends[places]

    def covered(self, places: Integers, size: int) -> int:
        """Characters of the words under n-grams at ascending places; a word under two of them counts once."""
        stops = places + size
        np.minimum(stops[:-1], places[1:], out=stops[:-1])
        return int((self.ends[stops] - self.ends[places]).sum())

    def most_frequent(self, size: int, longest: bool = False) -> Integers:
        """All places of the most frequent n-gram; of equally frequent ones the longest if asked, then the
        first.

        The first n-gram alone where none stands twice; nothing where the text is too short for one.
        """
        repeats = self.repeats.get(size)
        if repeats is None:
            return np.arange(min(1, max(0, len(self.words) - size + 1)))
        counts = np.bincount(repeats.groups)
        tied = (counts == counts.max()).nonzero()[0]
        where = repeats.places[repeats.firsts[tied]]
        if longest:
            lengths = self.lengths(where, size)
            best = (lengths == lengths.max()).nonzero()[0]
            tied, where = tied[best], where[best]
        group = tied[where.argmin()]
        start = repeats.firsts[group]
        return repeats.places[start : start + counts[group]]


def _all_repeats(words: Sequence[str]) -> dict[int, RepeatedGrams]:
    """By n, as long as any n-gram stands twice."""
    found: dict[int, RepeatedGrams] = {}
    total = len(words)
    number = dict(zip(words, range(total)))
    if len(number) == total:
        return found
    ids = np.fromiter(map(number.__getitem__, words), np.int64, total)
    prefixes, places = ids[:-1], np.arange(total - 1)
    for size in range(2, DUPLICATE_SIZES[-1] + 1):
        repeats = _grouped(prefixes * total + ids[places + (size - 1)], places, total)
        if repeats is None:
            break
        found[size] = repeats
        longer = repeats.places + size < total
        places, prefixes = repeats.places[longer], repeats.groups[longer]
    return found


def _grouped(keys: Integers, places: Integers, total: int) -> RepeatedGrams | None:
    """Groups of at least two places with equal keys; keys are below total², places below total."""
    bits = total.bit_length()
    if 3 * bits < 63:  # key and place in one number: one plain sort, several times faster
        packed = (keys << bits) | places
        packed.sort()
        keys = packed >> bits
        places = packed & ((1 << bits) - 1)
    else:
        order = np.lexsort((places, keys))
        keys, places = keys[order], places[order]
    same = keys[1:] == keys[:-1]
    copies = places[1:][same]
    if not len(copies):
        return None
    copies.sort()
    member = np.zeros(len(keys), dtype=bool)
    member[1:] = same
    starts = ~member
    member[:-1] |= same
    heads = starts[member]
    return RepeatedGrams(places[member], heads.cumsum() - 1, heads.nonzero()[0], copies)
