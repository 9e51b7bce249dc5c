"""Repeated lines and paragraphs of a text (Rae et al. 2021, section A1.1, table A1)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_PARAGRAPH_BREAK = re.compile("\n{2,}")


class Segments(NamedTuple):
    """The non-empty lines and paragraphs of a text, without the white space around each line."""

    lines: list[str]
    paragraphs: list[str]


def segments(text: str) -> Segments:
    """Non-empty lines, and paragraphs: runs of lines between empty ones."""
    stripped = list(map(str.strip, text.splitlines()))
    lines = list(filter(None, stripped))
    if len(lines) == len(stripped):
        return Segments(lines, ["\n".join(lines)] if lines else [])
    block = "\n".join(stripped).strip("\n")
    return Segments(lines, _PARAGRAPH_BREAK.split(block) if block else [])


def duplicate_ratios(items: Sequence[str]) -> tuple[float, float]:
    """Share of items, and of their characters, that are copies of an item before them."""
    if len(items) < 2:
        return 0.0, 0.0
    distinct = set(items)
    if len(distinct) == len(items):
        return 0.0, 0.0
    characters = sum(map(len, items))
    copied = characters - sum(map(len, distinct))
    return (len(items) - len(distinct)) / len(items), copied / max(characters, 1)
