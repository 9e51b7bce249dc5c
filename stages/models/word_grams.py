"""Hashed n-grams of words: the features of the classifiers that we train ourselves."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

U64 = NDArray[np.uint64]

CACHED_WORDS, CACHED_LENGTH = 1 << 16, 64  # bounds what a process remembers of the words it met
_MULTIPLIER, _SPREAD = np.uint64(0x9FB21C651E98DF25), np.uint64(0x9E3779B97F4A7C15)  # odd


def plain_word(word: str) -> str:
    """A word in lower case without the punctuation around it; "" where nothing else is left."""
    word = word.lower()
    if word.isalnum():
        return word
    kept = [place for place, char in enumerate(word) if char.isalnum()]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def plain_words(text: str) -> list[str]:
    """The words that vote: split at white space, lower case, without punctuation around them."""
    return [word for word in map(plain_word, text.split()) if word]


def _hash(word: str) -> int:
    return _remembered_hash(word) if len(word) <= CACHED_LENGTH else _hashed_word(word)


def _hashed_word(word: str) -> int:
    """xxh3-64 of a word's plain form, 0 where it has none."""
    plain = plain_word(word)
    return (xxhash.xxh3_64_intdigest(plain.encode("utf-8", "surrogatepass")) or 1) if plain else 0


_remembered_hash = lru_cache(maxsize=CACHED_WORDS)(_hashed_word)


def grams(hashes: U64, order: int) -> U64:
    """64-bit numbers of all n-grams of 1 ... order words, given as hashes."""
    longest, found = hashes, [hashes]
    for size in range(2, order + 1):
        longest = longest[:-1] * _MULTIPLIER + hashes[size - 1 :]
        found.append(longest)
    return np.concatenate(found) * _SPREAD


def buckets(words: Sequence[str], order: int, bits: int) -> NDArray[np.int64]:
    """Bucket numbers of all n-grams of 1 ... order words, the words as they stand in the text."""
    hashes = np.fromiter(map(_hash, words), np.uint64, len(words))
    return (grams(hashes[hashes != 0], order) >> np.uint64(64 - bits)).astype(np.int64)


def hashes_of(tokens: Iterable[str], count: int) -> U64:
    """xxh3-64 of tokens as they are."""
    return np.fromiter(map(_token_hash, tokens), np.uint64, count)


@lru_cache(maxsize=CACHED_WORDS)
def _short_hash(token: str) -> int:
    return xxhash.xxh3_64_intdigest(token.encode("utf-8", "surrogatepass"))


def _token_hash(token: str) -> int:
    if len(token) <= CACHED_LENGTH:
        return _short_hash(token)
    return xxhash.xxh3_64_intdigest(token.encode("utf-8", "surrogatepass"))
