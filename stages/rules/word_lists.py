"""Lists of words and phrases, and how often their entries stand in a text."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from stages.rules.scope import entries

_WORD = re.compile(r"\w+")
UNSPACED = ("ja", "th", "zh")  # written without spaces: C4 asks for no borders of words there


class WordList(NamedTuple):
    """The entries of a list by how they are looked for: `words` are single; `phrases` by the first word of each, with
    what stands before that word in the entry."""

    words: frozenset[str]
    phrases: dict[str, list[tuple[int, str]]]
    marks: tuple[str, ...]  # entries without a letter or digit


@lru_cache(maxsize=64)
def word_list(path: str) -> WordList:
    """A list from its file: one entry a line, in any case. Raises UserError where it can't be read."""
    words, phrases, marks = set(), dict[str, list[tuple[int, str]]](), []
    for entry in entries(path):
        first = _WORD.search(entry)
        if first is None:
            marks.append(entry)
        elif first[0] == entry:
            words.add(entry)
        else:
            phrases.setdefault(first[0], []).append((first.start(), entry))
    return WordList(frozenset(words), phrases, tuple(marks))


def _is_edge(text: str, place: int) -> bool:
    return not 0 <= place < len(text) or not (text[place].isalnum() or text[place] == "_")


def met(text: str, listed: WordList) -> Iterator[str]:
    """The entries that stand in a case-folded text, each as often as it does, between characters of no word."""
    for found in _WORD.finditer(text):
        if found[0] in listed.words:
            yield found[0]
        for lead, entry in listed.phrases.get(found[0], ()):
            start, end = found.start() - lead, found.start() - lead + len(entry)
            if start >= 0 and text.startswith(entry, start) and _is_edge(text, start - 1) and _is_edge(text, end):
                yield entry
    for mark in listed.marks:
        yield from [mark] * text.count(mark)


def met_anywhere(text: str, path: str) -> Iterator[str]:
    """The entries of a list that stand in a case-folded text, within words too, each as often as it does."""
    for entry in entries(path):
        yield from [entry] * text.count(entry)
