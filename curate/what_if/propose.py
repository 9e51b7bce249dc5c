"""Proposes limits from what a run recorded: the quantiles at which each rule keeps a wanted share of the pages.

What chooses does not judge: the limits are chosen on one half of the pages, drawn by a hash of where they lie, and what
they drop is counted on the other half.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.errors import UserError, hint
from curate.inspect.recorded import Mask, Recorded
from curate.inspect.tables import lines, shown
from curate.sizes import numbered
from curate.stage import ENDS, RuleStage, breaks
from curate.what_if.redecide import new_stage

DIGITS = 3  # of a proposed limit
FEW = 200  # pages to judge by, under which the answer says that they are few
ROUNDS = 20  # of halving the share that each rule may drop, for a wanted share of all together


class AskedRule(NamedTuple):
    """A rule that can be given a limit: its stage, its option, and the values of its measure (NaN: not measured)."""

    stage: str
    option: str
    measure: str
    now: float | None
    integral: bool  # whether the measure is a whole number
    sides: int  # how many options judge the measure
    values: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Proposal:
    """A proposed limit: pages of the judging half that the run's own limit drops alone, and that this one does."""

    stage: str
    option: str
    now: float | None
    proposed: float
    drops_now: int
    drops: int


@dataclass(frozen=True)
class Proposed:
    """All limits, and what they keep together of the `pages` that judged them; the run's own limits kept `kept_now`."""

    proposals: tuple[Proposal, ...]
    pages: int
    kept_now: int
    kept: int


def propose(recorded: Recorded, keep: float, together: bool = False, stages: Sequence[str] = ()) -> Proposed:
    """Limits that keep a share of the pages, each alone or all together. Raises UserError where nothing can be told."""
    asked = list(_lines(recorded, stages))
    pages = _judged(recorded)
    half = _half(recorded.key)
    chosen, judging = pages & half, pages & ~half
    if not asked or not chosen.any() or not judging.any():
        raise UserError("no rule with a number for its limit measured enough pages; give a run that has one")
    share = _share_together(recorded, asked, chosen, 1 - keep) if together else 1 - keep
    limits = [_limit(recorded, line, chosen, share) for line in asked]
    judged = [(line, limit) for line, limit in zip(asked, limits, strict=True) if limit is not None]
    rows = [
        Proposal(
            line.stage,
            line.option,
            line.now,
            limit,
            int(_broken(line, line.now)[judging].sum()),
            int(_broken(line, limit)[judging].sum()),
        )
        for line, limit in judged
    ]
    return Proposed(
        tuple(rows),
        int(judging.sum()),
        _kept([(line, line.now) for line in asked], judging),
        _kept(judged, judging),
    )


def _lines(recorded: Recorded, stages: Sequence[str]) -> Iterator[AskedRule]:
    """The rules of the run that have a number for a limit, those that are off left out."""
    known = [name for _, name, stage in recorded.document_stages if isinstance(stage, RuleStage)]
    for name in stages:
        if name not in known:
            raise UserError(f"--stage: the run measured nothing by '{name}', {hint(name, known)}")
    for _, name, stage in recorded.document_stages:
        if not isinstance(stage, RuleStage) or (stages and name not in stages):
            continue
        ends = [rule for rule in stage.rules if rule.option is not None and rule.option.startswith(ENDS)]
        for rule in ends:
            now, kind = getattr(stage, rule.option or ""), stage.measures[rule.measure]
            if isinstance(now, int | float):
                values = recorded.column(f"{name}.{rule.measure}").to_numpy().astype(np.float64)
                sides = sum(other.measure == rule.measure for other in ends)
                yield AskedRule(name, rule.option or "", rule.measure, now, pa.types.is_integer(kind), sides, values)


def _judged(recorded: Recorded) -> Mask:
    """Pages for which limits decide: not those dropped for what no number tells (a language, a listed word)."""
    decided = recorded.passed.copy()
    for code, _, stage in recorded.document_stages:
        if isinstance(stage, RuleStage):
            numbers = [r.reason for r in stage.rules if r.option is not None and r.option.startswith(ENDS)]
            reasons = [place for place, reason in enumerate(recorded.reasons) if reason in numbers]
            decided |= (recorded.stage == code) & np.isin(recorded.reason, reasons)
    return decided


def mixed(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """A hash of each key: the finaliser of splitmix64."""
    found = keys.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    return found


def _half(keys: npt.NDArray[np.int64]) -> Mask:
    """About every second page, by a hash of its key."""
    half: Mask = (mixed(keys) & np.uint64(1)).astype(np.bool_)
    return half


def _broken(line: AskedRule, limit: float | None) -> Mask:
    if limit is None:
        return np.zeros(len(line.values), np.bool_)
    broken: Mask = breaks(line.option, line.values, limit)
    return broken


def _kept(limits: Sequence[tuple[AskedRule, float | None]], pages: Mask) -> int:
    """How many pages pass all limits."""
    passed = pages.copy()
    for line, limit in limits:
        passed &= ~_broken(line, limit)
    return int(passed.sum())


def _limit(recorded: Recorded, line: AskedRule, pages: Mask, share: float) -> float | None:
    """The tightest limit that drops at most a share of the pages, in few digits; None where all values are one.

    Of two limits of one measure each may drop half of the share.
    """
    values = line.values[pages]
    values = values[~np.isnan(values)]
    if not len(values) or values.min() == values.max():
        return None
    sign = -1 if line.option.startswith("min_") else 1
    exact = sign * float(np.quantile(sign * values, 1 - share / line.sides, method="inverted_cdf"))
    return next(limit for limit in (_rounded(exact, sign, line.integral), exact) if _taken(recorded, line, limit))


def _rounded(value: float, sign: int, integral: bool) -> float:
    """A limit in three digits, rounded to the side that drops less."""
    if value == 0:
        return 0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - DIGITS + 1)
    up = math.ceil(round(value / step, 6)) if sign > 0 else math.floor(round(value / step, 6))
    near = float(f"{up * step:.12g}")
    return (math.ceil(near) if sign > 0 else math.floor(near)) if integral else near


def _taken(recorded: Recorded, line: AskedRule, limit: float) -> bool:
    """Whether the stage takes the limit; an exact quantile is let through, for the config to tell."""
    try:
        new_stage(recorded.config, line.stage, {line.option: limit})
    except UserError:
        return False
    return True


def _share_together(recorded: Recorded, asked: Sequence[AskedRule], pages: Mask, drop: float) -> float:
    """The largest share that each rule alone may drop so that all together drop no more than `drop`."""
    low, high = 0.0, drop
    most = int(pages.sum()) * (1 - drop)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        limits = [(line, _limit(recorded, line, pages, middle)) for line in asked]
        low, high = (middle, high) if _kept(limits, pages) >= most else (low, middle)
    return low


def proposal_lines(proposed: Proposed) -> list[str]:
    """The proposals as config lines, and what each drops alone and all together."""
    options: dict[str, list[str]] = {}
    for one in proposed.proposals:
        options.setdefault(one.stage, []).append(f"      {one.option}: {plain(one.proposed)}")
    found = ["stages:"]
    for stage, limits in options.items():
        found += [f"  - {stage}:", *limits]
    found.append("")
    rows: list[dict[str, Any]] = [
        {
            "limit": f"{one.stage}.{one.option}",
            "now": shown(one.now),
            "proposed": plain(one.proposed),
            "drops now": _part(one.drops_now, proposed.pages),
            "drops alone": _part(one.drops, proposed.pages),
        }
        for one in proposed.proposals
    ]
    dropped, dropped_now = proposed.pages - proposed.kept, proposed.pages - proposed.kept_now
    rows.append(
        {
            "limit": "all together",
            "drops now": _part(dropped_now, proposed.pages),
            "drops alone": _part(dropped, proposed.pages),
        }
    )
    found += lines(rows, ("limit", "now", "proposed", "drops now", "drops alone"))
    found += ["", f"chosen on one half of the pages, judged on the other: {numbered(proposed.pages, 'page')}"]
    return found + (["few pages: take these for hints"] if proposed.pages < FEW else [])


def plain(value: float) -> str:
    """A limit as a config has it."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _part(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}%"
