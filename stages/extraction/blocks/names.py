"""What authors call their elements: the words of classes, ids and roles, and how each speaks for content."""

import re
from collections.abc import Mapping
from copy import copy
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks import words as w
from stages.extraction.blocks.page import Floats, Page, around
from stages.extraction.blocks.stream import DOUBLE, EQUALS, SINGLE, Stream
from stages.extraction.blocks.tags import TAGS, Ints, Mask, Words

NAMED = ("class", "id", "role", "itemprop")
HIDING = ("style", "hidden", "aria-hidden")
ASKED = (*NAMED, *HIDING)
LONG = 160  # bytes of a value that are looked at
UNSEEN = re.compile(rb"display:\s?none|visibility:\s?hidden")
_SMALL = np.uint64(0x2020_2020_2020_2020)
_ALONE = np.uint64(int.from_bytes(b" hidden>", "little"))
_TAGS = [f"<{tag}>" for tag in TAGS]


def _ends() -> list[tuple[np.uint64, np.uint64]]:
    """Of each name we ask for its last eight letters as a number, and the bits by which it is shorter than that."""
    ends = [name.encode()[-8:] for name in ASKED]
    return [(np.uint64(int.from_bytes(end, "little")), np.uint64(64 - 8 * len(end))) for end in ends]


_ENDS = _ends()
_SIZES = np.array([0, *map(len, ASKED)])


def _asked(words: Words, raw: np.ndarray, equals: Ints) -> Ints:
    """Which of the names ASKED stands before each equals sign, counted from 1; 0 for any other."""
    small, asked = words[equals - 8] | _SMALL, np.zeros(len(equals), np.int64)
    for number, (end, shift) in enumerate(_ENDS):
        asked[small >> shift == end] = number + 1
    asked[raw[equals - _SIZES[asked] - 1] > ord(" ")] = 0  # a longer name
    return asked


class Called(NamedTuple):
    """What the elements of a page are called."""

    element: Ints  # that is called something, once for each attribute that says so
    value: Ints  # the number of what it says
    values: list[bytes]  # what is said, each but once: most elements are called as others before them
    spoken: w.Spoken  # the words of the values
    hidden: Ints  # elements that are not shown

    def written(self, element: int) -> str:
        """What one element is called, as written."""
        said = (self.values[value] for value in self.value[self.element == element].tolist())
        return " ".join(value.decode("utf-8", "replace") for value in said)


def of(page: Page) -> Called:
    """The names of a page's elements; of those without text they are not asked."""
    stream, elements = page.stream, page.elements
    at, kind = stream.specials
    raw = np.frombuffer(stream.source, np.uint8)
    full = np.flatnonzero(elements.last[:-1] > elements.first[:-1])
    place = elements.place[full]
    border = np.zeros(len(kind), np.int64)
    border[stream.opening[place]] = full + 1
    border[stream.closing[place]] = -full - 1
    element = np.cumsum(border) - 1  # of each special the element in whose start tag it stands, else -1
    equals = np.flatnonzero((kind == EQUALS) & (element >= 0))
    asked = _asked(stream.words, raw, at[equals])
    equals, asked = equals[asked > 0], asked[asked > 0]
    begin, end = _values(stream, raw, equals)
    hiding = asked > len(NAMED)
    styled = asked[hiding] == ASKED.index("style") + 1
    unseen = element[equals[hiding]][_hides(stream.source, begin[hiding], end[hiding], styled)]
    alone = full[stream.words[stream.end[place] - 8] == _ALONE]
    numbers: dict[bytes, int] = {}
    said = [
        numbers.setdefault(stream.source[first:last], len(numbers))
        for first, last in zip(begin[~hiding].tolist(), end[~hiding].tolist())
    ]
    values = list(numbers)
    return Called(
        element[equals[~hiding]], np.array(said, np.int64), values, w.hashed(values), np.append(unseen, alone)
    )


def _hides(source: bytes, begin: Ints, end: Ints, styled: Mask) -> list[bool]:
    """Whether values of the names HIDING keep an element from being shown."""
    values = zip(begin.tolist(), end.tolist(), styled.tolist())
    return [
        UNSEEN.search(source, first, last) is not None if style else source[first:last] != b"false"
        for first, last, style in values
    ]


def _values(stream: Stream, raw: np.ndarray, equals: Ints) -> tuple[Ints, Ints]:
    """Where the values behind equals signs, given by their numbers among the specials, begin and end.

    A quoted one ends at the next quote of its kind, any other at white space or the next special of whatever kind.
    """
    at, kind = stream.specials
    begin, close = at[equals] + 1, equals + 2
    quote = raw[begin]
    quoted = (quote == DOUBLE) | (quote == SINGLE)
    odd = quoted & (kind.take(close, mode="clip") != quote)  # another special stands between the quotes
    for each in (DOUBLE, SINGLE):
        mine = odd & (quote == each)
        if mine.any():
            same = np.append(np.flatnonzero(kind == each), len(kind) - 1)
            close[mine] = same[np.minimum(np.searchsorted(same, equals[mine] + 2), len(same) - 1)]
    end = at.take(np.where(quoted, close, equals + 1), mode="clip")
    begin += quoted
    end = np.clip(end, begin, begin + LONG)
    for number in np.flatnonzero(~quoted).tolist():
        value = stream.source[begin[number] : end[number]].split(None, 1)
        end[number] = begin[number] + len(value[0] if value else b"")
    return begin, end


def hidden(page: Page, called: Called) -> Mask:
    """Blocks in an element that is not shown."""
    unseen = np.zeros(len(page.elements.tag))
    unseen[called.hidden] = 1
    return around(page.elements, unseen, page.count) > 0


class Votes(NamedTuple):
    """Votes of each element of a page, above 0 for content: its words' mean, the lowest and highest, its tag's."""

    mean: Floats
    least: Floats
    most: Floats
    tag: Floats


SLOTS = np.uint64(64 - 16)  # the highest bits of a hash: where its word is looked for first


class Ballot:
    """The votes of words and tags (`<p>`)."""

    def __init__(self, table: Mapping[str, float]) -> None:
        self.tags = np.array([table.get(name, 0.0) for name in _TAGS])
        numbers = {w.number(word): vote for word, vote in table.items() if word[0] != "<"}
        self.words: Words = np.array([*sorted(numbers), (1 << 64) - 1], np.uint64)
        self.votes = np.array([*(numbers[word] for word in sorted(numbers)), 0.0])
        slots, first, crowd = np.unique(self.words[:-1] >> SLOTS, return_index=True, return_counts=True)
        self.slots = np.full(1 << 16, len(numbers))  # the number of each slot's word; -1 where several share one
        self.slots[slots] = np.where(crowd == 1, first, -1)

    def but(self, other: Mapping[str, float]) -> "Ballot":
        """The same with other votes of some of its words and tags."""
        changed = copy(self)
        changed.tags, changed.votes = self.tags.copy(), self.votes.copy()
        for word, vote in other.items():
            if word[0] == "<":
                changed.tags[_TAGS.index(word)] = vote
            else:
                changed.votes[np.searchsorted(self.words, np.uint64(w.number(word)))] = vote
        return changed

    def count(self, spoken: w.Spoken) -> tuple[Ints, Floats]:
        """The values whose words have votes, and those votes."""
        place = self.slots[spoken.word >> SLOTS]
        crowded = place < 0
        place[crowded] = np.searchsorted(self.words, spoken.word[crowded])
        known = self.words[place] == spoken.word
        return spoken.value[known], self.votes[place[known]]


def votes(page: Page, called: Called, ballot: Ballot) -> Votes:
    """The votes of a page's elements."""
    value, vote = ballot.count(called.spoken)
    size, among = len(page.elements.tag), len(called.values)
    cast = np.array([np.bincount(value, vote, among), np.bincount(value, minlength=among)])[:, called.value]
    total, counted = (np.bincount(called.element, each, size) for each in cast)
    extremes = []
    for extreme in (np.minimum, np.maximum):
        of_value, of_element = np.zeros(among), np.zeros(size)
        extreme.at(of_value, value, vote)
        extreme.at(of_element, called.element, of_value[called.value])
        extremes.append(of_element)
    return Votes(total / np.maximum(counted, 1), extremes[0], extremes[1], ballot.tags[page.elements.tag])


def hashes(page: Page, called: Called) -> Ints:
    """A number for each element, equal where its words are."""
    of_value, of_element = np.zeros(len(called.values), np.uint64), np.zeros(len(page.elements.tag), np.uint64)
    np.add.at(of_value, called.spoken.value, called.spoken.word)
    np.add.at(of_element, called.element, of_value[called.value])
    return of_element.view(np.int64)
