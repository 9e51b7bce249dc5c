"""The text of chosen blocks: paragraphs, headings, lists, tables row by row, and `<pre>` as it stands."""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks.copies import copies
from stages.extraction.blocks.page import Page
from stages.extraction.blocks.tags import NUMBER, Ints, Mask, tags

HREF = re.compile(rb"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)
_PRE, _ITEM, _ROW, _CELL = tags("pre"), tags("li"), tags("tr"), tags("td", "th")
_LISTS = tags("ul", "ol")
NONE = -1
GAPS = ("\n\n", "\n", " | ")
PARAGRAPH, LINE, CELLS = range(3)


def block_texts(page: Page, chosen: Mask | None = None, links: bool = False) -> list[str]:
    """The text of each chosen block as it stands on the page, references not resolved."""
    borders = (page.place, page.last) if links else (page.begin, page.end)
    first, last = (border if chosen is None else border[chosen] for border in borders)
    if links:
        made = [b"".join(_linked(page, *block)) for block in zip(first.tolist(), last.tolist())]
    else:
        made = [page.text[begin:end] for begin, end in zip(first.tolist(), last.tolist())]
    return [text.decode("utf-8", "replace") for text in made]


def _linked(page: Page, first: int, last: int) -> Iterator[bytes]:
    """The pieces of a block, targets of links written beside their text as Markdown has it."""
    stream, target = page.stream, b""
    for place in range(first, last + 1):
        if stream.tag[place] == NUMBER["a"]:
            yield target
            href = HREF.search(stream.attributes(place))
            target = b"](" + (href[1] or href[2] or href[3] or b"") + b")" if href else b""
            yield b"[" if href else b""
        if page.heard[place]:
            yield stream.source[stream.end[place] : stream.next[place]]
    yield target


class _Places(NamedTuple):
    """Where the chosen blocks stand: numbers of elements, NONE where one is in none of that tag."""

    pre: Ints
    item: Ints
    row: Ints
    cell: Ints  # only one that holds no other block
    lists: Ints  # how many lists are open
    box: Ints  # the innermost element
    block: Ints


def text(page: Page, chosen: Mask, *, tables: bool = True, links: bool = False) -> str:
    """The chosen blocks as text: a blank line between paragraphs, none between items, rows and lines of a `<pre>`.

    What would stand there twice is left out.
    """
    if not tables:
        chosen = chosen & (_row(page) == NONE)
    places = _places(page, chosen)
    verbatim = (places.pre != NONE).tolist()
    lines = [_line(raw, pre) for raw, pre in zip(block_texts(page, chosen, links), verbatim)]
    words = [count if line else 0.0 for line, count in zip(lines, page.words[chosen].tolist())]
    again = copies(lines, words)
    kept = [number for number, line in enumerate(lines) if line and number not in again]
    gaps, marks = _gaps(_Places(*(column[kept] for column in places)))
    parts: list[str] = []
    for number, gap, mark in zip(kept, gaps.tolist(), marks.tolist()):
        parts += (GAPS[gap], "  " * (mark - 1) + "- " if mark else "", lines[number])
    return "".join(parts[1:])


def _line(raw: str, verbatim: bool) -> str:
    """A block's text as it is written out, "" where it has none."""
    if "&" in raw:
        raw = unescape(raw)
    if verbatim:
        return "" if raw.isspace() else raw.strip("\r\n")
    if raw.isprintable() and "  " not in raw:  # no white space but single spaces
        return raw.strip()
    return " ".join(raw.split())


def _gaps(places: _Places) -> tuple[Ints, Ints]:
    """What stands before each block, and in how many lists an item stands that it begins, 0 where it begins none."""
    pre, item, row, cell, lists, box, block = (np.append(NONE, column) for column in places)
    same_pre, same_item, same_row, same_cell, same_box = (
        column[1:] == column[:-1] for column in (pre, item, row, cell, box)
    )
    rows, items = (np.minimum(column[1:], column[:-1]) != NONE for column in (row, item))
    beside = same_row & (np.minimum(cell[1:], cell[:-1]) != NONE) & ~same_cell
    line = same_box & (block[1:] == block[:-1] + 1)  # only a <br> stands between them
    gaps = np.where(rows, np.where(beside, CELLS, LINE), np.where(line | items, LINE, PARAGRAPH))
    verbatim = np.maximum(pre[1:], pre[:-1]) != NONE
    gaps = np.where(verbatim, np.where(same_pre, LINE, PARAGRAPH), gaps)
    begins = (item[1:] != NONE) & (pre[1:] == NONE) & ~same_item & (gaps != CELLS)
    return gaps, np.where(begins, lists[1:], 0)


def _places(page: Page, chosen: Mask) -> _Places:
    """Where the chosen blocks stand."""
    elements, above = page.elements, page.above[:, chosen]
    tag = elements.tag[above]
    single = elements.last[above] - elements.first[above] == 1  # a cell with more blocks is laid out, not listed
    pre, item, row, cell = (_nearest(above, found) for found in (_PRE[tag], _ITEM[tag], _ROW[tag], _CELL[tag] & single))
    return _Places(pre, item, row, cell, _LISTS[tag].sum(0), above[0], np.flatnonzero(chosen))


def _row(page: Page) -> Ints:
    return _nearest(page.above, _ROW[page.elements.tag[page.above]])


def _nearest(above: Ints, found: Mask) -> Ints:
    """The innermost element that was found around each block."""
    level, block = found.argmax(0), np.arange(above.shape[1])
    return np.where(found[level, block], above[level, block], NONE)
