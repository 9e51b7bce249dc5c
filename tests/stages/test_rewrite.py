"""Edits in their order, counted by rule; the limit; what is refused."""

import json
from typing import Any

import pytest

from curate.document import Address, Document, Drop
from stages.rewrite import EDITS, Replacement, Rewrite


def page(text: str) -> Document:
    return Document(Address("web", "a.warc", 0), text=text)


def kept(stage: Rewrite, text: str) -> Document:
    outcome = stage.apply(page(text))
    assert isinstance(outcome, Document)
    return outcome


def test_edits_are_made_in_order_and_counted_by_rule() -> None:
    stage = Rewrite(
        use=("links", "white_space"),
        patterns=(Replacement(pattern="b+", replace="a", name="bs"), Replacement(pattern="a")),
    )
    outcome = kept(stage, "see  https://host.org/x  bb aa")
    assert outcome.text == "see  "
    counts = {"links": 1, "white_space": 1, "bs": 1, "pattern 2": 3}
    assert json.loads(outcome.attributes["rewrites_by_rule"]) == counts
    assert outcome.attributes["rewrites"] == 6


def test_a_page_goes_that_loses_more_than_its_share_and_stays_at_it() -> None:
    stage = Rewrite(patterns=(Replacement(pattern="x"),), max_removed_ratio=0.5)
    assert stage.apply(page("axx")) == Drop("too_much_removed", 2 / 3, 0.5)
    assert kept(stage, "ax").text == "a"


def test_a_text_that_grows_has_lost_nothing_and_one_without_matches_is_the_same() -> None:
    stage = Rewrite(patterns=(Replacement(pattern="x", replace="yyy"),), max_removed_ratio=0)
    assert kept(stage, "ax").attributes["removed_ratio"] == 0
    assert kept(stage, "ab").attributes["rewrites_by_rule"] is None


@pytest.mark.parametrize("name", [*EDITS, "repeated_sentences", "long_words"])
def test_built_in_edits_leave_an_empty_text(name: Any) -> None:
    assert kept(Rewrite(use=(name,)), "").text == ""


def test_long_words_go_over_their_length() -> None:
    assert kept(Rewrite(use=("long_words",), max_word_length=3), "abc abcd").text == "abc "


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "edits nothing"),
        ({"patterns": (Replacement(pattern="(?=a)"),)}, r"patterns: number 1 \(\(\?=a\)\)"),
        ({"use": ("links", "links")}, "two edits are called 'links'"),
        ({"patterns": (Replacement(pattern="a"),) * 201}, "at most 200"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rewrite(**options)
