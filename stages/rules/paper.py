"""The measures of Rae et al. 2021 ("Gopher", section A1.1), where the paper leaves a choice as stated here.

Words are split at white space, as they stand. Lines are the non-empty ones. An ellipsis is a run of `...` or
`…`. Stop words are counted once each, in any case. Copies are counted after the first. Shares of characters
are shares of the characters of lines, paragraphs or words, white space between them left out.
"""

import re
from collections.abc import Sequence
from typing import Any

from stages.rules.n_grams import DUPLICATE_SIZES, TOP_SIZES, NGrams
from stages.rules.repetition import Segments, duplicate_ratios, segments

BULLETS = ("•", "‣", "●", "◦", "*", "-", "–")
ELLIPSES = ("...", "…")
_ELLIPSIS_RUN = re.compile(r"(?:\.{3,}|…)+")


def alphabetic_words(words: Sequence[str]) -> int:
    """Number of words with at least one letter (`str.isalpha`: `½` is none)."""
    count = len(words)
    for word in words:
        if not word.isalpha() and not word[0].isalpha() and not any(map(str.isalpha, word)):
            count -= 1
    return count


def ellipses(text: str) -> int:
    """Number of runs of three dots and more, and of `…`."""
    if "..." not in text and "…" not in text:
        return 0
    return len(_ELLIPSIS_RUN.findall(text))


def stop_words_in(words: Sequence[str], stop_words: frozenset[str]) -> int:
    """Number of distinct stop words among the words, in any case."""
    longest = max(map(len, stop_words), default=0)  # lower() never shortens a word
    return len(stop_words.intersection([word.lower() for word in set(words) if len(word) <= longest]))


def n_gram_ratios(grams: NGrams) -> dict[str, float]:
    """Share of the characters of all words under repeated n-grams; one under several n-grams counts once.

    For n = 2, 3, 4 those under the most frequent n-gram (of equally frequent ones the longest, 0 where none
    stands twice), for n = 5 ... 10 those under n-grams that have stood before.
    """
    ratios = {f"top_{size}_gram_ratio": 0.0 for size in TOP_SIZES}
    ratios |= {f"duplicate_{size}_gram_ratio": 0.0 for size in DUPLICATE_SIZES}
    for size, repeats in grams.repeats.items():
        if size in TOP_SIZES:
            places = grams.most_frequent(size, longest=True)
            ratios[f"top_{size}_gram_ratio"] = grams.covered(places, size) / grams.characters
        else:
            ratios[f"duplicate_{size}_gram_ratio"] = grams.covered(repeats.copies, size) / grams.characters
    return ratios


def repetition(blocks: Segments, words: Sequence[str]) -> dict[str, float]:
    """The measures of repetition (table A1) of a text's lines, paragraphs and words."""
    line_ratios, paragraph_ratios = duplicate_ratios(blocks.lines), duplicate_ratios(blocks.paragraphs)
    return {
        "duplicate_line_ratio": line_ratios[0],
        "duplicate_paragraph_ratio": paragraph_ratios[0],
        "duplicate_line_character_ratio": line_ratios[1],
        "duplicate_paragraph_character_ratio": paragraph_ratios[1],
        **n_gram_ratios(NGrams(words)),
    }


def measures(text: str, words: Sequence[str], stop_words: frozenset[str]) -> dict[str, Any]:
    """All measures of the profile `paper`; those of an empty text are 0."""
    count, blocks = len(words), segments(text)
    per_word, per_line, lines = max(count, 1), max(len(blocks.lines), 1), blocks.lines
    return {
        "words": count,
        "mean_word_length": len("".join(words)) / per_word,
        "hash_ratio": text.count("#") / per_word,
        "ellipsis_ratio": ellipses(text) / per_word,
        "symbol_ratio": None,
        "bullet_line_ratio": sum(line.startswith(BULLETS) for line in lines) / per_line,
        "ellipsis_line_ratio": sum(line.endswith(ELLIPSES) for line in lines) / per_line,
        "alphabetic_word_ratio": alphabetic_words(words) / per_word,
        "stop_words": stop_words_in(words, stop_words),
        **repetition(blocks, words),
    }
