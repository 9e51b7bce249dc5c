"""Which stage and option a short word means."""

import pytest

from curate.config.file import Config, parse_config
from curate.errors import UserError
from curate.what_if.which import named


def of(*stages: object) -> Config:
    return parse_config({"input": "none.jsonl", "output": "none", "stages": list(stages)}, "test")


@pytest.mark.parametrize("place", ["gopher.min_words", "min_words", " min_words "])
def test_an_option_alone_will_do_where_one_stage_has_it(place: str) -> None:
    assert named(of("extract", "gopher", "near_dedup"), place, "word") == ("gopher", "min_words")


def test_a_limit_is_meant_rather_than_an_option_that_is_none() -> None:
    assert named(of("language", "gopher"), "min_score", "word") == ("language", "min_score")
    assert named(of("exact_dedup", "near_dedup"), "threshold", "word") == ("near_dedup", "threshold")


def test_of_several_the_message_names_them() -> None:
    limit = "max_top_2_gram_ratio"
    several = rf"^'{limit}=1': may be gopher\.{limit} or repetition\.{limit}; name the stage"
    with pytest.raises(UserError, match=several):
        named(of("gopher", "repetition"), limit, f"{limit}=1")


def test_the_class_of_a_plug_in_will_do() -> None:
    config = of("tests.report.odd_stages:Brittle", "gopher")
    for place in ("Brittle.word", "tests.report.odd_stages:Brittle.word", "word"):
        assert named(config, place, "word") == ("tests.report.odd_stages:Brittle", "word")
