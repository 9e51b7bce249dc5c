"""MinHash signatures of many texts at once, and the bucket keys of their bands.

The scheme is frozen (docs/stages/near_dedup.md): a faster kernel must give the same bytes.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt
import xxhash

from curate.text import normalize

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]

EMPTY = np.uint32(0xFFFFFFFF)  # every slot of a text without words, as in datasketch
COMBINE = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: multiplier of the word sequence
FINISH = np.uint64(0xFF51AFD7ED558CCD)  # first multiplier of MurmurHash3's 64-bit finalizer
MEMO_WORDS = 1 << 16
MEMO_LENGTH = 32
BLOCK_SHINGLES = 16_384  # 64 KiB of values: a permutation's work stays in the second-level cache


class _WordHashes(dict[str, int]):
    """xxh3-64 of normalised words by the word as written, remembered: a text's words are mostly the same few thousand.

    0 stands for a word of which nothing is left.
    """

    def __missing__(self, word: str) -> int:
        normal = normalize(word)
        value = xxhash.xxh3_64_intdigest(normal.encode("utf-8", "surrogatepass")) if normal else 0
        if len(word) <= MEMO_LENGTH:
            if len(self) >= MEMO_WORDS:
                self.clear()
            self[word] = value
        return value


_HASHES = _WordHashes()


@lru_cache(maxsize=8)
def permutations(count: int, seed: int) -> tuple[U32, U32]:
    """Factors (odd) and summands of datasketch 2's scheme `affine32`: h -> a h + b mod 2^32."""
    draw = np.random.RandomState(seed)
    a = draw.randint(0, 1 << 31, count, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    b = draw.randint(0, 1 << 32, count, dtype=np.uint32)
    return a, b


def _hashes(words: Sequence[str]) -> U64:
    return np.fromiter(map(_HASHES.__getitem__, words), np.uint64, len(words))


def word_hashes(words: Sequence[str]) -> U64:
    """xxh3-64 (seed 0) of the UTF-8 bytes of each word, normalised; words of which nothing is left are left out.

    The words of a normalised text are the normalised words of the text: nothing composes across white space.
    """
    hashes = _hashes(words)
    return hashes if hashes.all() else hashes[hashes != 0]


def _finish(h: U64) -> U32:
    h ^= h >> np.uint64(32)
    h *= FINISH
    h >>= np.uint64(32)
    return h.astype(np.uint32)


def _combine(words: U64, k: int) -> U32:
    """One 32-bit value for each window of k word hashes: ((w1 C + w2) C + ...) mod 2^64, finished."""
    windows = len(words) - k + 1
    h = words[:windows].copy()
    for place in range(1, k):
        h *= np.uint64(COMBINE)
        h += words[place : place + windows]
    return _finish(h)


def shingle_values(words: Sequence[str], k: int) -> U32:
    """The 32-bit value of each shingle of k words, in order; a text of fewer words is one shingle."""
    hashes = word_hashes(words)
    return _combine(hashes, min(k, len(hashes))) if len(hashes) else np.empty(0, np.uint32)


def _fmix32(h: U32) -> U32:
    """MurmurHash3's 32-bit finalizer, which affine32 applies before it permutes."""
    h = h ^ (h >> np.uint32(16))
    h *= np.uint32(0x85EBCA6B)
    h ^= h >> np.uint32(13)
    h *= np.uint32(0xC2B2AE35)
    h ^= h >> np.uint32(16)
    return h


def _minima(values: U32, starts: npt.NDArray[np.int64], count: int, seed: int) -> U32:
    """Signatures, shape (len(starts), count), of the runs of shingle values that begin at `starts`."""
    a, b = permutations(count, seed)
    mixed = _fmix32(values)
    work = np.empty_like(mixed)
    minima = np.empty((count, len(starts)), np.uint32)
    for slot in range(count):
        np.multiply(mixed, a[slot], out=work)
        np.add(work, b[slot], out=work)
        np.minimum.reduceat(work, starts, out=minima[slot])
    return minima.T


def _groups(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of texts with about BLOCK_SHINGLES words together; a longer text stands alone."""
    start = words = 0
    for index, length in enumerate(lengths):
        if index > start and words + length > BLOCK_SHINGLES:
            yield start, index
            start, words = index, 0
        words += length
    if start < len(lengths):
        yield start, len(lengths)


def _long_signature(words: Sequence[str], k: int, count: int, seed: int) -> U32:
    """The signature of one long text, a block of shingles at a time."""
    hashes = word_hashes(words)
    k = min(k, len(hashes))
    signature = np.full(count, EMPTY, np.uint32)
    for start in range(0, len(hashes) - k + 1 if k else 0, BLOCK_SHINGLES):
        values = _combine(hashes[start : start + BLOCK_SHINGLES + k - 1], k)
        np.minimum(signature, _minima(values, np.zeros(1, np.int64), count, seed)[0], out=signature)
    return signature


def _short_signatures(texts: Sequence[Sequence[str]], k: int, count: int, seed: int) -> U32:
    """Signatures of texts of together about BLOCK_SHINGLES words."""
    result = np.full((len(texts), count), EMPTY, np.uint32)
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    hashes = _hashes(list(chain.from_iterable(texts)))
    if not hashes.all():
        lengths = np.bincount(np.repeat(np.arange(len(texts)), lengths)[hashes != 0], minlength=len(texts))
        hashes = hashes[hashes != 0]
    full = lengths > 0
    if not full.any():
        return result
    lengths = lengths[full]
    ends = np.cumsum(lengths)
    values = _combine(np.concatenate([hashes, np.zeros(k - 1, np.uint64)]), k)
    inside = np.ones(len(hashes), np.bool_)  # windows that do not run over the end of their text
    for place in range(1, k):
        inside[np.maximum(ends - place, ends - lengths)] = False
    short = lengths < k
    inside[(ends - lengths)[short]] = True
    for index in np.flatnonzero(short):
        begin = ends[index] - lengths[index]
        values[begin] = _combine(hashes[begin : ends[index]], int(lengths[index]))[0]
    counts = np.where(short, 1, lengths - k + 1)
    result[full] = _minima(values[inside], np.cumsum(counts) - counts, count, seed)
    return result


def signatures(texts: Sequence[Sequence[str]], k: int, count: int, seed: int) -> U32:
    """MinHash signatures of texts given as lists of words, shape (len(texts), count); EMPTY where there is no word.

    Equal to datasketch's `MinHash(count, seed, scheme="affine32")` updated with `shingle_values`. Work memory
    beyond 8 bytes a word does not grow with the length of a text.
    """
    result = np.empty((len(texts), count), np.uint32)
    for start, stop in _groups([len(words) for words in texts]):
        if len(texts[start]) > BLOCK_SHINGLES:
            result[start] = _long_signature(texts[start], k, count, seed)
        else:
            result[start:stop] = _short_signatures(texts[start:stop], k, count, seed)
    return result


def bucket_keys(signatures: U32, bands: int, rows: int) -> U64:
    """One 64-bit key for each band of each signature, shape (n, bands); the band's index is mixed in."""
    keys = np.empty((len(signatures), bands), np.uint64)
    keys[:] = np.arange(1, bands + 1, dtype=np.uint64) * np.uint64(COMBINE)
    slots = signatures[:, : bands * rows].reshape(len(signatures), bands, rows)
    for row in range(rows):
        keys ^= slots[:, :, row]
        keys *= FINISH
        keys ^= keys >> np.uint64(32)
    return keys
