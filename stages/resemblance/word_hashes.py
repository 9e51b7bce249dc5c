"""xxh3-64 of the words of many texts at once, in NumPy.

A call of xxhash per word costs more than the hash itself, and near_dedup needs the hash of every word of every page.
Words of up to 16 ASCII bytes, nearly all there are, are hashed side by side; the others one by one. xxh3 has a formula
of its own for each of 1-3, 4-8 and 9-16 bytes (xxhash, `xxhash.h`: XXH3_len_1to3_64b and its neighbours): no loop, so
one formula serves a whole array of words. The results are xxhash's to the bit, so what was hashed one by one and what
was hashed here go into the same shingles.
"""

import re
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import xxhash

from curate.text import normalize

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Words = str | Sequence[str]  # an ASCII text, or the words of any text

PIECE = 1 << 16  # bytes hashed at once: the work stays in the second-level cache
LONGEST = 16  # bytes of a word hashed side by side
MOSTLY_ASCII = 1.1  # bytes a character up to which single words are the exception
MEMO_WORDS = 1 << 16  # then the memo is emptied: the frequent words are back after a page or two
MEMO_LENGTH = 32  # letters: longer words are URLs and strings that hardly come again

SPACES = np.frombuffer(bytes(code for code in range(128) if chr(code).isspace()), np.uint8)
BREAK = re.compile(r"[\t-\r\x1c-\x1f ]")
LOWER = np.arange(256, dtype=np.uint8)
LOWER[ord("A") : ord("Z") + 1] += 32
LOWER[SPACES] = 32

# xxh3's default secret, its words as the formulas for 1-3, 4-8 and 9-16 bytes take them (seed 0), and its primes.
FLIP_3 = np.uint64(0x396CFEB8 ^ 0xBE4BA423)
FLIP_8 = np.uint64(0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE)
FLIP_16_LOW = np.uint64(0x1F67B3B7A4A44072 ^ 0x78E5C0CC4EE679CB)
FLIP_16_HIGH = np.uint64(0x2172FFCC7DD05A82 ^ 0x8E2443F7744608B8)
PRIME_2 = np.uint64(0xC2B2AE3D27D4EB4F)
PRIME_3 = np.uint64(0x165667B19E3779F9)
PRIME_MX_1 = np.uint64(0x165667919E3779F9)
PRIME_MX_2 = np.uint64(0x9FB21C651E98DF25)


def _u(number: int) -> np.uint64:
    return np.uint64(number)


def _short(first: U64, size: U64) -> U64:
    """Words of 1 to 3 bytes; `first` is the word and what follows, little endian.

    The formula takes the bytes at 0, size / 2 and size - 1, which in a word of one byte are all the same.
    """
    middle = (first >> ((size >> _u(1)) << _u(3))) & _u(255)
    last = (first >> ((size - _u(1)) << _u(3))) & _u(255)
    h: U64 = (((first & _u(255)) << _u(16)) | (middle << _u(24)) | last | (size << _u(8))) ^ FLIP_3
    h ^= h >> _u(33)
    h *= PRIME_2
    h ^= h >> _u(29)
    h *= PRIME_3
    h ^= h >> _u(32)
    return h


def _medium(first: U64, last: U64, size: U64) -> U64:
    """Words of 4 to 8 bytes; `first` and `last` are their first and last 4 bytes."""
    h = (last + (first << _u(32))) ^ FLIP_8
    h ^= ((h << _u(49)) | (h >> _u(15))) ^ ((h << _u(24)) | (h >> _u(40)))
    h *= PRIME_MX_2
    h ^= (h >> _u(35)) + size
    h *= PRIME_MX_2
    h ^= h >> _u(28)
    return h


def _folded_product(a: U64, b: U64) -> U64:
    """The low half of the 128-bit product, exclusive or the high half."""
    half = _u(0xFFFFFFFF)
    low, cross = (a & half) * (b & half), (a >> _u(32)) * (b & half)
    middle = (low >> _u(32)) + (cross & half) + (a & half) * (b >> _u(32))
    high = (cross >> _u(32)) + (middle >> _u(32)) + (a >> _u(32)) * (b >> _u(32))
    high ^= (middle << _u(32)) | (low & half)
    return high


def _long(first: U64, last: U64, size: U64) -> U64:
    """Words of 9 to 16 bytes; `first` and `last` are their first and last 8 bytes."""
    low, high = first ^ FLIP_16_LOW, last ^ FLIP_16_HIGH
    h: U64 = size + low.byteswap() + high + _folded_product(low, high)
    h ^= h >> _u(37)
    h *= PRIME_MX_1
    h ^= h >> _u(32)
    return h


class _WordHashes(dict[str, int]):
    """Hashes of normalised words by the word as written, remembered. 0 stands for a word of which nothing is left."""

    def __missing__(self, word: str) -> int:
        normal = normalize(word)
        value = xxhash.xxh3_64_intdigest(normal.encode("utf-8", "surrogatepass")) if normal else 0
        if len(word) <= MEMO_LENGTH:
            if len(self) >= MEMO_WORDS:
                self.clear()
            self[word] = value
        return value


_HASHES = _WordHashes()


def _side_by_side(texts: Sequence[bytes]) -> tuple[U64, I64]:
    """Hashes of all words of some texts, and how many words each has; no white space but ASCII's in them."""
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    data = LOWER[np.frombuffer(b" ".join(texts) + b" " * 9, np.uint8)]
    space = data == 32
    edges = np.flatnonzero(space[1:] != space[:-1]) + 1
    if not space[0]:
        edges = np.concatenate([[0], edges])
    starts, ends = edges[0::2], edges[1::2]
    size = (ends - starts).astype(np.uint64)
    eight = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))  # the 8 bytes from each place on, without a copy
    first = eight[starts]
    hashes = np.empty(len(starts), np.uint64)
    some = np.flatnonzero(size < 4)
    hashes[some] = _short(first[some], size[some])
    some = np.flatnonzero((size > 3) & (size < 9))
    last = eight[np.maximum(ends[some] - 8, 0)]
    early = ends[some] < 8  # too near the start to be read from 8 bytes before the end
    last[early] = first[some][early] << ((_u(8) - size[some][early]) << _u(3))
    hashes[some] = _medium(first[some] & _u(0xFFFFFFFF), last >> _u(32), size[some])
    some = np.flatnonzero((size > 8) & (size <= LONGEST))
    hashes[some] = _long(first[some], eight[ends[some] - 8], size[some])
    other = size > LONGEST
    high = np.flatnonzero(data > 127)  # a word with such a byte is to be normalised, which is more than lower case
    if len(high):
        other[np.searchsorted(starts, high, "right") - 1] = True
    for word in np.flatnonzero(other).tolist():
        hashes[word] = _HASHES[data[starts[word] : ends[word]].tobytes().decode("utf-8", "surrogatepass")]
    begins = np.cumsum(sizes + 1) - sizes - 1
    counts = np.diff(np.append(np.searchsorted(starts, begins), len(starts)))
    return _without_empty(hashes, counts)


def _without_empty(hashes: U64, counts: I64) -> tuple[U64, I64]:
    """Leaves out words of which nothing is left."""
    if hashes.all():
        return hashes, counts
    left = hashes != 0
    return hashes[left], np.bincount(np.repeat(np.arange(len(counts)), counts)[left], minlength=len(counts))


def _one_by_one(words: Sequence[str]) -> tuple[U64, I64]:
    hashes = np.fromiter(map(_HASHES.__getitem__, words), np.uint64, len(words))
    return _without_empty(hashes, np.array([len(words)]))


def _pieces(text: str) -> Iterator[str]:
    """An ASCII text cut at white space into pieces of about PIECE bytes."""
    start = 0
    while start < len(text):
        cut = BREAK.search(text, start + PIECE)
        end = cut.start() if cut else len(text)
        yield text[start:end]
        start = end


def _encoded(text: Words) -> bytes | None:
    """A text's bytes where its words can be hashed side by side, else None."""
    if isinstance(text, str):
        return text.encode("ascii") if len(text) <= PIECE else None
    joined = " ".join(text)
    encoded = joined.encode("utf-8", "surrogatepass")
    return encoded if len(encoded) <= min(MOSTLY_ASCII * len(joined), PIECE) else None


def hashes_of(texts: Sequence[Words]) -> tuple[U64, I64]:
    """xxh3-64 (seed 0) of the UTF-8 bytes of each normalised word, text after text, and how many words each has.

    Words of which nothing is left are left out. The words of a normalised text are the normalised words of the
    text: nothing composes across white space.
    """
    parts: list[tuple[U64, I64]] = []
    run: list[bytes] = []
    held = 0
    for text in texts:
        encoded = _encoded(text)
        if encoded is not None:
            run.append(encoded)
            held += len(encoded)
        if run and (encoded is None or held >= PIECE):
            parts.append(_side_by_side(run))
            run, held = [], 0
        if encoded is None and isinstance(text, str):
            pieces = [_side_by_side([piece.encode("ascii")])[0] for piece in _pieces(text)]
            parts.append((np.concatenate(pieces), np.array([sum(map(len, pieces))])))
        elif encoded is None:
            parts.append(_one_by_one(text))
    if run:
        parts.append(_side_by_side(run))
    if not parts:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
