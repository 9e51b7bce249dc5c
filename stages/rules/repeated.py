"""How the published rule sets measure repetition, each as that set does (versions: `stages.rules.profiles`).

What a set does not measure is None. Where a set divides by zero the measure is 0 here.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stages.rules.n_grams import DUPLICATE_SIZES, TOP_SIZES, NGrams

Measured = dict[str, Any]
_Ratio = Callable[[NGrams, int, str], float | None]


def share(part: float, total: float) -> float:
    """A part of a whole; 0 of nothing."""
    return part / total if total else 0.0


def _n_grams(words: Sequence[str], text: str, top: _Ratio, duplicate: _Ratio) -> Measured:
    """Both n-gram families under their measures' names."""
    grams = NGrams(words)
    return {
        **{f"top_{size}_gram_ratio": top(grams, size, text) for size in TOP_SIZES},
        **{f"duplicate_{size}_gram_ratio": duplicate(grams, size, text) for size in DUPLICATE_SIZES},
    }


def _copies(items: Sequence[str], kind: str, characters: int | None = None) -> Measured:
    """Items that are copies of an earlier one; characters against `characters`, else those of the items."""
    distinct = set(items)
    copied = sum(map(len, items)) - sum(map(len, distinct))
    total = sum(map(len, items)) if characters is None else characters
    return {
        f"duplicate_{kind}_ratio": share(len(items) - len(distinct), len(items)),
        f"duplicate_{kind}_character_ratio": share(copied, total),
    }


def _members(items: Sequence[str], kind: str, characters: int | None = None) -> Measured:
    """Items that stand more than once, the first among them; characters as in `_copies`."""
    repeated = [(item, count) for item, count in Counter(items).items() if count > 1]
    total = sum(map(len, items)) if characters is None else characters
    return {
        f"duplicate_{kind}_ratio": share(sum(count for _, count in repeated), len(items)),
        f"duplicate_{kind}_character_ratio": share(sum(len(item) * n for item, n in repeated), total),
    }


def _datatrove_top(grams: NGrams, size: int, text: str) -> float | None:
    places = grams.most_frequent(size)
    if not len(places):
        return None
    gram = " ".join(grams.words[places[0] : places[0] + size])
    return share(len(gram) * len(places), len(text))


def _datatrove_duplicate(grams: NGrams, size: int, text: str) -> float:
    """From left to right: a copy counts and is skipped whole, so what starts inside it is not met."""
    repeats = grams.repeats.get(size)
    if repeats is None:
        return 0.0
    order = repeats.places.argsort()
    seen, copied, unmet = set(), 0, 0
    for place, group in zip(repeats.places[order].tolist(), repeats.groups[order].tolist()):
        if place < unmet:
            continue
        if group in seen:
            copied += int(grams.ends[place + size] - grams.ends[place])
            unmet = place + size
        seen.add(group)
    return share(copied, len(text))


def datatrove(text: str, tokens: Sequence[str]) -> Measured:
    """Of datatrove's tokens; copies after the first, against all characters of the text."""
    stripped = text.strip()
    return {
        **_copies(re.split("\n+", stripped), "line", len(text)),
        **_copies(re.split("\n{2,}", stripped), "paragraph", len(text)),
        **_n_grams(tokens, text, _datatrove_top, _datatrove_duplicate),
    }


def _dclm_top(grams: NGrams, size: int, text: str) -> float:
    if size not in grams.repeats:
        return 0.0
    places = grams.most_frequent(size, longest=True)
    return share(int(grams.lengths(places, size).sum()), grams.characters)


def _dclm_duplicate(grams: NGrams, size: int, text: str) -> float:
    repeats = grams.repeats.get(size)
    return share(grams.covered(np.sort(repeats.places), size), grams.characters) if repeats else 0.0


def dclm(text: str, words: Sequence[str]) -> Measured:
    """Of Unicode words; all equal lines count, a lone line is no copy."""
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    paragraphs = [block for block in map(str.strip, text.split("\n\n")) if block]
    return {
        **(_members(lines, "line") if len(lines) > 1 else _copies([], "line")),
        **(_members(paragraphs, "paragraph") if len(paragraphs) > 1 else _copies([], "paragraph")),
        **_n_grams(words, text, _dclm_top, _dclm_duplicate),
    }


def _dolma_top(grams: NGrams, size: int, text: str) -> float | None:
    places = grams.most_frequent(size)
    return share(int(grams.lengths(places, size).sum()), grams.characters) if len(places) else None


def _dolma_duplicate(grams: NGrams, size: int, text: str) -> float | None:
    if len(grams.words) < size:
        return None
    repeats = grams.repeats.get(size)
    repeated = int(grams.lengths(repeats.places, size).sum()) if repeats else 0
    return share(repeated, int(grams.lengths(np.arange(len(grams.words) - size + 1), size).sum()))


def dolma(text: str, words: Sequence[str]) -> Measured:
    """Of words at white space; empty lines are lines, there are no paragraphs."""
    return {
        **_members(text.split("\n"), "line", sum(map(len, words))),
        "duplicate_paragraph_ratio": None,
        "duplicate_paragraph_character_ratio": None,
        **_n_grams(words, text, _dolma_top, _dolma_duplicate),
    }


def _nemo_top(grams: NGrams, size: int, text: str) -> float:
    places = grams.most_frequent(size)
    if not len(places):
        return 1.0
    gram = " ".join(grams.words[places[0] : places[0] + size])
    return share(len(text) - len(text.replace(gram, "")), len(text))


def _nemo_duplicate(grams: NGrams, size: int, text: str) -> float:
    """Characters of copies with the spaces within; where copies overlap, each counts what is new in it."""
    if len(grams.words) < size:
        return 1.0
    repeats = grams.repeats.get(size)
    if repeats is None:
        return 0.0
    fresh = np.minimum(np.diff(repeats.copies, prepend=repeats.copies[0] - size), size)
    spaces = int(np.minimum(fresh, size - 1).sum())
    return share(grams.covered(repeats.copies, size) + spaces, len(text))


def nemo(text: str, words: Sequence[str]) -> Measured:
    """Of words at white space; a text too short for an n-gram repeats it all."""
    return {
        **_copies([line for line in text.split("\n") if line.strip()], "line"),
        **_copies(text.split("\n\n"), "paragraph"),
        **_n_grams(words, text, _nemo_top, _nemo_duplicate),
    }
