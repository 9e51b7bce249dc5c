"""Where in a dropped text the cause lies: what its stage marks, and what a near copy has that its twin has not.

A stage marks causes with a static method `evidence(text, reason)` that gives (start, end) pairs.
"""

import re
from collections.abc import Iterable

from curate.inspect.limits import declared_of
from curate.text import MOST_WORDS, WORD, word_grams

Span = tuple[int, int]

SHARED = 3  # words in a row that two texts share


def spans(stage: str, reason: str, text: str) -> list[Span]:
    """The characters of a text that a reason is about, in order and apart; none where it is about the whole page."""
    marks = declared_of(stage).evidence
    return merged(marks(text, reason)) if marks else []


def unlike(text: str, twin: str) -> list[Span]:
    """What a near copy has and its twin has not: the words outside all runs of SHARED words that the twin has too."""
    known = {gram for gram, _ in word_grams(twin, SHARED)}
    shared = merged(span for gram, span in word_grams(text, SHARED) if gram in known)
    ends = [0, *(place for span in shared for place in span), min(len(text), _read_until(text))]
    gaps = zip(ends[::2], ends[1::2])
    return merged(
        (start + found.start(), start + found.end())
        for start, end in gaps
        for found in re.finditer(r"\S(?:.*\S)?", text[start:end], re.DOTALL)
    )


def _read_until(text: str) -> int:
    """Where the last word lies that n-grams are looked for in."""
    return max((found.end() for found, _ in zip(WORD.finditer(text), range(MOST_WORDS))), default=0)


def merged(found: Iterable[Span]) -> list[Span]:
    """Spans in order; those that overlap or touch become one."""
    result: list[Span] = []
    for start, end in sorted(span for span in found if span[1] > span[0]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result
