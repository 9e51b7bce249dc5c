"""Tables as people read them, and as CSV."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curate.errors import one_line
from curate.sizes import figure

_NUMBER = re.compile(r"(?:about |~)?[-+=]?[\d,.]*(?:\.\.[-+]?[\d,.]+)?%?")  # also a range, or a sign alone
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes what begins so
GAP = "  "
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """The cells of a table, titles first. `words`: which columns hold words, which stand left and may be cut.

    The first `heads` columns name a group of lines and are empty in all of it but the first.
    """

    cells: tuple[tuple[str, ...], ...]
    words: tuple[bool, ...]
    heads: int = 0


class TableLine(str):
    """A line of a table at its full width, which knows the table: a narrow screen lays it out anew."""

    table: Table
    number: int  # 0 for the titles

    def __new__(cls, text: str, table: Table, number: int) -> "TableLine":
        line = super().__new__(cls, text)
        line.table, line.number = table, number
        return line


def shown(value: Any) -> str:
    """A cell: whole numbers with thousands separators, others in four digits or more, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return figure(value) if isinstance(value, float) else one_line(str(value))


def lines(
    rows: Sequence[Row], columns: Sequence[str], titles: Mapping[str, str] | None = None, heads: int = 0
) -> list[str]:
    """A table with a line of titles; numbers stand right, a column of words left. `heads` as a `Table` has it."""
    named = titles or {}
    head = tuple(named.get(column, column) for column in columns)
    cells = (head, *(tuple(shown(row.get(column)) for column in columns) for row in rows))
    words = tuple(
        any(isinstance(cell, str) and not _NUMBER.fullmatch(cell) for cell in column)
        for column in ([row.get(name) for row in rows] for name in columns)
    )
    table = Table(cells, words, heads)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [TableLine(aligned(line, widths, words), table, number) for number, line in enumerate(cells)]


def aligned(cells: Sequence[str], widths: Sequence[int], words: Sequence[bool]) -> str:
    """One line of cells, words left and numbers right, each as wide as its column."""
    found = zip(cells, widths, words, strict=True)
    return GAP.join(cell.ljust(width) if left else cell.rjust(width) for cell, width, left in found).rstrip()


def comma_separated(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """The rows as CSV with a line of column names; nothing stands for None.

    A cell of words that a spreadsheet would take for a formula has an apostrophe before it.
    """
    return "\n".join([_csv_line(columns), *(_csv_line([row.get(name) for name in columns]) for row in rows)])


def _csv_line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(map(_no_formula, cells))  # so that both marks are quoted in cells
    return text.getvalue()[:-2]


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
