"""Hashes of all windows of n tokens of many texts at once, in NumPy; and what a token is.

A window's hash is made of those of its halves by doubling (2, 4, 8, … tokens), and that of n tokens of two windows of
the largest power of two that overlap: log2(n) passes over the tokens, whatever n is. Two lanes, drawn apart, give a
key and bits that confirm it. There is no ring to roll in, so texts with regular repeats (Thue and Morse's, which break
polynomial hashes modulo 2^64) are hashed as well as any.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

# Scripts that put no space between words; each letter is a token there.
UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
TOKEN = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_UNSPACED = re.compile(rf"[{UNSPACED}]")

MEMO_WORDS = 1 << 17
MEMO_LENGTH = 32
# Two lanes of odd multipliers: the golden ratio's digits, and primes of xxHash and MurmurHash 3.
LEFT = np.array([[0x9E3779B97F4A7C15], [0xC2B2AE3D27D4EB4F]], np.uint64)
RIGHT = np.array([[0xFF51AFD7ED558CCD], [0x165667B19E3779F9]], np.uint64)
LAST = np.array([[0xC4CEB9FE1A85EC53], [0x9FB21C651E98DF25]], np.uint64)
HALF = np.uint64(32)
TWIST = np.uint64(29)


class _Hashes(dict[str, int]):
    """xxh3-64 of the UTF-8 bytes of tokens as they are written, remembered."""

    def __missing__(self, token: str) -> int:
        value = xxhash.xxh3_64_intdigest(token.encode("utf-8", "surrogatepass"))
        if len(token) <= MEMO_LENGTH:
            if len(self) >= MEMO_WORDS:
                self.clear()
            self[token] = value
        return value


_HASHES = _Hashes()


class Windows(NamedTuple):
    """The windows of some texts, text after text: their hashes, and how many each text has."""

    keys: U64
    checks: U64
    counts: I64


def tokens_of(text: str) -> list[str]:
    """Words between white space; in scripts without spaces single letters."""
    return text.split() if text.isascii() or not _UNSPACED.search(text) else TOKEN.findall(text)


def token_spans(text: str) -> list[tuple[int, int]]:
    """Where each token of `tokens_of` stands in the text, in characters."""
    return [match.span() for match in TOKEN.finditer(text)]


def with_gap(text: str, places: Sequence[tuple[int, int]], first: int, behind: int) -> tuple[int, int]:
    """Characters of the tokens `first` to `behind` - 1 and of the gap on one side: that behind them, unless only there
    a line ends, or nothing follows. `places` are those of all tokens."""
    start, end = places[first][0], places[behind - 1][1]
    before = places[first - 1][1] if first else 0
    after = places[behind][0] if behind < len(places) else len(text)
    if behind == len(places):
        return before, after
    line_ends = "\n" in text[end:after] and "\n" not in text[before:start]
    return (before, end) if first and line_ends else (start, after)


def _joined(left: U64, right: U64) -> U64:
    mixed = left * LEFT
    mixed ^= right * RIGHT
    mixed ^= mixed >> HALF
    mixed *= LAST
    mixed ^= mixed >> TWIST
    return mixed


def _of_size(tokens: U64, size: int) -> U64:
    """Hashes of the windows of `size` tokens, in two lanes: shape (2, len(tokens) - size + 1)."""
    hashes = np.stack([tokens, ~tokens])
    width = 1
    while 2 * width <= size:
        hashes = _joined(hashes[:, :-width], hashes[:, width:])
        width *= 2
    ahead = size - width
    return _joined(hashes[:, : hashes.shape[1] - ahead], hashes[:, ahead:]) if ahead else hashes


def windows(texts: Sequence[Sequence[str]], size: int) -> Windows:
    """The hashes of all windows of `size` tokens of each text; a shorter text has none. `size` is at least 2."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    counts = np.maximum(lengths - size + 1, 0)
    total = int(lengths.sum())
    if total < size:
        return Windows(np.empty(0, np.uint64), np.empty(0, np.uint64), counts)
    flat = np.fromiter((_HASHES[token] for text in texts for token in text), np.uint64, total)
    hashes = _of_size(flat, size)
    inside = np.repeat(np.cumsum(lengths) - lengths, counts)  # windows across two texts are left out
    inside += np.arange(len(inside)) - np.repeat(np.cumsum(counts) - counts, counts)
    return Windows(hashes[0, inside], hashes[1, inside], counts)
