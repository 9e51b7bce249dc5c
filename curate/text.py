"""Text in the one form that the whole belt agrees on."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

# Zero-width marks: joiners, direction marks, word joiner, BOM, soft hyphen. They change bytes, not what is read.
ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# Control characters that are no white space, and code points that are no characters.
UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def clean(text: str) -> str:
    """Text fit to be stored: NFC, valid UTF-8, no NUL, control characters, lone surrogates or non-characters."""
    if text.isascii():
        return UNPRINTABLE.sub("", text)
    return unicodedata.normalize("NFC", UNPRINTABLE.sub("", text))


def normalize(text: str) -> str:
    """Text as the dedup stages compare it: NFC, case folded, zero-width marks out, white space runs one space.

    White space is what `str.split` takes for it, NBSP and U+2028 included.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", ZERO_WIDTH.sub("", unicodedata.normalize("NFC", text).casefold()))
    return " ".join(folded.split())


def unstorable(value: Any) -> str | None:
    """The first string in a plain value (keys included) with NUL or a lone surrogate, which no file can hold."""
    if isinstance(value, str):
        return value if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value) else None
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, list | tuple):
        return next((found for part in value if (found := unstorable(part)) is not None), None)
    return None
