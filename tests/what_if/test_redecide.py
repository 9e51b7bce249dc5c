"""Verdicts told column by column are those of `judge`, for every stage that is judged by its rules."""

import dataclasses
import random
from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pytest

from curate.plug_ins.registry import installed, stage_class
from curate.stage import RuleStage, judges_by_rules
from curate.what_if.redecide import breaking

REQUIRED: dict[str, dict[str, Any]] = {
    "linear": {"model": "none"},
    "naive_bayes": {"model": "none"},
    "perplexity": {"models": {"en": "none"}},
    "bad_words": {"lists": {"en": "none"}},
    "edu": {"column": "none"},
    "rewrite": {"use": ("links",)},
    "where": {"keep": "words > 0"},
    "fasttext_quality": {"model": "none", "label": "good", "min_score": 0.5},
}


def stages() -> list[tuple[str, RuleStage]]:
    found = []
    for name, point in installed().items():
        cls = stage_class(name) if find_spec(point.module) else object
        if issubclass(cls, RuleStage):
            needed = {f.name for f in dataclasses.fields(cls) if f.default is f.default_factory is dataclasses.MISSING}
            found.append((name, cls(**{**dict.fromkeys(needed, "none"), **REQUIRED.get(name, {})})))
    return [(name, stage) for name, stage in found if judges_by_rules(stage)]


STAGES = stages()


def test_the_stages_with_most_rules_are_among_them() -> None:
    assert {"gopher", "c4", "fineweb", "url_filter"} <= {name for name, _ in STAGES}


@pytest.mark.parametrize(("name", "stage"), STAGES, ids=[name for name, _ in STAGES])
def test_rules_in_order_drop_as_judge_does(name: str, stage: RuleStage) -> None:
    draw = random.Random(name)
    for _ in range(40):
        values = {field: draw.choice([None, draw.uniform(0, 1), getattr(stage, field)]) for field in stage.limits}
        other = _with(stage, values)
        rows = [_measures(draw, other) for _ in range(60)]
        told: list[str | None] = [None] * len(rows)
        for rule in other.rules:
            kind = pa.string() if pa.types.is_string(other.measures[rule.measure]) else pa.float64()
            column = pa.chunked_array([pa.array([row[rule.measure] for row in rows], kind)])
            broken = breaking(column, rule, other)
            told = [one or (rule.reason if hit else None) for one, hit in zip(told, broken, strict=True)]
        drops = [other.judge(row) for row in rows]
        assert told == [drop.reason if drop else None for drop in drops]


def _with(stage: RuleStage, values: dict[str, Any]) -> RuleStage:
    try:
        return dataclasses.replace(stage, **values)
    except ValueError:  # least above most
        return stage


def _measures(draw: random.Random, stage: RuleStage) -> dict[str, Any]:
    set_ones = (getattr(stage, option) for option in stage.limits)
    near = [limit for limit in set_ones if isinstance(limit, int | float)] or [1]
    return {
        measure: draw.choice([None, "a", ""])
        if pa.types.is_string(kind)
        else draw.choice([None, draw.uniform(0, 2), float(draw.choice(near))])
        for measure, kind in stage.measures.items()
    }
