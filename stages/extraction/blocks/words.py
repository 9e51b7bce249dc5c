"""The words of what authors call their elements, as numbers: `post-Body_12` has post, body and post-body.

All names of a page are taken apart at once; a word is known by a hash of its letters, which depends on nothing else.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks.tags import Ints, Words

HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
LETTERS = re.compile(r"[a-z]+")
SHORTEST, LONGEST = 2, 19  # letters of a word: more are no word
PARTS = 4  # words of a name that are taken together

# A polynomial of the letters modulo 2^64 (Karp & Rabin 1987), its powers by place; and the same of a name's words.
_BASE = 0x9E37_79B9_7F4A_7C15
_ORDERS = np.append(np.cumprod(np.full(PARTS, 0xD6E8_FEB8_6659_FD93, np.uint64)), np.uint64(0))
_MIX = np.uint64(0xFF51_AFD7_ED55_8CCD)
_SMALL = np.zeros(256, np.uint8)  # of each letter its place in the alphabet
_SMALL[ord("a") : ord("z") + 1] = _SMALL[ord("A") : ord("Z") + 1] = range(1, 27)
_BIG = np.zeros(256, np.bool_)
_BIG[ord("A") : ord("Z") + 1] = True
_BLANK = np.zeros(256, np.bool_)
_BLANK[list(b" \t\r\n\f")] = True


class Spoken(NamedTuple):
    """The words of values, and of which value each is."""

    word: Words
    value: Ints


def words(values: str) -> Iterator[str]:
    """The words of names, digits left out."""
    for name in values.split():
        parts = [part for part in LETTERS.findall(HUMP.sub("-", name).lower()) if SHORTEST <= len(part) <= LONGEST]
        yield from parts
        if len(parts) > 1:
            yield "-".join(parts[:PARTS])


@lru_cache(maxsize=1 << 16)
def number(word: str) -> int:
    """The hash of one word as `words` gives it."""
    return int(hashed([word.encode()]).word[-1])


def hashed(values: Sequence[bytes]) -> Spoken:
    """The words of values."""
    letters = np.frombuffer(b"".join(values), np.uint8)
    sizes = np.fromiter(map(len, values), np.int64, len(values))
    starts = np.cumsum(sizes) - sizes
    first = np.zeros(len(letters) + 1, np.bool_)
    first[starts] = True
    small, big, blank = _SMALL[letters], _BIG[letters], _BLANK[letters]
    inside = small > 0
    hump = big[1:] & ~big[:-1]
    begins = inside & (first[:-1] | np.append(True, ~inside[:-1] | hump))
    begin = np.flatnonzero(begins)
    if not len(begin):
        return Spoken(np.zeros(0, np.uint64), np.zeros(0, np.int64))
    powers, inverse = _powers(1 << len(letters).bit_length())
    word = np.add.reduceat(small * powers[: len(letters)], begin) * inverse[begin]
    before = np.append(0, np.cumsum(inside))
    length = before[np.append(begin[1:], len(letters))] - before[begin]
    kept = (length >= SHORTEST) & (length <= LONGEST)
    begin, word = begin[kept], _mixed(word[kept])
    name = np.cumsum(blank | first[:-1])[begin]
    value = np.searchsorted(starts, begin, side="right") - 1
    return _with_names(word, value, name)


@lru_cache(maxsize=8)
def _powers(count: int) -> tuple[Words, Words]:
    """Powers of the base, and their inverses modulo 2^64: a word hashes alike wherever it stands."""
    up, down = (np.full(count, factor, np.uint64) for factor in (_BASE, pow(_BASE, -1, 1 << 64)))
    up[0] = down[0] = 1
    return np.cumprod(up), np.cumprod(down)


def _mixed(word: Words) -> Words:
    """Bits of a hash spread, so that the highest depend on all."""
    return (word ^ (word >> np.uint64(32))) * _MIX


def _with_names(word: Words, value: Ints, name: Ints) -> Spoken:
    """The words, and of names with several those together."""
    if not len(word):
        return Spoken(word, value)
    starts = np.flatnonzero(np.append(True, name[1:] != name[:-1]))
    sizes = np.diff(np.append(starts, len(word)))
    rank = np.minimum(np.arange(len(word)) - np.repeat(starts, sizes), PARTS)
    together = _mixed(np.add.reduceat(word * _ORDERS[rank], starts))
    several = sizes > 1
    return Spoken(np.append(word, together[several]), np.append(value, value[starts[several]]))
