"""MinHash signatures of many texts at once, and the bucket keys of their bands.

The scheme is frozen (docs/stages/near_dedup.md): a faster kernel must give the same bytes.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from stages.resemblance.word_hashes import Words, hashes_of

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

EMPTY = np.uint32(0xFFFFFFFF)  # every slot of a text without words, as in datasketch
COMBINE = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: multiplier of the word sequence
FINISH = np.uint64(0xFF51AFD7ED558CCD)  # first multiplier of MurmurHash3's 64-bit finalizer
BLOCK_SHINGLES = 16_384  # 64 KiB of values: a permutation's work stays in the second-level cache


@lru_cache(maxsize=8)
def permutations(count: int, seed: int) -> tuple[U32, U32]:
    """Factors (odd) and summands of datasketch's scheme `affine32`: h -> a h + b mod 2^32."""
    from datasketch import MinHash  # not above: it brings SciPy, which commands that sketch nothing need not load

    factors, summands = MinHash(count, seed=seed, scheme="affine32").permutations
    return factors, summands


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


def shingle_values(text: Words, k: int) -> U32:
    """The 32-bit value of each shingle of k words, in order; a text of fewer words is one shingle."""
    hashes, _ = hashes_of([text])
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


def _groups(texts: Sequence[Words]) -> Iterator[tuple[int, int]]:
    """Ranges of texts with about BLOCK_SHINGLES words together; a longer text stands alone."""
    start = words = 0
    for index, text in enumerate(texts):
        length = len(text) // 6 if isinstance(text, str) else len(text)
        if index > start and words + length > BLOCK_SHINGLES:
            yield start, index
            start, words = index, 0
        words += length
    if start < len(texts):
        yield start, len(texts)


def _long_signature(hashes: U64, k: int, count: int, seed: int) -> U32:
    """The signature of one long text, a block of shingles at a time."""
    signature = np.full(count, EMPTY, np.uint32)
    for start in range(0, len(hashes) - k + 1, BLOCK_SHINGLES):
        values = _combine(hashes[start : start + BLOCK_SHINGLES + k - 1], k)
        np.minimum(signature, _minima(values, np.zeros(1, np.int64), count, seed)[0], out=signature)
    return signature


def _short_signatures(hashes: U64, lengths: I64, k: int, count: int, seed: int) -> U32:
    """Signatures of texts of at least one word, given as the hashes of all their words, text after text."""
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
    return _minima(values[inside], np.cumsum(counts) - counts, count, seed)


def signatures(texts: Sequence[Words], k: int, count: int, seed: int) -> U32:
    """MinHash signatures, shape (len(texts), count), of texts given as ASCII strings or as lists of words.

    Equal to datasketch's `MinHash(count, seed, scheme="affine32")` updated with `shingle_values`; EMPTY in every
    slot where there is no word. Work memory beyond 8 bytes a word does not grow with the length of a text.
    """
    result = np.full((len(texts), count), EMPTY, np.uint32)
    for start, stop in _groups(texts):
        hashes, lengths = hashes_of(texts[start:stop])
        if stop - start == 1 and len(hashes) > max(k, BLOCK_SHINGLES):
            result[start] = _long_signature(hashes, k, count, seed)
        elif len(hashes):
            full = np.flatnonzero(lengths)
            result[start + full] = _short_signatures(hashes, lengths[full], k, count, seed)
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
