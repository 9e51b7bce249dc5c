"""What authors call their elements: the words of classes, ids and roles, and how each speaks for content."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks.page import Floats, Page
from stages.extraction.blocks.stream import TAGS, Ints, Mask

NAMED = (' class="', ' id="', ' role="', ' itemprop="')
HIDDEN = re.compile(r' (?:hidden(?=[ =]|$)|aria-hidden="true"|style="[^"]*(?:display: ?none|visibility: ?hidden))')
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
LETTERS = re.compile(r"[a-z]{2,}")
NAMES, CHARACTERS, PARTS = 16, 60, 4  # names of an element looked at, characters of each, parts of a compound
LONG = 20  # characters from which a part is no word
DIGITS = "0123456789"
_TAGS = [f"<{tag}>" for tag in TAGS]


def named(attributes: str) -> str:
    """Class, id and role among attributes as written."""
    found = []
    for name in NAMED:  # the parser quotes all values; a pattern would take three times as long
        at = attributes.find(name)
        if at >= 0:
            at += len(name)
            found.append(attributes[at : attributes.find('"', at)])
    return " ".join(found)


def hides(attributes: str) -> bool:
    """Whether attributes keep an element from being shown."""
    return ("hidden" in attributes or "none" in attributes) and HIDDEN.search(attributes) is not None


def names_of(value: str) -> list[str]:
    """The different names in a value, without the digits at their ends."""
    return list(dict.fromkeys([name.rstrip(DIGITS) for name in value.split(None, NAMES)[:NAMES]]))


def words(value: str) -> Iterator[str]:
    """The words of names, digits left out: `post-Body_12` has post, body and post-body."""
    for name in names_of(value):
        yield from words_of(name)


def words_of(name: str) -> tuple[str, ...]:
    """The words of one name."""
    name = name[:CHARACTERS]
    lower = name if name.islower() else HUMP.sub("-", name).lower()
    parts = LETTERS.findall(lower)
    if len(lower) >= LONG:
        parts = [part for part in parts if len(part) < LONG]
    return (*parts, "-".join(parts[:PARTS])) if len(parts) > 1 else tuple(parts)


class Called(NamedTuple):
    """What the elements of a page are called."""

    values: list[str]  # the different names, as written
    number: Ints  # of each element's in `values`
    hidden: Ints  # elements that are not shown


def of(page: Page) -> Called:
    """The names of a page's elements. The page itself has none, and of those without text they are not asked."""
    attributes, elements = page.stream.attributes, page.elements
    numbers: dict[str, int] = {"": 0}
    known: dict[str, tuple[int, bool]] = {"": (0, False)}  # as written: one tag in two is like one before
    number = np.zeros(len(elements.tag), np.int64)
    full = np.flatnonzero(elements.last[:-1] > elements.first[:-1])
    found = []
    for place in elements.place[full].tolist():
        text = attributes[place]
        if text not in known:
            known[text] = numbers.setdefault(named(text), len(numbers)), hides(text)
        found.append(known[text])
    if found:
        number[full], unseen = np.array(found).T
        return Called(list(numbers), number, full[unseen > 0])
    return Called(list(numbers), number, full)


def hidden(page: Page, called: Called) -> Mask:
    """Blocks in an element that is not shown."""
    size = page.count + 1
    begin = np.bincount(page.elements.first[called.hidden], minlength=size)
    end = np.bincount(page.elements.last[called.hidden], minlength=size)
    return np.cumsum(begin - end)[:-1] > 0


class Votes(NamedTuple):
    """Votes of each element of a page, above 0 for content: its words' mean, the lowest and highest, its tag's."""

    mean: Floats
    least: Floats
    most: Floats
    tag: Floats


KEPT = 1 << 15  # names of which the votes are kept: they repeat from site to site, their combinations hardly


class Ballot:
    """The votes of words and tags (`<p>`) as a table, and those of names seen before."""

    def __init__(self, table: Mapping[str, float]) -> None:
        self.table = table
        self.tags = np.array([table.get(name, 0.0) for name in _TAGS])
        self.known: dict[str, list[float]] = {}

    def of(self, name: str) -> list[float]:
        """The votes of a name's words."""
        table = self.table
        cast = [table[word] for word in words_of(name) if word in table]
        if len(self.known) < KEPT:
            self.known[name] = cast
        return cast


def votes(page: Page, called: Called, ballot: Ballot) -> Votes:
    """The votes of a page's elements."""
    rows = np.zeros((len(called.values), 3))
    known = ballot.known
    for number, value in enumerate(called.values):
        cast: list[float] = []
        for name in names_of(value):
            cast += known[name] if name in known else ballot.of(name)
        if cast:
            rows[number] = sum(cast) / len(cast), min(*cast, 0.0), max(*cast, 0.0)
    mean, least, most = rows[called.number].T
    return Votes(mean, least, most, ballot.tags[page.elements.tag])
