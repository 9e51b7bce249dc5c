"""Which elements are open where: start and end tags paired, with the ends that authors may leave out.

After the HTML standard (13.1.2.4 and 13.2.6), in three rules: some start tags end the elements they can't stand in
(`ENDED`); an end tag ends the nearest open element of its name, with all in it, up to a bound and not across the border
of a table; any other end tag is nothing.
"""

from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks.tags import NUMBER, TAGS, Ints

FAR = 64  # elements up to which the one that an end tag means is looked for
_BREAKS_P = (
    "address article aside blockquote center details dialog div dl fieldset figcaption figure footer form h1 h2 h3 h4"
    " h5 h6 header main nav ol p pre section summary table ul li dd dt tr td th tbody thead tfoot caption legend"
)
_HEADINGS, _SECTIONS = "h1 h2 h3 h4 h5 h6", "tbody thead tfoot"
_CELLS, _ROWS = f"td th tr {_SECTIONS}", f"tr {_SECTIONS}"
ENDED = {"p": _BREAKS_P, "li": "li", "option": "option optgroup", "button": "button"}
ENDED |= {"dt": "dt dd", "dd": "dt dd", "td": _CELLS, "th": _CELLS, "caption": _CELLS, "tr": _ROWS}
ENDED |= dict.fromkeys(_SECTIONS.split(), _SECTIONS) | dict.fromkeys(_HEADINGS.split(), _HEADINGS)
_ENDED = [frozenset(NUMBER[name] for name in ENDED.get(tag, "").split()) for tag in TAGS] + [frozenset[int]()]
_PAGE = len(TAGS)  # in place of a tag: the page itself, which nothing ends
_BORDER = frozenset(NUMBER[name] for name in "td th caption table".split())
_OF_TABLES = frozenset(NUMBER[name] for name in "table tr td th tbody thead tfoot caption".split())


class Nesting(NamedTuple):
    """The elements in document order, by the tags that begin and end them. The page itself is the last number."""

    start: Ints
    end: Ints
    parent: Ints
    inner: Ints  # after each tag the innermost element open


def nest(codes: Ints) -> Nesting:
    """The nesting of start tags (their numbers) and end tags (the complements of theirs)."""
    # An element with no other in it has its two tags side by side; half of all are such, and need no stack.
    leaf, shut = np.zeros((2, len(codes)), np.bool_)
    leaf[:-1] = shut[1:] = (codes[:-1] >= 0) & (codes[1:] == ~codes[:-1])
    kept = np.flatnonzero(~shut)
    start = np.flatnonzero(codes >= 0)
    end, parent, after = _stacked(kept.tolist(), codes[kept].tolist(), leaf[kept].tolist(), len(start), len(codes))
    inner = np.empty(len(codes), np.int64)
    inner[kept] = inner[kept + leaf[kept]] = after
    number = np.cumsum(codes >= 0) - 1
    inner[leaf] = number[leaf]
    return Nesting(start, end, parent, inner)


def _stacked(places: list[int], codes: list[int], leaves: list[bool], page: int, total: int) -> Iterator[Ints]:
    """The end and parent of each element, and the innermost open one after each tag; a leaf's two tags are one."""
    end, parent, after = array("q"), array("q"), array("q")
    opened, names = [page], [_PAGE]
    top = _PAGE
    for place, code, leaf in zip(places, codes, leaves):
        if code >= 0:
            while code in _ENDED[top]:
                end[opened.pop()] = place
                names.pop()
                top = names[-1]
            parent.append(opened[-1])
            if leaf:
                end.append(place + 1)
            else:
                opened.append(len(end))
                end.append(total)
                names.append(code)
                top = code
        else:
            for _ in range(1 if ~code == top else _closes(names, ~code)):
                end[opened.pop()] = place
                names.pop()
            top = names[-1]
        after.append(opened[-1])
    return (np.frombuffer(column, np.int64) for column in (end, parent, after))


def _closes(names: list[int], name: int) -> int:
    """How many open elements an end tag ends that is not the innermost one's."""
    for up in range(2, min(FAR, len(names) - 1) + 1):
        if names[-up] == name:
            return 0 if name not in _OF_TABLES and not _BORDER.isdisjoint(names[1 - up :]) else up
    return 0
