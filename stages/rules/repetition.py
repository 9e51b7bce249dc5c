"""Repeated lines, paragraphs and n-grams of words (Rae et al. 2021, section A1.1, table A1).

Words get exact integer ids, an n-gram the pair of the ids of its first n-1 words and its last word, and only
places whose (n-1)-gram is repeated are looked at again: the arrays shrink with every n. No hashing, so equal
means equal.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TOP_SIZES = (2, 3, 4)
DUPLICATE_SIZES = (5, 6, 7, 8, 9, 10)

Integers = NDArray[np.int64]

_PARAGRAPH_BREAK = re.compile("\n{2,}")


class Segments(NamedTuple):
    """The non-empty lines and paragraphs of a text, without the white space around each line."""

    lines: list[str]
    paragraphs: list[str]


def segments(text: str) -> Segments:
    """Non-empty lines, and paragraphs: runs of lines between empty ones."""
    stripped = list(map(str.strip, text.splitlines()))
    lines = list(filter(None, stripped))
    if len(lines) == len(stripped):
        return Segments(lines, ["\n".join(lines)] if lines else [])
    block = "\n".join(stripped).strip("\n")
    return Segments(lines, _PARAGRAPH_BREAK.split(block) if block else [])


def duplicate_ratios(items: Sequence[str]) -> tuple[float, float]:
    """Share of items, and of their characters, that are copies of an item before them."""
    if len(items) < 2:
        return 0.0, 0.0
    distinct = set(items)
    if len(distinct) == len(items):
        return 0.0, 0.0
    characters = sum(map(len, items))
    copied = characters - sum(map(len, distinct))
    return (len(items) - len(distinct)) / len(items), copied / max(characters, 1)


class _Repeats(NamedTuple):
    """The places of n-grams that stand twice or more, group by group, ascending within a group."""

    positions: Integers
    groups: Integers  # number of the group of each place, 0, 1, ...
    firsts: Integers  # index of each group's first place
    copies: Integers  # the places that are not the first of their group, in no order


def _repeats(keys: Integers, positions: Integers, total: int) -> _Repeats | None:
    """Groups of at least two places with equal keys; keys are below total², positions below total."""
    bits = total.bit_length()
    if 3 * bits < 63:  # key and place in one number: one plain sort, several times faster
        packed = (keys << bits) | positions
        packed.sort()
        keys = packed >> bits
        positions = packed & ((1 << bits) - 1)
    else:
        order = np.lexsort((positions, keys))
        keys, positions = keys[order], positions[order]
    same = keys[1:] == keys[:-1]
    copies = positions[1:][same]
    if not len(copies):
        return None
    member = np.zeros(len(keys), dtype=bool)
    member[1:] = same
    starts = ~member
    member[:-1] |= same
    heads = starts[member]
    return _Repeats(positions[member], heads.cumsum() - 1, heads.nonzero()[0], copies)


def _covered(positions: Integers, size: int, ends: Integers) -> int:
    """Characters of the words under n-grams at ascending places; a word under two of them counts once."""
    stops = positions + size
    np.minimum(stops[:-1], positions[1:], out=stops[:-1])
    return int((ends[stops] - ends[positions]).sum())


def _top_characters(repeats: _Repeats, size: int, ends: Integers) -> int:
    """Characters under the most frequent n-gram; among equally frequent ones the longest, then the first."""
    counts = np.bincount(repeats.groups)
    tied = (counts == counts.max()).nonzero()[0]
    where = repeats.positions[repeats.firsts[tied]]
    lengths = ends[where + size] - ends[where]
    longest = (lengths == lengths.max()).nonzero()[0]
    group = tied[longest[where[longest].argmin()]]
    start = repeats.firsts[group]
    return _covered(repeats.positions[start : start + counts[group]], size, ends)


def n_gram_ratios(words: Sequence[str]) -> dict[int, float]:
    """Share of the characters of all words under repeated n-grams, by n.

    For n = 2, 3, 4 those under the most frequent n-gram (0 where none stands twice), for n = 5 ... 10 those
    under n-grams that have stood before. A character under several n-grams counts once.
    """
    ratios = dict.fromkeys((*TOP_SIZES, *DUPLICATE_SIZES), 0.0)
    total = len(words)
    number = dict(zip(words, range(total)))
    if len(number) == total:
        return ratios
    ids = np.fromiter(map(number.__getitem__, words), np.int64, total)
    ends = np.zeros(total + 1, dtype=np.int64)
    np.fromiter(map(len, words), np.int64, total).cumsum(out=ends[1:])
    characters = int(ends[-1])
    prefixes, positions = ids[:-1], np.arange(total - 1)
    for size in range(2, DUPLICATE_SIZES[-1] + 1):
        repeats = _repeats(prefixes * total + ids[positions + (size - 1)], positions, total)
        if repeats is None:
            break
        if size in TOP_SIZES:
            ratios[size] = _top_characters(repeats, size, ends) / characters
        else:
            repeats.copies.sort()
            ratios[size] = _covered(repeats.copies, size, ends) / characters
        longer = repeats.positions + size < total
        positions, prefixes = repeats.positions[longer], repeats.groups[longer]
    return ratios
