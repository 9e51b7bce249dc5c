"""Verdicts told column by column are those of `judge`, for every stage that is judged by its rules."""

import dataclasses
import random
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pytest

from curate.plug_ins.registry import installed, stage_class
from curate.rules import RuleStage, judges_by_rules
from curate.what_if.redecide import breaking


def made(cls: type[RuleStage], **options: Any) -> RuleStage:
    """A stage that is good for its verdicts alone: its other options are at their defaults, or None."""
    stage = object.__new__(cls)
    for field in dataclasses.fields(cls):
        default = None if field.default is dataclasses.MISSING else field.default
        object.__setattr__(stage, field.name, options.get(field.name, default))
    return stage


def stages() -> list[tuple[str, RuleStage]]:
    classes = {name: stage_class(name) for name, point in installed().items() if find_spec(point.module)}
    found = [(name, made(cls)) for name, cls in classes.items() if issubclass(cls, RuleStage)]
    return [(name, stage) for name, stage in found if judges_by_rules(stage)]


STAGES = stages()


def test_the_stages_with_most_rules_are_among_them() -> None:
    assert {"gopher", "c4", "fineweb", "url_filter"} <= {name for name, _ in STAGES}


@pytest.mark.parametrize(("name", "stage"), STAGES, ids=[name for name, _ in STAGES])
def test_rules_in_order_drop_as_judge_does(name: str, stage: RuleStage) -> None:
    draw = random.Random(name)
    for _ in range(40):
        values = {field: draw.choice([None, draw.uniform(0, 1), getattr(stage, field)]) for field in stage.limits}
        other = made(type(stage), **values)
        rows = [_measures(draw, other) for _ in range(60)]
        reasons: list[str | None] = [None] * len(rows)
        for rule in other.rules:
            kind = pa.string() if pa.types.is_string(other.measures[rule.measure]) else pa.float64()
            column = pa.chunked_array([pa.array([row[rule.measure] for row in rows], kind)])
            broken = breaking(column, rule, other)
            reasons = [one or (rule.reason if hit else None) for one, hit in zip(reasons, broken, strict=True)]
        drops = [other.judge(row) for row in rows]
        assert reasons == [drop.reason if drop else None for drop in drops]


def _measures(draw: random.Random, stage: RuleStage) -> dict[str, Any]:
    limits = [getattr(stage, option) for option in stage.limits]
    near = [limit for limit in limits if isinstance(limit, int | float)] or [1]
    return {
        measure: draw.choice([None, "a", ""])
        if pa.types.is_string(kind)
        else draw.choice([None, draw.uniform(0, 2), float(draw.choice(near))])
        for measure, kind in stage.measures.items()
    }
