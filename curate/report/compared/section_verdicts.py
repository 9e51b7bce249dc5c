"""Which pages have another verdict in the other run."""

from pathlib import PurePosixPath
from typing import Any

from markupsafe import Markup

from curate.errors import UserError
from curate.inspect.difference import KEPT, Difference, Move, Verdict
from curate.inspect.opened import OpenedRun
from curate.report.addresses import Place, rows_at
from curate.report.markup import count, element, join, measured, table, url, words
from curate.sizes import numbered

EXAMPLES, MOST_PAGES, MOST_MOVES = 12, 300, 100  # pages of each change, in all; changes listed
LEDGER = ["url", "value", "limit", "cause", "matched_file", "matched_offset"]
Row = dict[str, Any]


def verdicts(compared: Difference) -> Markup:
    """How many pages went from which verdict to which, and some of them."""
    try:
        moves = [move for move in compared.moves(EXAMPLES) if move.before != move.after]
    except UserError:  # other inputs
        return element("p", "The two runs read no file in common, so their pages can't be matched.")
    if not moves:
        return element("p", "Every page has the same verdict in both.")
    gained, lost, other = _sums(moves)
    said = (
        f"{numbered(gained, 'page')} kept by B alone, {count(lost)} by A alone; {count(other)} are kept or dropped in "
        "both for another reason, or were read by one run only."
    )
    lines = [[_name(move.before), _name(move.after), count(move.documents)] for move in moves[:MOST_MOVES]]
    return join(
        [
            element("p", said),
            table("Pages by verdict in A and B", ["in A", "in B", "pages"], lines, texts=2),
            _pages(compared, moves),
        ]
    )


def _sums(moves: list[Move]) -> tuple[int, int, int]:
    gained = sum(move.documents for move in moves if move.side and move.after[0] == KEPT)
    lost = sum(move.documents for move in moves if move.side and move.before[0] == KEPT)
    return gained, lost, sum(move.documents for move in moves if not move.side)


def _name(verdict: Verdict) -> str:
    return f"{verdict[0]}: {words(verdict[1])}" if verdict[1] else verdict[0]


def _pages(compared: Difference, moves: list[Move]) -> Markup:
    chosen = [(move, place) for move in moves for place in move.places][:MOST_PAGES]
    sides = [Explained(run, [place for _, place in chosen]) for run in (compared.before, compared.after)]
    lines = [
        [
            url(_url(sides, place)),
            *(_why(verdict, side.row(place)) for verdict, side in _both(move, sides)),
            _code(place),
        ]
        for move, place in chosen
    ]
    of = sum(move.documents for move in moves)
    said = element("p", f"{numbered(len(chosen), 'page')} of {count(of)}, up to {EXAMPLES} of each change:")
    return join(
        [said, table("Pages with another verdict", ["page", "in A", "in B", "address"], lines, 4, found="page")]
    )


def _both(move: Move, sides: list["Explained"]) -> list[tuple[Verdict, "Explained"]]:
    return list(zip((move.before, move.after), sides, strict=True))


def _url(sides: list["Explained"], place: Place) -> str | None:
    return next((row["url"] for side in sides if (row := side.row(place)) and row["url"]), None)


def _code(place: Place) -> Markup:
    return element("code", f"{place[0]}:{place[1]}")


def _why(verdict: Verdict, row: Row | None) -> list[object]:
    """A verdict with the value and limit, the cause or the twin behind it."""
    said: list[object] = [_name(verdict)]
    if not row or verdict[0] == KEPT:
        return said
    if row.get("limit") is not None:
        said.append(f", {measured(row['value'])} (limit {measured(row['limit'])})")
    elif row.get("matched_file"):
        said += [", copy of ", element("code", f"{row['matched_file']}:{row['matched_offset']}")]
    elif row.get("cause"):
        said.append(f", {row['cause']}")
    return said


class Explained:
    """What a run's tables say of some pages. A file may have another path in the other run."""

    def __init__(self, run: OpenedRun, places: list[Place]) -> None:
        by_name = {PurePosixPath(name).name: name for name in run.files}
        self.own = {place: (self._file(run, by_name, place[0]), place[1]) for place in places}
        self.rows: dict[Place, Row] = {}
        for kind, columns in (("shards", ["url"]), ("ledger", LEDGER)):
            for row in rows_at(run, kind, self.own.values(), columns):
                self.rows[row["file_path"], row["offset"]] = row

    @staticmethod
    def _file(run: OpenedRun, by_name: dict[str, str], file: str) -> str:
        return file if file in run.files else by_name.get(PurePosixPath(file).name, file)

    def row(self, place: Place) -> Row | None:
        """Its row in the shards or the ledger; None where the run did not read it."""
        return self.rows.get(self.own[place])
