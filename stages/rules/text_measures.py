"""The common measures of a text, as `where` names them: sizes, shares of kinds of characters, repetition.

Shares are of all characters, white space among them; those of an empty text are 0. Where Data-Juicer has a filter
for one, its definition is taken (datajuicer 1.6): what differs is told in `docs/stages/where.md`.
"""

import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

WORD_RUN = CHARACTER_RUN = 10  # what repeats, in words and characters (Data-Juicer's rep_len)

TYPES: Mapping[str, pa.DataType] = {
    **dict.fromkeys(("characters", "words", "lines", "longest_line", "longest_word"), pa.int64()),
    **dict.fromkeys(
        (
            "mean_line_length",
            "mean_word_length",
            "letter_ratio",
            "digit_ratio",
            "alphanumeric_ratio",
            "capital_ratio",
            "punctuation_ratio",
            "white_space_ratio",
            "special_character_ratio",
            "unique_word_ratio",
            "flagged_word_ratio",
            "stop_word_ratio",
            "word_repetition_ratio",
            "character_repetition_ratio",
            "compression_ratio",
        ),
        pa.float64(),
    ),
}
_KINDS = ("letter", "digit", "alphanumeric", "capital", "punctuation", "white_space", "special_character")


@lru_cache(maxsize=1 << 16)
def _kinds(letter: str) -> tuple[bool, ...]:
    """Whether a character is of each kind; special is what is neither letter nor a mark upon one."""
    category = unicodedata.category(letter)
    return (
        letter.isalpha(),
        letter.isdigit(),
        letter.isalnum(),
        letter.isupper(),
        category[0] == "P",
        letter.isspace(),
        category[0] not in "LM",
    )


def character_shares(text: str) -> dict[str, float]:
    """The share of each kind of character."""
    counts, sums = Counter(text), [0] * len(_KINDS)
    for letter, count in counts.items():
        for place, is_one in enumerate(_kinds(letter)):
            if is_one:
                sums[place] += count
    return {f"{kind}_ratio": found / max(len(text), 1) for kind, found in zip(_KINDS, sums, strict=True)}


def bare_words(text: str) -> list[str]:
    """The words in lower case without the special characters at their ends; those of special characters alone left
    out."""
    return [bare for word in text.lower().split() if (bare := word if word.isalpha() else _bare(word))]


def _bare(word: str) -> str:
    start, end = 0, len(word)
    while start < end and _kinds(word[start])[-1]:
        start += 1
    while end > start and _kinds(word[end - 1])[-1]:
        end -= 1
    return word[start:end]


def _run_counts(codes: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """How often each different run of so many codes stands in the row; nothing where the row is shorter.

    Runs are told apart by 64-bit hashes, which for a row of a million err once in 30 million rows.
    """
    runs = len(codes) - size + 1
    if runs < 1:
        return np.zeros(0, np.int64)
    hashes = np.zeros(runs, np.uint64)
    for place in range(size):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + (codes[place : place + runs] + np.uint64(0x7F4A7C15))
    hashes.sort()
    edges = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1], [True])))
    return np.diff(edges)


def word_repetition_ratio(words: Sequence[str]) -> float:
    """Share of the runs of ten words that stand twice or more."""
    number = dict(zip(words, range(len(words)), strict=True))
    codes = np.fromiter(map(number.__getitem__, words), np.uint64, len(words))
    counts = _run_counts(codes, WORD_RUN)
    return float(counts[counts > 1].sum() / max(counts.sum(), 1))


def character_repetition_ratio(text: str) -> float:
    """Share of the runs of ten characters under the most frequent ones: as many as the root of all different runs,
    none of them single."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    counts = np.sort(_run_counts(codes, CHARACTER_RUN))[::-1]
    most = min(math.isqrt(len(counts)), int((counts > 1).sum()))
    return float(counts[:most].sum() / max(counts.sum(), 1))


def compression_ratio(text: str) -> float:
    """Bytes after deflate (level 6) over bytes before; 0 of an empty text."""
    data = text.encode("utf-8", "surrogatepass")
    return len(zlib.compress(data, 6)) / len(data) if data else 0.0


def measures(
    text: str, words: Sequence[str], flagged: frozenset[str] | None, stop_words: frozenset[str] | None
) -> dict[str, Any]:
    """All of `TYPES`; shares of listed words are None without their list."""
    lines, lengths = text.splitlines(), list(map(len, words))
    bare = bare_words(text)
    count = max(len(bare), 1)
    return {
        "characters": len(text),
        "words": len(words),
        "lines": len(lines),
        "longest_line": max(map(len, lines), default=0),
        "longest_word": max(lengths, default=0),
        "mean_line_length": len(text) / max(len(lines), 1),
        "mean_word_length": sum(lengths) / max(len(words), 1),
        **character_shares(text),
        "unique_word_ratio": len(set(bare)) / count,
        "flagged_word_ratio": None if flagged is None else sum(word in flagged for word in bare) / count,
        "stop_word_ratio": None if stop_words is None else sum(word in stop_words for word in bare) / count,
        "word_repetition_ratio": word_repetition_ratio(bare),
        "character_repetition_ratio": character_repetition_ratio(text),
        "compression_ratio": compression_ratio(text),
    }
