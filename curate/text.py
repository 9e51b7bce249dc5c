"""Text in the one form that the whole belt agrees on."""

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

# Zero-width marks: joiners, direction marks, word joiner, BOM, soft hyphen. They change bytes, not what is read.
ZERO_WIDTH = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# Control characters that are no white space, and code points that are no characters.
UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")

TOKENS_PER_WORD = 4 / 3
WORD = re.compile(r"\S+")
MOST_WORDS = 20_000  # of a text that n-grams with their places are looked for in

# Unicode's Stream-Safe Text Format (UAX #15, section 13): at most so many combining marks in a row, since ordering n of
# them takes n^2 steps; a grapheme joiner, which is seen by nobody, begins the next row.
MOST_MARKS = 30
JOINER = "\u034f"
# Marks are neither word characters nor white space; what else is neither costs a closer look and no more.
LONG_RUN = re.compile(rf"[^\x00-\x7f\w\s]{{{MOST_MARKS // 3 + 1},}}")  # one character is up to three marks

BEYOND = re.compile(rf"[^\x00-\x7f]{{{MOST_MARKS // 3 + 1}}}")  # found in a third of the time


def stream_safe(text: str) -> str:
    """The text with U+034F after every 30 combining marks in a row, so that NFC takes time linear in its length."""
    return LONG_RUN.sub(_bounded, text) if BEYOND.search(text) else text


def _bounded(run: re.Match[str]) -> str:
    parts: list[str] = []
    marks = _marks(run.string[run.start() - 1])[1] if run.start() else 0  # those of the letter that bears the run
    for letter in run[0]:
        leading, trailing, alone = _marks(letter)
        if marks + leading > MOST_MARKS:
            parts.append(JOINER)
            marks = 0
        marks = marks + leading if alone else trailing
        parts.append(letter)
    return "".join(parts)


def _marks(letter: str) -> tuple[int, int, bool]:
    """Of a decomposed character: how many marks it begins with and ends with, and whether it is nothing else."""
    combining = [unicodedata.combining(part) != 0 for part in unicodedata.normalize("NFD", letter)]
    if all(combining):
        return len(combining), len(combining), True
    return combining.index(False), combining[::-1].index(False), False


def clean(text: str) -> str:
    """Text fit to be stored: NFC, valid UTF-8, no NUL, control characters, lone surrogates or non-characters.

    Longer runs of combining marks than `MOST_MARKS` are broken by a grapheme joiner.
    """
    if text.isascii():
        return UNPRINTABLE.sub("", text)
    return unicodedata.normalize("NFC", stream_safe(UNPRINTABLE.sub("", text)))


def normalize(text: str) -> str:
    """Text as the dedup stages compare it: NFC, case folded, zero-width marks out, white space runs one space.

    White space is what `str.split` takes for it, NBSP and U+2028 included.
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = ZERO_WIDTH.sub("", unicodedata.normalize("NFC", stream_safe(text)).casefold())
    return " ".join(unicodedata.normalize("NFC", stream_safe(folded)).split())


# Scripts that are written without spaces between words: Thai, Lao, Burmese, Khmer and their extensions, kana, Han.
UNSPACED_SCRIPTS = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u109f\u1780-\u17d3\u19e0-\u19ff\ua9e0-\ua9fe\uaa60-\uaa7f"
    "\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe\u31f0-\u31ff\uff66-\uff9f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")
UNSPACED_LETTER = re.compile(rf"[{UNSPACED_SCRIPTS}](?:(?!\w)[{UNSPACED_SCRIPTS}])*")  # with the marks that it bears


def segmented(text: str) -> str:
    """The text with each letter of a script without spaces as a word of its own; no other text is changed.

    So windows of words are windows of letters there: no dictionary and no model says where a word would end.
    """
    return UNSPACED_LETTER.sub(r" \g<0> ", text)


def unstorable(value: Any) -> str | None:
    """The first string in a plain value (keys included) with NUL or a lone surrogate, which no file can hold."""
    if isinstance(value, str):
        return value if "\0" in value or not _encodable(value) else None
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, list | tuple):
        return next((found for part in value if (found := unstorable(part)) is not None), None)
    return None


def _encodable(text: str) -> bool:
    """Whether a text has no lone surrogate; encoding it is far quicker than a look at each letter."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def estimated_tokens(words: int, unspaced: int = 0, tokens_per_word: float = TOKENS_PER_WORD) -> int:
    """Tokens to expect of so many words, and one for each of the characters of scripts that are written unspaced.

    Rounded to the nearest; an English token is about three quarters of a word ("Pretraining at scale", 1k).
    """
    return math.floor(words * tokens_per_word + unspaced + 0.5)


def word_grams(text: str, length: int) -> list[tuple[tuple[str, ...], tuple[int, int]]]:
    """The n-grams of `length` words at white space of a text's first MOST_WORDS, each with its span of characters."""
    words = [(found.group(), found.span()) for found, _ in zip(WORD.finditer(text), range(MOST_WORDS))]
    return [
        (
            tuple(word for word, _ in words[start : start + length]),
            (words[start][1][0], words[start + length - 1][1][1]),
        )
        for start in range(len(words) - length + 1)
    ]
