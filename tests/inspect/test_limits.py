"""Every limit of every stage of ours judges one measure, found by its name."""

from importlib.util import find_spec

import pytest

from curate.inspect.limits import Limit, limits_of, measure_of
from curate.plug_ins.registry import installed, stage_class
from curate.stage import RuleStage

THERE = [name for name, point in installed().items() if find_spec(point.module)]
STAGES = [(name, stage_class(name)) for name in THERE if issubclass(stage_class(name), RuleStage)]


@pytest.mark.parametrize(("name", "stage"), STAGES)
def test_each_limit_has_its_measure(name: str, stage: type[RuleStage]) -> None:
    assert stage.limits
    for limit in stage.limits:
        assert measure_of(limit, name, stage.measures) in stage.measures


def test_limits_stand_with_their_measure() -> None:
    options = {"annotate": False, "keep": ["en", "de"], "min_score": 0.5}
    found = limits_of("language", options, ("language", "language_score"))
    assert found == {"language": [Limit("keep", ["en", "de"])], "language_score": [Limit("min_score", 0.5)]}


def test_limits_of_a_stage_that_can_not_be_imported_are_told_by_name() -> None:
    found = limits_of("gone.away:Stage", {"min_size": 3, "colour": "red"}, ("size",))
    assert found == {"size": [Limit("min_size", 3)]}


@pytest.mark.parametrize(
    ("field", "limit", "passes", "breaks"),
    [("min_words", 50, 50, 49), ("max_words", 50, 50, 51), ("keep", ["en"], "en", "de"), ("keep", "all", "de", None),
     ("min_words", None, 0, None), ("max_words", 0, 0, 1)],
)  # fmt: skip
def test_a_limit_itself_passes(field: str, limit: object, passes: object, breaks: object) -> None:
    assert not Limit(field, limit).broken(passes) and not Limit(field, limit).broken(None)
    assert breaks is None or Limit(field, limit).broken(breaks)
