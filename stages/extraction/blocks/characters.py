"""Kinds of characters, counted for all texts of a page at once. No kind belongs to one language."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

KINDS = LOWER, UPPER, DIGIT, SPACE, STOP, COMMA, POINT, IDEOGRAPH, SYMBOL = range(9)
STOPS = frozenset(".!?。！？…؟।")
COMMAS = frozenset(",،、，;；")
SYMBOLS = frozenset("|/\\•·»«›‹→©®")
# Scripts written without spaces, of which each character counts as a word: Han and kana, Hangul, Thai and Lao.
UNSPACED = ((0x2E80, 0xA4D0), (0xAC00, 0xD7B0), (0xF900, 0xFB00), (0x0E00, 0x0F00))
LAST = 0xFFFF


def _kind(code: int) -> int:
    character = chr(code)
    category = unicodedata.category(character)
    for characters, kind in ((STOPS, STOP), (COMMAS, COMMA), (SYMBOLS, SYMBOL)):
        if character in characters:
            return kind
    if category[0] in "ZC":
        return SPACE
    if any(first <= code < end for first, end in UNSPACED):
        return IDEOGRAPH
    if category in ("Lu", "Lt"):
        return UPPER
    return {"L": LOWER, "M": LOWER, "N": DIGIT, "S": SYMBOL}.get(category[0], POINT)


@lru_cache(maxsize=1)
def kinds() -> NDArray[np.uint8]:
    """The kind of each character up to U+FFFF; the last entry stands for those beyond."""
    table = np.array([_kind(code) for code in range(LAST + 1)], np.uint8)
    table[LAST] = LOWER
    return table


def count(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Characters of each kind (texts x KINDS), and the words of each text.

    A word is a run of letters and digits, or one character of a script without spaces.
    """
    total = len(texts)
    lengths = np.fromiter(map(len, texts), np.int64, total)
    joined = "".join(texts)
    if joined.isascii():
        kind = kinds()[np.frombuffer(joined.encode("ascii"), np.uint8)]
    else:
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        kind = kinds()[np.minimum(codes, LAST)]
    text = np.repeat(np.arange(0, total * len(KINDS), len(KINDS)), lengths)
    counts = np.bincount(text + kind, minlength=total * len(KINDS)).reshape(total, len(KINDS))
    wordy = kind <= DIGIT
    begins = np.flatnonzero(wordy[1:] & (~wordy[:-1] | (text[1:] != text[:-1]))) + 1
    words = np.bincount(text[begins] // len(KINDS), minlength=total)
    if len(wordy) and wordy[0]:
        words[text[0] // len(KINDS)] += 1
    return counts, words + counts[:, IDEOGRAPH]
