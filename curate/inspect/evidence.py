"""Where in a dropped text the cause lies: what its stage marks, and what a near copy has that its twin has not.

A stage marks causes with a static method `evidence(text, reason)` that gives (start, end) pairs.
"""

import re
from collections.abc import Iterable

from curate.inspect.limits import declared_of

Span = tuple[int, int]

_WORD = re.compile(r"\S+")
SHARED = 3  # words in a row that two texts share
MOST_WORDS = 20_000  # of a text that n-grams are looked for in


def spans(stage: str, reason: str, text: str) -> list[Span]:
    """The characters of a text that a reason is about, in order and apart; none where it is about the whole page."""
    marks = declared_of(stage).evidence
    return merged(marks(text, reason)) if marks else []


def unlike(text: str, twin: str) -> list[Span]:
    """What a near copy has and its twin has not: the words outside all runs of SHARED words that the twin has too."""
    known = {gram for gram, _ in _grams(twin, SHARED)}
    shared = merged(span for gram, span in _grams(text, SHARED) if gram in known)
    ends = [0, *(place for span in shared for place in span), min(len(text), _read_until(text))]
    gaps = zip(ends[::2], ends[1::2])
    return merged(
        (start + found.start(), start + found.end())
        for start, end in gaps
        for found in re.finditer(r"\S(?:.*\S)?", text[start:end], re.DOTALL)
    )


def _read_until(text: str) -> int:
    """Where the last word lies that n-grams are looked for in."""
    return max((found.end() for found, _ in zip(_WORD.finditer(text), range(MOST_WORDS))), default=0)


def merged(found: Iterable[Span]) -> list[Span]:
    """Spans in order; those that overlap or touch become one."""
    result: list[Span] = []
    for start, end in sorted(span for span in found if span[1] > span[0]):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _grams(text: str, length: int) -> list[tuple[tuple[str, ...], Span]]:
    words = [(found.group(), found.span()) for found, _ in zip(_WORD.finditer(text), range(MOST_WORDS))]
    return [
        (
            tuple(word for word, _ in words[start : start + length]),
            (words[start][1][0], words[start + length - 1][1][1]),
        )
        for start in range(len(words) - length + 1)
    ]
