"""A place in a text where something personal stands, and the contexts that speak against it."""

import re
from typing import NamedTuple

_LINK = re.compile(r"(?:https?://|ftp://|www\.)\S+", re.IGNORECASE)
_NO_NUMBER_OF_A_PERSON = re.compile(
    r"(?:isbn|issn|doi|pmid|arxiv|part no|order|serial|version|invoice|ticket|patent|#)[\w .:/-]{0,16}$", re.IGNORECASE
)
CONTEXT = 40  # characters before a number that are looked at


class PersonalSpan(NamedTuple):
    """Where it stands, of which kind it is, and its value without separators."""

    start: int
    end: int
    kind: str
    value: str


def links(text: str) -> list[tuple[int, int]]:
    """Where links stand in a text, ascending."""
    if "://" not in text and "www." not in text.lower():
        return []
    return [found.span() for found in _LINK.finditer(text)]


def before(text: str, start: int) -> str:
    """What stands before a place, in its own line."""
    return text[max(0, start - CONTEXT) : start].rpartition("\n")[2]


def is_reference(text: str, start: int) -> bool:
    """Whether the words before a number say that it is one of a book, a paper, an order, a version."""
    return _NO_NUMBER_OF_A_PERSON.search(before(text, start)) is not None
