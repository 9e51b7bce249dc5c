"""How lengths and measures of the kept pages are distributed in two runs, and how far apart they are."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curate.inspect.limits import only_names
from curate.inspect.opened import OpenedRun
from curate.report.distributions import LENGTHS, NAMING, Distribution, LimitLine, lines_of
from curate.report.scales import edges

F64 = npt.NDArray[np.float64]
QUANTILES = (0.05, 0.5, 0.95)
POINTS = 4_000  # at which two distributions are compared


@dataclass(frozen=True)
class Values:
    """A measure of the kept pages of both runs: how many have it, mean, values at QUANTILES, of A and of B.

    `distance` is the largest difference of the shares of pages up to a value (Kolmogorov and Smirnov's), 0 to 1.
    `shown` has bars for A and for B.
    """

    name: str
    pages: tuple[int, int]
    means: tuple[float, float]
    quantiles: tuple[tuple[float, ...], tuple[float, ...]]
    distance: float
    shown: Distribution


def values_of(a: OpenedRun, b: OpenedRun) -> Iterator[Values]:
    """All numbers that both runs measured, in A's order; lengths first."""
    kept = [_kept(run) for run in (a, b)]
    if not all(len(mask) for mask in kept):
        return
    columns = [run.columns("measures") for run in (a, b)]
    for name in [*LENGTHS, *(name for name in columns[0] if "." in name)]:
        if name not in columns[1] or _is_name(name):
            continue
        mine, theirs = _numbers(a, name), _numbers(b, name)
        if mine is None or theirs is None:
            continue
        own, other = _sorted(mine[0][kept[0]]), _sorted(theirs[0][kept[1]])
        if len(own) and len(other):
            yield _values(name, own, other, mine[1] and theirs[1], _limits(a, b, name))


def apart(a: OpenedRun, b: OpenedRun) -> tuple[list[str], list[str]]:
    """Measures that A alone and that B alone recorded."""
    columns = [[name for name in run.columns("measures") if "." in name] for run in (a, b)]
    return [n for n in columns[0] if n not in columns[1]], [n for n in columns[1] if n not in columns[0]]


def _kept(run: OpenedRun) -> npt.NDArray[np.bool_]:
    if not run.parts("measures"):
        return np.zeros(0, np.bool_)
    kept: npt.NDArray[np.bool_] = pc.is_null(run.read("measures", ["stage"]).column(0)).to_numpy()
    return kept


def _is_name(name: str) -> bool:
    stage, _, measure = name.rpartition(".")
    return only_names(stage, measure) or bool(NAMING.search(measure))


def _numbers(run: OpenedRun, name: str) -> tuple[F64, bool] | None:
    """A measure of all pages and whether it counts; None where it is no number."""
    column = run.read("measures", [name]).column(0)
    integral = pa.types.is_integer(column.type)
    return (column.to_numpy().astype(float), integral) if integral or pa.types.is_floating(column.type) else None


def _sorted(values: F64) -> F64:
    return np.sort(values[np.isfinite(values)])


def _limits(a: OpenedRun, b: OpenedRun, name: str) -> list[LimitLine]:
    """The limits of both, once where they agree."""
    stage, _, measure = name.rpartition(".")
    found = [line for run in (a, b) for line in lines_of(stage, run.options.get(stage, {}), measure, [measure])]
    return list(dict.fromkeys(line for line in found if not line.names))


def _values(name: str, a: F64, b: F64, integral: bool, limits: list[LimitLine]) -> Values:
    both = np.sort(np.concatenate([a, b]), kind="stable")
    found, logarithmic = edges(both, [(line.value, line.least) for line in limits], integral)
    bars = [np.diff(np.searchsorted(side, found[1:-1]), prepend=0, append=len(side)).tolist() for side in (a, b)]
    stage, _, measure = name.rpartition(".")
    shown = Distribution(
        stage=stage,
        measure=measure,
        pages=len(both),
        unmeasured=0,
        edges=tuple(found.tolist()),
        bars=tuple(map(tuple, bars)),
        quantiles=(),
        least=float(both[0]),
        most=float(both[-1]),
        below=0,
        above=0,
        spike=None,
        at_spike=0,
        integral=integral,
        logarithmic=logarithmic,
        lines=tuple(limits),
    )
    at = both if len(both) <= POINTS else both[np.linspace(0, len(both) - 1, POINTS).astype(np.int64)]
    shares = [np.searchsorted(side, at, side="right") / len(side) for side in (a, b)]
    quantiles = [tuple(float(side[min(len(side) - 1, int(q * len(side)))]) for q in QUANTILES) for side in (a, b)]
    means = float(a.mean()), float(b.mean())
    distance = float(np.abs(shares[0] - shares[1]).max())
    return Values(name, (len(a), len(b)), means, (quantiles[0], quantiles[1]), distance, shown)
