"""Kept pages to show beside dropped ones: those that came nearest to a limit, or any.

Candidates are the pages of a few row groups of the shards, evenly from all of them: texts are stored together, and a
page from here and there would have all shards read.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from curate.inspect.limits import options_of
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import keys
from curate.report.addresses import Place, groups, rows_of
from curate.report.distributions import LimitLine

ROW_GROUPS = 8
MOST = 12  # pages remembered of each limit
I64 = npt.NDArray[np.int64]


class Near(NamedTuple):
    """A candidate by its number, with the value by which it passed a limit; no option where it was just drawn."""

    number: int
    measure: str = ""
    value: float = 0.0
    limit: float = 0.0


class KeptPage(NamedTuple):
    """A kept page to read."""

    place: Place
    url: str | None
    text: str


class KeptPages:
    """The candidates of a run. `offer` shows it all values of a measure, as `distributions` reads them anyway."""

    def __init__(self, run: OpenedRun) -> None:
        self.run = run
        self.groups = groups(run, "shards", ROW_GROUPS)
        self.nearest: dict[tuple[str, str], list[Near]] = {}
        self.drawn = 0

    @cached_property
    def rows(self) -> tuple[I64, I64]:
        """Numbers of candidates that a rule stage measured, and the row of `measures/` of each."""
        tables = [rows_of(self.run, group, ["file_path", "offset"]) for group in self.groups]
        own = [keys(self.run, table["file_path"], table["offset"]) for table in tables]
        key = np.concatenate(own) if own else np.empty(0, np.int64)
        known = self._measured()
        place = np.minimum(np.searchsorted(known, key), max(0, len(known) - 1))
        found = np.flatnonzero(known[place] == key) if len(known) else np.empty(0, np.int64)
        return found, place[found]

    def _measured(self) -> I64:
        """Keys of all measured pages, made part by part: their files' names take much more room."""
        found = [np.empty(0, np.int64)]
        for path in self.run.parts("measures"):
            table = self.run.read_part(path, ["file_path", "offset"])
            found.append(keys(self.run, table["file_path"], table["offset"]))
        return np.concatenate(found)

    def offer(self, stage: str, measure: str, line: LimitLine, values: npt.NDArray[np.float64]) -> None:
        """Remembers the candidates that pass a limit by the least."""
        numbers, rows = self.rows
        own = values[rows]
        passing = np.flatnonzero(np.isfinite(own) & ~line.broken(own))
        nearest = passing[np.argsort(np.abs(own[passing] - line.value), kind="stable")[:MOST]]
        self.nearest[stage, line.option] = [
            Near(int(numbers[place]), measure, float(own[place]), line.value) for place in nearest
        ]

    def beside(self, stage: str, reason: str, most: int) -> list[Near]:
        """Up to so many candidates for pages dropped for a reason: by its limit where it has one, else the next."""
        for option in options_of(stage, reason):
            if found := self.nearest.get((stage, option)):
                return found[:most]
        total = sum(group.rows for group in self.groups)
        number = min(most, total)
        first, self.drawn = self.drawn, self.drawn + number
        return [Near(_scattered(first + place, total)) for place in range(number)]

    def pages(self, numbers: Iterable[int]) -> dict[int, KeptPage]:
        """Candidates with their texts, by their numbers."""
        wanted = np.array(sorted(set(numbers)), np.int64)
        found: dict[int, KeptPage] = {}
        before = 0
        for group in self.groups:
            mine = wanted[(wanted >= before) & (wanted < before + group.rows)]
            if len(mine):
                table = rows_of(self.run, group, ["file_path", "offset", "url", "text"])
                for number in mine.tolist():  # no `take`, which would copy all texts first
                    file, offset, url, text = (column[number - before].as_py() for column in table.columns)
                    found[number] = KeptPage((file, offset), url, text)
                del table
            before += group.rows
        return found


def _scattered(place: int, total: int) -> int:
    """The place-th of numbers that lie far apart: multiples of the golden section of the whole."""
    return int(place * 0.6180339887498949 * total) % total
