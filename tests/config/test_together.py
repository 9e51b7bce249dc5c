"""Stages that can't stand in the order of a config are refused with the place and the way out."""

from typing import Any

import pytest

from curate.config.file import parse_config
from curate.errors import UserError


def config(*stages: Any) -> dict[str, Any]:
    return {"input": "pages.warc.gz", "output": "out", "stages": list(stages)}


@pytest.mark.parametrize(
    ("early", "message"),
    [
        ("gopher", "must stand before 'gopher', which judges the text"),
        ("pii", "must stand before 'pii', which judges the text"),
        ({"where": {"keep": "words > 3"}}, "must stand before 'where', which judges the text"),
        ("tests.together:Scoring", "which judges the text (unless it declares `reads_text = False`)"),
    ],
)
def test_what_reads_the_text_stands_after_the_stage_that_gives_it(early: Any, message: str) -> None:
    with pytest.raises(UserError) as refused:
        parse_config(
            config("prescreen", early, "extract", "language", "gopher")
            if early != "gopher"
            else config(early, "extract")
        )
    assert str(refused.value).partition("] extract: ")[0].startswith("config: stages[")
    assert message in str(refused.value)


@pytest.mark.parametrize("early", [{"url_filter": {"words": ["x"]}}, {"where": {"keep": "url contains 'a'"}}])
def test_what_looks_at_the_url_may_stand_before(early: Any) -> None:
    read = parse_config(config(early, "extract"))
    assert [entry.name for entry in read.stages][1] == "extract"


def test_what_saves_the_work_of_extraction_stands_before_it() -> None:
    with pytest.raises(UserError, match=r"stages\[1\] prescreen: must stand before 'extract', whose work it saves"):
        parse_config(config("extract", "prescreen"))
