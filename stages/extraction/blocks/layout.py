"""The text of chosen blocks: paragraphs, headings, lists, tables row by row, and `<pre>` as it stands."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks.copies import copies
from stages.extraction.blocks.page import Page
from stages.extraction.blocks.stream import NUMBER, Ints, Mask, tags

HREF = re.compile(r' href="([^"]*)"')
_CELL, _ITEM, _PRE, _ROW = tags("td", "th"), tags("li"), tags("pre"), tags("tr")
_LISTS = tags("ul", "ol")
NONE = -1


def block_texts(page: Page, chosen: Mask | None = None, links: bool = False) -> list[str]:
    """The text of each chosen block as it stands in the stream, references not resolved."""
    ends = np.append(page.starts[1:], len(page.texts)) - 1
    begin, end = page.texts[page.starts], page.texts[ends] + 1
    muted = page.stream.muted()
    hidden = np.concatenate(([0], np.cumsum(muted)))
    some = hidden[end] > hidden[begin]
    if chosen is not None:
        begin, end, some = begin[chosen], end[chosen], some[chosen]
    texts = page.stream.texts
    made = []
    for first, last, partly in zip(begin.tolist(), end.tolist(), some.tolist()):
        if links:
            made.append("".join(_linked(page, first, last, muted)))
        elif partly:
            made.append("".join(texts[place] for place in range(first, last) if not muted[place]))
        else:
            made.append("".join(texts[first:last]) if last - first > 1 else texts[first])
    return made


def _linked(page: Page, begin: int, end: int, muted: Mask) -> Iterator[str]:
    """The pieces of a block, targets of links written beside their text as Markdown has it."""
    stream, target = page.stream, ""
    for place in range(begin, end):
        if stream.tag[place] == NUMBER["a"]:
            yield target
            href = HREF.search(stream.attributes[place])
            target = f"]({href[1]})" if href else ""
            yield "[" if href else ""
        if not muted[place]:
            yield stream.texts[place]
    yield target


class _Place(NamedTuple):
    """Where a block stands: numbers of elements, NONE where it is in none of that tag."""

    pre: int
    item: int
    row: int
    cell: int  # only one that holds no other block
    lists: int  # how many lists are open
    box: int  # the innermost element
    block: int


def text(page: Page, chosen: Mask, *, tables: bool = True, links: bool = False) -> str:
    """The chosen blocks as text: a blank line between paragraphs, none between items, rows and lines of a `<pre>`.

    What would stand there twice is left out.
    """
    parts: list[str] = []
    before: _Place | None = None
    places = list(_places(page, chosen))
    lines = [
        _line(raw, place) if tables or place.row == NONE else ""
        for place, raw in zip(places, block_texts(page, chosen, links))
    ]
    words = [count if line else 0.0 for line, count in zip(lines, page.words[chosen].tolist())]
    again = copies(lines, words)
    for number, (place, line) in enumerate(zip(places, lines)):
        if not line or number in again:
            continue
        gap = "" if before is None else _gap(before, place)
        begins = place.item != NONE and place.pre == NONE and (before is None or before.item != place.item)
        mark = "  " * (place.lists - 1) + "- " if begins and gap != CELLS else ""
        parts += (gap, mark, line)
        before = place
    return "".join(parts)


def _line(raw: str, place: _Place) -> str:
    """A block's text as it is written out, "" where it has none."""
    if "&" in raw:
        raw = unescape(raw)
    return " ".join(raw.split()) if place.pre == NONE else "" if raw.isspace() else raw.strip("\r\n")


CELLS = " | "


def _gap(before: _Place, here: _Place) -> str:
    """What stands between two blocks."""
    if here.pre != NONE or before.pre != NONE:
        return "\n" if here.pre == before.pre else "\n\n"
    if here.row != NONE and before.row != NONE:
        beside = here.row == before.row and NONE not in (here.cell, before.cell) and here.cell != before.cell
        return CELLS if beside else "\n"
    line = here.box == before.box and here.block == before.block + 1  # only a <br> stands between them
    return "\n" if line or (here.item != NONE and before.item != NONE) else "\n\n"


def _places(page: Page, chosen: Mask) -> Iterator[_Place]:
    """Where the chosen blocks stand."""
    elements, above = page.elements, page.above[chosen]
    tag = elements.tag[above]
    single = elements.last[above] - elements.first[above] == 1  # a cell with more blocks is laid out, not listed
    columns = [_nearest(above, found) for found in (_PRE[tag], _ITEM[tag], _ROW[tag], _CELL[tag] & single)]
    lists = page.stream.inside(_LISTS)[page.place[chosen]]
    return map(
        _Place._make, zip(*(column.tolist() for column in (*columns, lists, above[:, 0], np.flatnonzero(chosen))))
    )


def _nearest(above: Ints, found: Mask) -> Ints:
    """The innermost element that was found around each block."""
    level = found.argmax(1)
    rows = np.arange(len(above))
    return np.where(found[rows, level], above[rows, level], NONE)
