"""Kinds of characters, counted for all texts of a page at once. No kind belongs to one language."""

import re
import unicodedata
from functools import lru_cache
from html import unescape

import numpy as np
from numpy.typing import NDArray

from stages.extraction.blocks.tags import Ints

KINDS = LOWER, UPPER, DIGIT, SPACE, STOP, COMMA, POINT, IDEOGRAPH, SYMBOL = range(9)
NOTHING, ROWS = 9, 10  # a kind for what is not there, and how many there are with it
STOPS = frozenset(".!?。！？…؟।")
COMMAS = frozenset(",،、，;；")
SYMBOLS = frozenset("|/\\•·»«›‹→©®")
# Scripts written without spaces, of which each character counts as a word: Han and kana, Hangul, Thai and Lao.
UNSPACED = ((0x2E80, 0xA4D0), (0xAC00, 0xD7B0), (0xF900, 0xFB00), (0x0E00, 0x0F00))
LAST = 0xFFFF
REFERENCE = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});?")


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
    table[0] = NOTHING
    return table


_BYTES = np.append(kinds()[:128], np.full(128, NOTHING, np.uint8))


def count(texts: bytes, lengths: Ints) -> tuple[Ints, Ints]:
    """Characters of each kind (KINDS, texts), and the words of each text; the texts one after another in UTF-8.

    A word is a run of letters and digits, or one character of a script without spaces.
    """
    total = len(lengths)
    if b"&" in texts:
        texts = REFERENCE.sub(_padded, texts)
    text, kind = np.repeat(np.arange(total), lengths), kinds_of(texts)
    if not texts.isascii() or b"\0" in texts:
        seen = kind != NOTHING
        text, kind = text[seen], kind[seen]
    counts = np.bincount(np.multiply(kind, total, dtype=np.int64) + text, minlength=total * ROWS).reshape(ROWS, total)
    wordy = kind <= DIGIT
    begins = wordy[1:] & (~wordy[:-1] | (text[1:] != text[:-1]))
    words = np.bincount(text[1:][begins], minlength=total) + counts[IDEOGRAPH]
    if len(wordy) and wordy[0]:
        words[text[0]] += 1
    return counts[: len(KINDS)], words


def kinds_of(texts: bytes) -> NDArray[np.uint8]:
    """The kind of each byte of a text in UTF-8: that of the character for its first byte, NOTHING for its others."""
    raw = np.frombuffer(texts, np.uint8)
    kind = _BYTES[raw]
    if not texts.isascii():
        place = np.flatnonzero(raw >= 0xC0)
        first, second, third = (raw.take(place + by, mode="clip").astype(np.int64) for by in range(3))
        code = np.where(
            first < 0xE0,
            (first & 0x1F) << 6 | second & 0x3F,
            np.where(first < 0xF0, (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F, LAST),
        )
        kind[place] = kinds()[code]
    return kind


def _padded(reference: re.Match[bytes]) -> bytes:
    """What a reference stands for, zero bytes behind it so that it is as long; itself where that is longer."""
    written = reference[0]
    meant = _meant(written)
    return meant.ljust(len(written), b"\0") if len(meant) <= len(written) else written


@lru_cache(maxsize=1024)
def _meant(reference: bytes) -> bytes:
    return unescape(reference.decode()).encode("utf-8", "replace")
