"""Limits stand with the measures that the rules of their stage name."""

import pytest

from curate.inspect.limits import Limit, limits_of


def test_limits_stand_with_their_measure() -> None:
    options = {"annotate": False, "keep": ["en", "de"], "min_score": 0.5}
    found = limits_of("language", options, ("language", "language_score"))
    assert found == {"language": [Limit("keep", ["en", "de"])], "language_score": [Limit("min_score", 0.5)]}


def test_a_measure_may_have_a_least_and_a_most() -> None:
    found = limits_of("gopher", {"min_words": 50, "max_words": 60}, ("words", "stop_words"))
    assert found == {"words": [Limit("min_words", 50), Limit("max_words", 60)], "stop_words": []}


@pytest.mark.parametrize("stage", ["gone.away:Stage", "extract"])
def test_a_stage_without_rules_or_that_can_not_be_imported_has_no_limits(stage: str) -> None:
    assert limits_of(stage, {"min_size": 3}, ("size",)) == {"size": []}


@pytest.mark.parametrize(
    ("field", "limit", "passes", "breaks"),
    [
        ("min_words", 50, 50, 49),
        ("max_words", 50, 50, 51),
        ("keep", ["en"], "en", "de"),
        ("keep", "all", "de", None),
        ("min_words", None, 0, None),
        ("max_words", 0, 0, 1),
    ],
)
def test_a_limit_itself_passes(field: str, limit: object, passes: object, breaks: object) -> None:
    assert not Limit(field, limit).broken(passes) and not Limit(field, limit).broken(None)
    assert breaks is None or Limit(field, limit).broken(breaks)
