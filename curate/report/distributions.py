"""How each measure of a run is distributed among its pages, and what lies beyond its limits.

Read a few columns at a time from `measures/`, so that memory stays at a few arrays of one value a page.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curate.inspect.limits import limits_of, only_names
from curate.inspect.opened import OpenedRun
from curate.output.facts import Options
from curate.report.scales import edges
from curate.rules import breaks

KEPT, HERE, ELSEWHERE = range(3)  # verdicts: kept, dropped by the measure's stage, dropped by another stage
CATEGORIES = 20
AT_A_TIME = 6  # columns
SPIKE = 0.5  # share of pages at one end value from which the others are drawn without it
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
LENGTHS = ("words", "bytes")
NAMING = re.compile(
    r"(^|_)(id|cluster|hash|key|label)$"
)  # measures without a limit that are called so only name things
MANY = 0.5  # values a page from which names are listed, not drawn


@dataclass(frozen=True)
class LimitLine:
    """A limit of the config on a measure: `beyond` pages break it, `alone` of them no other limit.

    `value` is NaN where the limit is a list of names, such as `keep` of language.
    """

    option: str
    value: float
    names: tuple[str, ...] = ()
    beyond: int = 0
    alone: int = 0

    @property
    def least(self) -> bool:
        """Whether values below it break it (else those above)."""
        return self.option.startswith("min_")

    def broken(self, values: np.ndarray) -> np.ndarray:
        """Which values break it; the limit itself passes, NaN too."""
        broken: np.ndarray = breaks(self.option, values, self.value)
        return broken


@dataclass(frozen=True)
class Distribution:
    """A numeric measure: `bars[verdict][i]` pages have a value in [edges[i], edges[i+1]).

    The first and last bar take in what lies outside (`below`, `above` pages). `spike` is the end value whose
    pages, `at_spike`, are left out of the bars because they would dwarf all others.
    """

    stage: str
    measure: str
    pages: int
    unmeasured: int
    edges: tuple[float, ...]
    bars: tuple[tuple[int, ...], ...]
    quantiles: tuple[float, ...]  # at QUANTILES
    least: float
    most: float
    below: int
    above: int
    spike: float | None
    at_spike: int
    integral: bool  # a count: whole numbers only
    logarithmic: bool
    lines: tuple[LimitLine, ...] = ()


@dataclass(frozen=True)
class Categories:
    """A measure of names: pages by value and verdict, most frequent first, at most CATEGORIES of `values` values.

    Also a measure of which no page has a value, with no rows, and one of numbers that only name things.
    """

    stage: str
    measure: str
    pages: int
    unmeasured: int
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    values: int
    lines: tuple[LimitLine, ...] = ()
    drawn: bool = True  # False for what only names things


class Seeing(Protocol):
    """Somebody who wants to see all values of a measure that has a limit."""

    def offer(self, stage: str, measure: str, line: LimitLine, values: np.ndarray) -> None: ...


def distributions(run: OpenedRun, seeing: Seeing | None = None) -> list[Distribution | Categories]:
    """Lengths of the texts (stage ""), then every measure of every rule stage in the order of the config."""
    measures = [name for name in run.columns("measures") if "." in name]
    verdicts = AsSeen(run) if run.parts("measures") else None
    if verdicts is None or not len(verdicts.codes):
        return []
    overlap = Overlap()
    found: list[Distribution | Categories] = []
    for name, column in _columns(run, [*LENGTHS, *measures]):
        stage, _, measure = name.rpartition(".")
        of_stage = [other.rpartition(".")[2] for other in measures if other.rpartition(".")[0] == stage]
        lines = lines_of(stage, run.options.get(stage, {}), measure, of_stage)
        named = only_names(stage, measure) or (not lines and bool(NAMING.search(measure)))
        if not named and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            values, integral = column.to_numpy().astype(float), pa.types.is_integer(column.type)
            counted = [overlap.add(line, line.broken(values)) for line in lines if not line.names]
            found.append(_distribution(stage, measure, values, integral, verdicts.of(stage), counted))
            if seeing:
                for line in counted:
                    seeing.offer(stage, measure, line, values)
        else:
            texts = _texts(column)
            counted = [overlap.add(line, _unnamed(texts, line.names)) for line in lines if line.names]
            found.append(_categories(stage, measure, texts, verdicts.of(stage), counted, named))
    return [replace(one, lines=tuple(map(overlap.counted, one.lines))) for one in found]


def _columns(run: OpenedRun, names: list[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Columns of `measures/`, read a few at a time so that all cores decode and memory stays bounded."""
    for start in range(0, len(names), AT_A_TIME):
        some = names[start : start + AT_A_TIME]
        table = run.read("measures", some)
        yield from ((name, table.column(name)) for name in some)


def lines_of(stage: str, options: Options, measure: str, measures: Iterable[str]) -> list[LimitLine]:
    """The limits of a measure that are set: numbers, which are lines over its values, and lists of names."""
    found = []
    for limit in limits_of(stage, options, measures).get(measure, []):
        if isinstance(limit.value, list | tuple):
            found.append(LimitLine(limit.field, math.nan, tuple(map(str, limit.value))))
        elif limit.field.startswith(("min_", "max_")) and isinstance(limit.value, int | float):
            found.append(LimitLine(limit.field, float(limit.value)))
    return found


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values as texts."""
    if pa.types.is_string(column.type) or pa.types.is_boolean(column.type):
        return column.cast(pa.string())
    return pa.chunked_array([[None if value is None else str(value) for value in column.to_pylist()]], pa.string())


def _unnamed(texts: pa.ChunkedArray, names: tuple[str, ...]) -> np.ndarray:
    """Which values are none of the names; pages without a value pass."""
    named = pc.or_(pc.is_null(texts), pc.is_in(texts, pa.array(names, pa.string())))
    other: np.ndarray = ~named.to_numpy().astype(bool)
    return other


class AsSeen:
    """The verdict of each row of `measures/`, as seen from one stage."""

    def __init__(self, run: OpenedRun) -> None:
        stage = run.read("measures", ["stage"]).column("stage").combine_chunks().dictionary_encode()
        self.codes = stage.indices.fill_null(-1).to_numpy()
        self.names = stage.dictionary.to_pylist()

        self.seen: dict[str, np.ndarray] = {}

    def of(self, stage: str) -> np.ndarray:
        """KEPT, HERE or ELSEWHERE of each row (int8)."""
        if stage not in self.seen:
            here = self.names.index(stage) if stage in self.names else -2
            dropped = np.where(self.codes == here, np.int8(HERE), np.int8(ELSEWHERE))
            self.seen = {stage: np.where(self.codes == -1, np.int8(KEPT), dropped)}
        return self.seen[stage]


class Overlap:
    """Which pages break which limit, a bit each, and which break more than one."""

    def __init__(self) -> None:
        self.broken: list[np.ndarray] = []
        self.once = self.twice = np.zeros(0, dtype=np.uint8)

    def add(self, line: LimitLine, broken: np.ndarray) -> LimitLine:
        """The limit with the pages that break it; `alone` is its number here until `counted` is asked."""
        bits = np.packbits(broken)
        if not self.broken:
            self.once = self.twice = np.zeros(len(bits), dtype=np.uint8)
        self.twice, self.once = self.twice | (self.once & bits), self.once | bits
        self.broken.append(bits)
        return replace(line, beyond=int(np.count_nonzero(broken)), alone=len(self.broken) - 1)

    def counted(self, line: LimitLine) -> LimitLine:
        """The limit with the pages that break it and no other one."""
        return replace(line, alone=int(np.bitwise_count(self.broken[line.alone] & ~self.twice).sum()))


def _distribution(
    stage: str, measure: str, values: np.ndarray, integral: bool, verdict: np.ndarray, lines: list[LimitLine]
) -> Distribution | Categories:
    """The distribution of the finite values; no categories where there are none."""
    known = np.isfinite(values)
    ordered = np.sort(values[known])
    if not len(ordered):
        return Categories(stage, measure, 0, len(values), (), 0)
    spike, at_spike = _spike(ordered)
    drawn = _without(spike, ordered)
    found, logarithmic = edges(drawn, [(line.value, line.least) for line in lines], integral, spike)
    kept, here = (_without(spike, np.sort(values[(verdict == kind) & known])) for kind in (KEPT, HERE))
    elsewhere = _counts(drawn, found) - _counts(kept, found) - _counts(here, found)
    return Distribution(
        stage=stage,
        measure=measure,
        pages=len(ordered),
        unmeasured=len(values) - len(ordered),
        edges=tuple(found.tolist()),
        bars=tuple(tuple(row.tolist()) for row in (_counts(kept, found), _counts(here, found), elsewhere)),
        quantiles=tuple(float(ordered[min(len(ordered) - 1, int(q * len(ordered)))]) for q in QUANTILES),
        least=float(ordered[0]),
        most=float(ordered[-1]),
        below=int(np.searchsorted(drawn, found[0])),
        above=len(drawn) - int(np.searchsorted(drawn, found[-1], side="right")),
        spike=spike,
        at_spike=at_spike,
        integral=integral,
        logarithmic=logarithmic,
        lines=tuple(lines),
    )


def _counts(ordered: np.ndarray, found: np.ndarray) -> np.ndarray:
    """How many of the sorted values lie in each bar; the end bars take in what lies outside."""
    return np.diff(np.searchsorted(ordered, found[1:-1]), prepend=0, append=len(ordered))


def _without(spike: float | None, ordered: np.ndarray) -> np.ndarray:
    """The sorted values but those of a spike, which stand at one of the ends."""
    if spike is None:
        return ordered
    first, last = np.searchsorted(ordered, spike), np.searchsorted(ordered, spike, side="right")
    return ordered[last:] if first == 0 else ordered[:first]


def _spike(ordered: np.ndarray) -> tuple[float | None, int]:
    """The smallest or the largest value where most pages, but not all, have just that one."""
    least, most = ordered[0], ordered[-1]
    at_least = int(np.searchsorted(ordered, least, side="right"))
    at_most = len(ordered) - int(np.searchsorted(ordered, most, side="left"))
    for value, pages in ((least, at_least), (most, at_most)):
        if len(ordered) * SPIKE <= pages < len(ordered):
            return float(value), pages
    return None, 0


def _categories(
    stage: str, measure: str, texts: pa.ChunkedArray, verdict: np.ndarray, lines: list[LimitLine], named: bool
) -> Categories:
    table = pa.table({"value": texts, "verdict": pa.array(verdict)}).filter(pc.is_valid(texts))
    by_value: dict[str, list[int]] = {}
    for row in table.group_by(["value", "verdict"]).aggregate([([], "count_all")]).to_pylist():
        by_value.setdefault(row["value"], [0, 0, 0])[row["verdict"]] += row["count_all"]
    ordered = sorted(by_value.items(), key=lambda item: (-sum(item[1]), item[0]))
    rows = tuple((value, tuple(counts)) for value, counts in ordered[:CATEGORIES])
    many = len(by_value) > max(CATEGORIES, MANY * table.num_rows)  # each page has its own, as a URL
    drawn = not named and not many
    return Categories(stage, measure, table.num_rows, texts.null_count, rows, len(by_value), tuple(lines), drawn)
