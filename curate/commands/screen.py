"""How text goes to a terminal: as wide as it is, and in colour. What goes to a pipe or a file stays as it was made."""

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from shutil import get_terminal_size
from typing import Any, TextIO

import click

from curate.errors import printable
from curate.inspect.path import DROPPED
from curate.inspect.path_text import BROKEN
from curate.inspect.tables import GAP, Table, TableLine, aligned
from curate.terminal import say_styled

LEAST = 14  # columns that a word column keeps; a longer piece of a name goes on in the next line
LEAST_ROOM = 40  # a terminal narrower than this is written to as if it had so many
PAGE = 110  # columns of running text where there is no terminal, and the most on one
MOST_LABEL = 12  # a label at the start of a line, behind which its next lines begin
ELLIPSIS = "…"
NAME = re.compile(r"[\w.]+(?:=\S*)?")  # a stage, a reason, an option: parted behind a mark, never shortened
FIRE: dict[str, Any] = {"fg": "yellow"}
GOOD: dict[str, Any] = {"fg": "green"}
BAD: dict[str, Any] = {"fg": "red", "bold": True}
SENTENCES = (
    (re.compile(r"ALARM [^:]*:|MISSING|NOTHING WAS KEPT|NO PAGE WAS READ"), BAD),
    (re.compile(r"(?<=^verdict  )dropped by [^,(]*"), BAD),
    (re.compile(r"(?<=^verdict  )(?:kept|passes)|^whole(?=:)"), GOOD),
)  # what a line says of a page or a run, where it begins
ONE_BROKEN = re.compile(rf"(?:\S+ )?\S+ {BROKEN}|{BROKEN}")
Words = Sequence[str]


class Verbatim(str):
    """A line to be copied or read as it is: a command, a text."""


def width(stream: TextIO | None = None) -> int | None:
    """Columns of the terminal that standard output goes to; None for a pipe or file, which have no width."""
    if not (stream or sys.stdout).isatty():
        return None
    return max(LEAST_ROOM, get_terminal_size().columns)


def page_width() -> int:
    """Columns for running text, which no pipe should get in one line: those of the terminal, PAGE at most."""
    return min(width() or PAGE, PAGE)


def colour(stream: TextIO | None = None) -> bool:
    """Whether to use colours: NO_COLOR says no, FORCE_COLOR and CLICOLOR_FORCE yes, CLICOLOR=0 no, else a terminal."""
    asked = os.environ.get
    if asked("NO_COLOR"):
        return False
    if asked("FORCE_COLOR", "0") not in ("", "0") or asked("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return asked("CLICOLOR") != "0" and asked("TERM") != "dumb" and (stream or sys.stdout).isatty()


def show(lines: Iterable[str], err: bool = False) -> None:
    """Prints lines, tables among them, in the width of the terminal; on standard error if `err`."""
    stream = sys.stderr if err else sys.stdout
    painted = colour(stream)
    for line in laid_out(lines, width(stream), painted):
        say_styled(line, painted, err)


def laid_out(lines: Iterable[str], room: int | None, painted: bool) -> Iterator[str]:
    """The lines as they fit into `room` columns (None: as they are); styled where `painted`."""
    for table, group in groupby(lines, lambda line: line.table if isinstance(line, TableLine) else None):
        if table is not None:
            numbers = [line.number for line in group if isinstance(line, TableLine)]
            yield from _table(table, numbers, room, painted)
            continue
        for text in group:
            for line in printable(text).split("\n"):
                unbroken = room is None or isinstance(text, Verbatim)
                yield from (_styled(part, painted) for part in ([line] if unbroken else wrapped(line, room or 0)))


def wrapped(line: str, room: int, indent: int | None = None) -> list[str]:
    """A line in pieces of at most `room` columns, broken at spaces; the next ones begin behind its label."""
    if len(line) <= room:
        return [line]
    start = len(line) - len(line.lstrip())
    label = re.match(r"\s*\S+\s{2,}", line)
    indent = label.end() if indent is None and label and label.end() <= MOST_LABEL else indent or start + 2
    return textwrap.wrap(
        line,
        room,
        subsequent_indent=" " * indent,
        break_long_words=room < PAGE,
        replace_whitespace=False,
        break_on_hyphens=False,
    ) or [line]


def _styled(line: str, painted: bool) -> str:
    if painted:
        for pattern, style in SENTENCES:
            found = pattern.search(line) if pattern.pattern.startswith("(?<=") else pattern.match(line)
            if found:
                return line[: found.start()] + click.style(found[0], **style) + line[found.end() :]
    return line


def _style(cell: str, first: bool) -> dict[str, Any]:
    if cell.startswith(DROPPED):
        return BAD
    if BROKEN in cell:
        return FIRE
    return GOOD if first and cell == "kept" else {}


def _table(table: Table, numbers: Sequence[int], room: int | None, painted: bool) -> Iterator[str]:
    """Those rows of a table: at full width where they fit, else narrower, else in blocks of columns."""
    rows = [table.cells[number] for number in numbers]
    full = [max(map(len, column)) for column in zip(*table.cells, strict=True)]
    if room is None or sum(full) + len(GAP) * (len(full) - 1) <= room:
        yield from _drawn(rows, full, table.words, painted)
    elif table.heads:
        yield from _by_group(table, rows, room, painted)
    else:
        yield from _narrow(rows, table.words, numbers[:1] == [0], room, painted)


def _by_group(table: Table, rows: Sequence[Words], room: int, painted: bool) -> Iterator[str]:
    """What names a group on a line of its own, its lines below."""
    heads, words = table.heads, table.words
    widths = [max(len(row[at]) for row in table.cells) for at in range(heads)]
    below = [row[heads:] for row in rows if any(row[heads:])]
    inner = iter(list(_rows(below, words[heads:], False, room - len(GAP), painted)))
    for row in rows:
        if any(row[:heads]):
            yield from _drawn([row[:heads]], widths, words[:heads], painted)
        if any(row[heads:]):
            yield from (GAP + line for line in next(inner))


def _narrow(rows: Sequence[Words], words: Sequence[bool], titled: bool, room: int, painted: bool) -> Iterator[str]:
    """The table in blocks of as many columns as fit, the first column again in each."""
    least = [_least([row[at] for row in rows], left, titled) for at, left in enumerate(words)]
    least[0] = max(least[0], min(room // 3, max(len(row[0]) for row in rows)))
    start = 1
    while start < len(words):
        end = start + 1
        while end < len(words) and sum(least[at] + len(GAP) for at in (*range(start, end + 1), 0)) - len(GAP) <= room:
            end += 1
        columns = (0, *range(start, end))
        if start > 1:
            yield ""
        part = [tuple(row[at] for at in columns) for row in rows]
        for lines in _rows(part, [words[at] for at in columns], titled, room, painted, least[0]):
            yield from lines
        start = end


def _rows(
    rows: Sequence[Words], words: Sequence[bool], titled: bool, room: int, painted: bool, first: int = 0
) -> Iterator[list[str]]:
    """The lines of each row, its cells wrapped or shortened into columns that fit; the first has `first` at least."""
    if not rows:
        return
    columns = list(zip(*rows, strict=True))
    full = [max(map(len, column)) for column in columns]
    least = [_least(column, left, titled) for column, left in zip(columns, words, strict=True)]
    least[0] = max(first, least[0])
    widths = _shared(full, least, words, room - len(GAP) * (len(words) - 1))
    for row in rows:
        cells = [_cell(cell, wide) for cell, wide in zip(row, widths, strict=True)]
        deep = max(map(len, cells))
        part = [[cell[at] if at < len(cell) else "" for cell in cells] for at in range(deep)]
        styles = [_style(cell, at == 0) for at, cell in enumerate(row)]
        yield list(_drawn(part, widths, words, painted, styles))


def _shared(full: Sequence[int], least: Sequence[int], words: Sequence[bool], room: int) -> list[int]:
    """A width for each column: titles of numbers give way first, then the widest columns of words."""
    widths = [wide if left else narrow for wide, narrow, left in zip(full, least, words, strict=True)]
    while sum(widths) > room:
        shrinking = [at for at, left in enumerate(words) if left and widths[at] > least[at]]
        if not shrinking:
            break
        widths[max(shrinking, key=lambda at: widths[at])] -= 1
    for at, wide in enumerate(full):  # what is left goes back to the titles
        widths[at] += max(0, min(wide - widths[at], room - sum(widths))) if not words[at] else 0
    return widths


def _least(column: Sequence[str], left: bool, titled: bool) -> int:
    """The width below which a column is not pressed: numbers are never cut, titles are parted."""
    cells = column[1:] if titled and not left else column
    widest = max(map(len, cells), default=0)
    title = max((len(piece) for piece in _pieces(column[0])), default=0) if titled else 0
    return max(title, min(widest, LEAST) if left else widest)


def _pieces(text: str) -> list[str]:
    """Where a name or a sentence may be parted: at spaces, and behind marks within names."""
    return [piece for word in text.split() for piece in re.findall(r"[^_.]*[_.]*", word) if piece]


def _cell(text: str, wide: int) -> list[str]:
    """A cell's lines: words wrapped, names parted behind their marks, what has no such place cut in the middle."""
    if len(text) <= wide:
        return [text]
    lines = [""]
    for word in text.split():
        word = word if NAME.fullmatch(word.strip(",()<>:-~")) else shortened(word, wide)
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= wide:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        for piece in [word] if len(word) <= wide else [shortened(piece, wide) for piece in _pieces(word)]:
            if len(lines[-1]) + len(piece) > wide:
                lines.append("")
            lines[-1] += piece
    return lines


def shortened(text: str, wide: int) -> str:
    """A text of at most so many characters, cut in the middle: beginnings and ends of addresses tell the most."""
    if len(text) <= wide:
        return text
    end = (wide - 1) // 2
    return f"{text[: wide - 1 - end]}{ELLIPSIS}{text[len(text) - end :]}"


def _drawn(
    rows: Sequence[Words],
    widths: Sequence[int],
    words: Sequence[bool],
    painted: bool,
    styles: Sequence[dict[str, Any]] | None = None,
) -> Iterator[str]:
    for row in rows:
        plain = aligned(row, widths, words)
        found = styles or [_style(cell, at == 0) for at, cell in enumerate(row)]
        if not painted or not any(found):
            yield plain
            continue
        cells = [
            (cell.ljust if left else cell.rjust)(wide) for cell, wide, left in zip(row, widths, words, strict=True)
        ]
        yield GAP.join(_painted(cell, style) for cell, style in zip(cells, found, strict=True)).rstrip()


def _painted(cell: str, style: dict[str, Any]) -> str:
    """A cell, padded, in its style: of limits the broken one alone."""
    part = ONE_BROKEN.search(cell) if style is FIRE else re.search(r"\S(?:.*\S)?", cell)
    return cell[: part.start()] + click.style(part[0], **style) + cell[part.end() :] if part and style else cell
