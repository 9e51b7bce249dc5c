"""Texts as hashed n-grams, counted by text so that any part of a sample can be counted again."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from curate.compare.sample import Sample

TOKEN = re.compile(r"\w+|[^\w\s]+")  # words and runs of marks, in lower case, as in DSIR
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]


@lru_cache(maxsize=1 << 18)
def _hash(token: str) -> int:
    return xxhash.xxh3_64_intdigest(token.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class SampleTokens:
    """All tokens of a sample, one copy of each text: hashes, and the text that each is from."""

    hashes: U64
    text: I64
    texts: int

    @classmethod
    def of(cls, sample: Sample) -> "SampleTokens":
        found = [[_hash(token) for token in TOKEN.findall(text.text.lower())] for text in sample.texts]
        lengths = [len(some) for some in found]
        hashes = np.fromiter((value for some in found for value in some), np.uint64, sum(lengths))
        return cls(hashes, np.repeat(np.arange(len(found)), lengths), len(found))

    @cached_property
    def lengths(self) -> I64:
        """Tokens of each text."""
        return np.bincount(self.text, minlength=self.texts)

    def grams(self, n: int) -> tuple[U64, I64]:
        """The hashes of all n-grams within a text, and the text of each."""
        count = max(0, len(self.hashes) - n + 1)
        keys = np.zeros(count, np.uint64)
        for place in range(n):
            keys = (keys + self.hashes[place : place + count]) * MULTIPLIER
            keys ^= keys >> np.uint64(29)
        inside = self.text[:count] == self.text[n - 1 : n - 1 + count]
        return keys[inside], self.text[:count][inside]


@dataclass(frozen=True)
class Counted:
    """How often keys of a fixed list occur, by text: a sparse table."""

    place: I64  # of the key in the list
    text: I64
    size: int  # keys in the list

    @classmethod
    def of(cls, keys: U64, text: I64, wanted: U64) -> "Counted":
        """Occurrences of the keys in `wanted`, which ascend without repeats."""
        place = np.searchsorted(wanted, keys)
        place[place == len(wanted)] = 0
        there = wanted[place] == keys if len(wanted) else np.zeros(len(keys), np.bool_)
        return cls(place[there], text[there], len(wanted))

    def total(self, weights: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Occurrences of each key, where a text counts by its weight."""
        counts = np.bincount(self.place, weights[self.text], self.size)
        return counts.astype(np.float64, copy=False)
