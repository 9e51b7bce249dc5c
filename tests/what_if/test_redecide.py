"""Verdicts told column by column are those of `judge`, for every stage that is taken as a list of rules in order."""

import dataclasses
import random
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pytest

from curate.inspect.limits import Limit
from curate.plug_ins.registry import installed, stage_class
from curate.stage import RuleStage
from curate.what_if.redecide import _broken, in_order

REQUIRED = {"naive_bayes": {"model": "none"}}


def stages() -> list[tuple[str, RuleStage]]:
    found = []
    for name, point in installed().items():
        cls = stage_class(name) if find_spec(point.module) else object
        if issubclass(cls, RuleStage):
            stage = cls(**REQUIRED.get(name, {}))
            if in_order(stage, name) is not None:
                found.append((name, stage))
    return found


STAGES = stages()


def test_the_stages_with_most_rules_are_among_them() -> None:
    assert {"gopher", "c4", "fineweb"} <= {name for name, _ in STAGES}


@pytest.mark.parametrize(("name", "stage"), STAGES, ids=[name for name, _ in STAGES])
def test_rules_in_order_drop_as_judge_does(name: str, stage: RuleStage) -> None:
    draw = random.Random(name)
    for _ in range(40):
        values = {field: draw.choice([None, draw.uniform(0, 1), getattr(stage, field)]) for field in stage.limits}
        other = _with(stage, values)
        ordered = in_order(other, name)
        assert ordered is not None
        rows = [_measures(draw, ordered, other) for _ in range(60)]
        told: list[str | None] = [None] * len(rows)
        for reason, measure, limit in ordered:
            broken = _broken(pa.chunked_array([pa.array([row[measure] for row in rows], pa.float64())]), limit)
            told = [one or (reason if hit else None) for one, hit in zip(told, broken, strict=True)]
        drops = [other.judge(row) for row in rows]
        assert told == [drop.reason if drop else None for drop in drops]


def _with(stage: RuleStage, values: dict[str, Any]) -> RuleStage:
    try:
        return dataclasses.replace(stage, **values)
    except ValueError:  # least above most
        return stage


def _measures(draw: random.Random, ordered: list[tuple[str, str, Limit]], stage: RuleStage) -> dict[str, Any]:
    near = [limit.value for _, _, limit in ordered if limit.value is not None] or [1]
    return {measure: draw.choice([None, draw.uniform(0, 2), float(draw.choice(near))]) for measure in stage.measures}
