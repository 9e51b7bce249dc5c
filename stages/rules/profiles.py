"""The measures of published rule sets, each as that set takes them.

datatrove 0.10.0, DCLM 361714b, Dolma 669f534 (tagger gopher_v1), NeMo Curator 1e2e427. What a set does not
measure is None. Where a set divides by zero the measure is 0 here.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from stages.rules.n_grams import DUPLICATE_SIZES, TOP_SIZES, NGrams
from stages.rules.paper import alphabetic_words
from stages.rules.words import english_tokens, unicode_words

Measured = dict[str, Any]
_Ratio = Callable[[NGrams, int, str], float | None]

# What datatrove calls punctuation: marks, symbols, control characters.
_PUNCTUATION = frozenset(
    "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»"
).union(map(chr, (*range(0, 9), *range(11, 32), *range(127, 160))))
_NEMO_BULLETS = ("•", "‣", "⁃", "⁌", "⁍", "∙", "○", "●", "◘", "◦", "⦾", "⦿")
_NEMO_ELLIPSES = ("...", "[...]", "…", "(...)", "[…]", "-»", "read more..", "read more")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _line_share(lines: Sequence[str], holds: Callable[[str], bool]) -> float:
    return _share(sum(map(holds, lines)), len(lines))


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
    whole = sum(map(len, items)) if characters is None else characters
    return {
        f"duplicate_{kind}_ratio": _share(len(items) - len(distinct), len(items)),
        f"duplicate_{kind}_character_ratio": _share(copied, whole),
    }


def _members(items: Sequence[str], kind: str, characters: int | None = None) -> Measured:
    """Items that stand more than once, the first among them; characters as in `_copies`."""
    repeated = [(item, count) for item, count in Counter(items).items() if count > 1]
    whole = sum(map(len, items)) if characters is None else characters
    return {
        f"duplicate_{kind}_ratio": _share(sum(count for _, count in repeated), len(items)),
        f"duplicate_{kind}_character_ratio": _share(sum(len(item) * n for item, n in repeated), whole),
    }


def _datatrove_top(grams: NGrams, size: int, text: str) -> float | None:
    places = grams.most_frequent(size)
    if not len(places):
        return None
    gram = " ".join(grams.words[places[0] : places[0] + size])
    return _share(len(gram) * len(places), len(text))


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
    return _share(copied, len(text))


def datatrove(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """datatrove: punctuation marks are tokens, stop words are lower case, a lone n-gram counts as top."""
    tokens = english_tokens(text)
    spoken = [token for token in tokens if not _PUNCTUATION.issuperset(token)]
    lines, stripped = text.splitlines(), text.strip()
    blocks = {"line": re.split("\n+", stripped), "paragraph": re.split("\n{2,}", stripped)}
    return {
        "words": len(spoken),
        "mean_word_length": _share(sum(map(len, spoken)), len(spoken)),
        "hash_ratio": _share(text.count("#"), len(tokens)),
        "ellipsis_ratio": _share(text.count("...") + text.count("…"), len(tokens)),
        "symbol_ratio": None,
        "bullet_line_ratio": _line_share(lines, lambda line: line.lstrip().startswith(("•", "-"))),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.rstrip().endswith(("...", "…"))),
        "alphabetic_word_ratio": _share(alphabetic_words(tokens), len(tokens)),
        "stop_words": len(stop_words.intersection(tokens)),
        **_copies(blocks["line"], "line", len(text)),
        **_copies(blocks["paragraph"], "paragraph", len(text)),
        **_n_grams(tokens, text, _datatrove_top, _datatrove_duplicate),
    }


def _dclm_top(grams: NGrams, size: int, text: str) -> float:
    if size not in grams.repeats:
        return 0.0
    places = grams.most_frequent(size, longest=True)
    return _share(int(grams.lengths(places, size).sum()), grams.characters)


def _dclm_duplicate(grams: NGrams, size: int, text: str) -> float:
    repeats = grams.repeats.get(size)
    return _share(grams.covered(np.sort(repeats.places), size), grams.characters) if repeats else 0.0


def dclm(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """DCLM: Unicode words for counts and n-grams, one sum of hashes and ellipses, all equal lines counted."""
    spoken = unicode_words(text)
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    paragraphs = [block for block in map(str.strip, text.split("\n\n")) if block]
    return {
        "words": len(spoken),
        "mean_word_length": _share(sum(map(len, words)), len(words)),
        "hash_ratio": None,
        "ellipsis_ratio": None,
        "symbol_ratio": _share(sum(map(text.count, ("#", "...", ". . .", "…"))), len(words)),
        "bullet_line_ratio": _line_share(lines, lambda line: line.startswith(("●", "•", "*", "-"))),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.endswith(("...", ". . .", "…"))),
        "alphabetic_word_ratio": _share(alphabetic_words(words), len(words)),
        "stop_words": sum(word.lower() in stop_words for word in words),
        **(_members(lines, "line") if len(lines) > 1 else _copies([], "line")),
        **(_members(paragraphs, "paragraph") if len(paragraphs) > 1 else _copies([], "paragraph")),
        **_n_grams(spoken, text, _dclm_top, _dclm_duplicate),
    }


def _dolma_top(grams: NGrams, size: int, text: str) -> float | None:
    places = grams.most_frequent(size)
    return _share(int(grams.lengths(places, size).sum()), grams.characters) if len(places) else None


def _dolma_duplicate(grams: NGrams, size: int, text: str) -> float | None:
    if len(grams.words) < size:
        return None
    repeats = grams.repeats.get(size)
    repeated = int(grams.lengths(repeats.places, size).sum()) if repeats else 0
    return _share(repeated, int(grams.lengths(np.arange(len(grams.words) - size + 1), size).sum()))


def dolma(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """Dolma: median word length, empty lines are lines, no paragraphs, overlapping n-grams add up."""
    lines = text.split("\n")
    return {
        "words": len(words),
        "mean_word_length": float(median(map(len, words))) if words else 0.0,
        "hash_ratio": None,
        "ellipsis_ratio": None,
        "symbol_ratio": _share(sum("#" in word or "…" in word for word in words), len(words)),
        "bullet_line_ratio": _line_share(lines, lambda line: line.startswith(("*", "-"))),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.endswith("…")),
        "alphabetic_word_ratio": _share(alphabetic_words(words), len(words)),
        "stop_words": sum(word in stop_words for word in words),
        **_members(lines, "line", sum(map(len, words))),
        "duplicate_paragraph_ratio": None,
        "duplicate_paragraph_character_ratio": None,
        **_n_grams(words, text, _dolma_top, _dolma_duplicate),
    }


def _nemo_top(grams: NGrams, size: int, text: str) -> float:
    places = grams.most_frequent(size)
    if not len(places):
        return 1.0
    gram = " ".join(grams.words[places[0] : places[0] + size])
    return _share(len(text) - len(text.replace(gram, "")), len(text))


def _nemo_duplicate(grams: NGrams, size: int, text: str) -> float:
    """Characters of copies with the spaces within; where copies overlap, each counts what is new in it."""
    if len(grams.words) < size:
        return 1.0
    repeats = grams.repeats.get(size)
    if repeats is None:
        return 0.0
    fresh = np.minimum(np.diff(repeats.copies, prepend=repeats.copies[0] - size), size)
    spaces = int(np.minimum(fresh, size - 1).sum())
    return _share(grams.covered(repeats.copies, size) + spaces, len(text))


def nemo(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """NeMo Curator: words that are symbols, twelve bullets, a text too short for an n-gram repeats it all."""
    lines = [line for line in text.split("\n") if line.strip()]
    symbols = sum(word in _NEMO_ELLIPSES or len(re.findall("#+", word)) / len(word) > 0.5 for word in words)
    return {
        "words": len(words),
        "mean_word_length": _share(sum(map(len, words)), len(words)),
        "hash_ratio": None,
        "ellipsis_ratio": None,
        "symbol_ratio": _share(symbols, len(words)),
        "bullet_line_ratio": _line_share(lines, lambda line: line.strip().startswith(_NEMO_BULLETS)),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.strip().lower().endswith(_NEMO_ELLIPSES)),
        "alphabetic_word_ratio": _share(alphabetic_words(words), len(words)),
        "stop_words": sum(word in stop_words for word in words),
        **_copies(lines, "line"),
        **_copies(text.split("\n\n"), "paragraph"),
        **_n_grams(words, text, _nemo_top, _nemo_duplicate),
    }
