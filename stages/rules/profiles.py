"""The measures of published rule sets, each as that set takes them.

datatrove 0.10.0, DCLM 361714b, Dolma 669f534 (tagger gopher_v1), NeMo Curator 1e2e427. What a set does not
measure is None. Where a set divides by zero the measure is 0 here.
"""

import re
from collections.abc import Callable, Sequence
from statistics import median

from stages.rules import repeated
from stages.rules.paper import alphabetic_words
from stages.rules.repeated import Measured, share
from stages.rules.words import english_tokens, unicode_words

# What datatrove calls punctuation: marks, symbols, control characters.
_PUNCTUATION = frozenset(
    "!/—”:％１〈&(、━\\【#%「」，】；+^]~“《„';’{|∶´[=-`*．（–？！：$～«〉,><》)?）。…@_.\"}►»"
).union(map(chr, (*range(0, 9), *range(11, 32), *range(127, 160))))
_NEMO_BULLETS = ("•", "‣", "⁃", "⁌", "⁍", "∙", "○", "●", "◘", "◦", "⦾", "⦿")
_NEMO_ELLIPSES = ("...", "[...]", "…", "(...)", "[…]", "-»", "read more..", "read more")


def _line_share(lines: Sequence[str], holds: Callable[[str], bool]) -> float:
    return share(sum(map(holds, lines)), len(lines))


def datatrove(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """datatrove: punctuation marks are tokens, stop words are lower case, a lone n-gram counts as top."""
    tokens = english_tokens(text)
    spoken = [token for token in tokens if not _PUNCTUATION.issuperset(token)]
    lines = text.splitlines()
    return {
        "words": len(spoken),
        "mean_word_length": share(sum(map(len, spoken)), len(spoken)),
        "hash_ratio": share(text.count("#"), len(tokens)),
        "ellipsis_ratio": share(text.count("...") + text.count("…"), len(tokens)),
        "symbol_ratio": None,
        "bullet_line_ratio": _line_share(lines, lambda line: line.lstrip().startswith(("•", "-"))),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.rstrip().endswith(("...", "…"))),
        "alphabetic_word_ratio": share(alphabetic_words(tokens), len(tokens)),
        "stop_words": len(stop_words.intersection(tokens)),
        **repeated.datatrove(text, tokens),
    }


def dclm(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """DCLM: Unicode words for counts and n-grams, one sum of hashes and ellipses, all equal lines counted."""
    spoken = unicode_words(text)
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    return {
        "words": len(spoken),
        "mean_word_length": share(sum(map(len, words)), len(words)),
        "hash_ratio": None,
        "ellipsis_ratio": None,
        "symbol_ratio": share(sum(map(text.count, ("#", "...", ". . .", "…"))), len(words)),
        "bullet_line_ratio": _line_share(lines, lambda line: line.startswith(("●", "•", "*", "-"))),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.endswith(("...", ". . .", "…"))),
        "alphabetic_word_ratio": share(alphabetic_words(words), len(words)),
        "stop_words": sum(word.lower() in stop_words for word in words),
        **repeated.dclm(text, spoken),
    }


def dolma(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """Dolma: median word length, empty lines are lines, no paragraphs, overlapping n-grams add up."""
    lines = text.split("\n")
    return {
        "words": len(words),
        "mean_word_length": float(median(map(len, words))) if words else 0.0,
        "hash_ratio": None,
        "ellipsis_ratio": None,
        "symbol_ratio": share(sum("#" in word or "…" in word for word in words), len(words)),
        "bullet_line_ratio": _line_share(lines, lambda line: line.startswith(("*", "-"))),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.endswith("…")),
        "alphabetic_word_ratio": share(alphabetic_words(words), len(words)),
        "stop_words": sum(word in stop_words for word in words),
        **repeated.dolma(text, words),
    }


def nemo(text: str, words: Sequence[str], stop_words: frozenset[str]) -> Measured:
    """NeMo Curator: words that are symbols, twelve bullets, a text too short for an n-gram repeats it all."""
    lines = [line for line in text.split("\n") if line.strip()]
    symbols = sum(word in _NEMO_ELLIPSES or len(re.findall("#+", word)) / len(word) > 0.5 for word in words)
    return {
        "words": len(words),
        "mean_word_length": share(sum(map(len, words)), len(words)),
        "hash_ratio": None,
        "ellipsis_ratio": None,
        "symbol_ratio": share(symbols, len(words)),
        "bullet_line_ratio": _line_share(lines, lambda line: line.strip().startswith(_NEMO_BULLETS)),
        "ellipsis_line_ratio": _line_share(lines, lambda line: line.strip().lower().endswith(_NEMO_ELLIPSES)),
        "alphabetic_word_ratio": share(alphabetic_words(words), len(words)),
        "stop_words": sum(word in stop_words for word in words),
        **repeated.nemo(text, words),
    }
