"""HTML built from values: whatever is not markup already is escaped, so that page text stays text."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup, escape

from curate.sizes import figure

# Characters that HTML may not hold even as references; tab and line feed are fine.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_SPACE = "\u00a0"  # keeps a number and its unit on one line
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr"})


def text(value: str) -> Markup:
    """A string as HTML text; what HTML can't hold becomes U+FFFD."""
    return escape(_UNPRINTABLE.sub("\ufffd", value.replace("\r\n", "\n").replace("\r", "\n")))


def element(name: str, *children: object, **attributes: object) -> Markup:
    """`<name attributes>children</name>`.

    Attributes: `_` at the end of a name is dropped, `_` within becomes `-`; True stands bare, None and False go.
    Children: Markup as it is, strings escaped, lists in order, None nothing.
    """
    given = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[object]) -> Markup:
    """Children one after the other."""
    return Markup("".join(_child(child) for child in children))


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def _child(child: object) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return text(child)
    if isinstance(child, Iterable):
        return join(child)
    return text(str(child))


class TableRow(NamedTuple):
    """A row that the page's script treats in its own way: a `part` of the row above it, or the `total` at the end."""

    kind: str
    cells: Iterable[object]


def table(
    caption: str,
    head: list[str],
    rows: Iterable[Iterable[object] | TableRow],
    texts: int = 1,
    kind: str | None = None,
    found: str | None = None,
) -> Markup:
    """A table that scrolls by itself where it is wide. The first `texts` columns are text, the others numbers.

    `found`: what its rows are called among the results of a search; None leaves them out.
    """
    kinds = ["text" if place < texts else "number" for place in range(len(head))]
    titles = [element("th", title, scope="col", class_=kind) for title, kind in zip(head, kinds)]
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", titles)),
            element("tbody", [_row(row, texts) for row in rows]),
            class_=kind,
            data_found=found,
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _row(row: Iterable[object] | TableRow, texts: int) -> Markup:
    kind, cells = (row.kind, row.cells) if isinstance(row, TableRow) else (None, row)
    return element("tr", [_cell(cell, place, texts) for place, cell in enumerate(cells)], class_=kind)


def _cell(cell: object, place: int, texts: int) -> Markup:
    """The style sheet takes a plain cell for a number: there are thousands of them."""
    if place == 0:
        return element("th", cell, scope="row")
    return element("td", cell, class_="text" if place < texts else None)


def folded(summary: object, *children: object, class_: str | None = None, data_found: str | None = None) -> Markup:
    """Children behind a line that opens them. `data_found`: what a search calls it; None leaves it out."""
    return element("details", element("summary", summary), *children, class_=class_, data_found=data_found)


def count(number: float | None) -> str:
    """A count with separators, e.g. 1,234,567."""
    return "–" if number is None else f"{number:,.0f}"


def short(number: int) -> str:
    """A count for a headline, e.g. 12,345 or 102.6 million."""
    for unit, scale in (("billion", 1e9), ("million", 1e6)):
        if number >= 10 * scale:
            return f"{number / scale:,.1f}{_SPACE}{unit}"
    return count(number)


def share(part: float, total: float) -> str:
    """A share in per cent, e.g. 31.2 %; "–" of nothing."""
    if not total:
        return "–"
    percent = 100 * part / total
    return f"{percent:.1f}{_SPACE}%" if percent >= 1 or part == 0 else f"{percent:.2g}{_SPACE}%"


def size(number: float) -> str:
    """Bytes with a decimal unit, e.g. 1.3 GB."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:.3g}{_SPACE}{unit}"
    return f"{number:,.0f} bytes"


def measured(value: float | None) -> str:
    """A measured value or limit, short: 50, 0.334, 10.1."""
    if value is None:
        return "–"
    return figure(float(value))


def words(name: str) -> str:
    """A name of the code as words: too_few_words -> too few words."""
    return name.replace("_", " ")


def url(address: str | None) -> Markup:
    """A URL as text: the report links to nothing that a crawl brought in."""
    return element("span", address or "(no URL)", class_="url", dir="auto")
