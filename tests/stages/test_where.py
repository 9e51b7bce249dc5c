"""Conditions over measures and attributes, and what is recorded for another one."""

from pathlib import Path
from typing import Any

import pytest

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.where import Where


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, url="https://host.org/a", attributes=attributes)


def test_a_page_goes_for_which_the_condition_does_not_hold_and_stays_at_its_limit() -> None:
    stage = Where(keep="characters between 5 and 9 and digit_ratio <= 0.5")
    assert stage.apply(page("1234")) == Drop("condition_failed", 4, 5.0, "characters between 5 and 9")
    assert stage.apply(page("a" * 10)) == Drop("condition_failed", 10, 9.0, "characters between 5 and 9")
    assert stage.apply(page("aa1234")) == Drop("condition_failed", 4 / 6, 0.5, "digit_ratio <= 0.5")
    assert isinstance(stage.apply(page("aaa123")), Document)


def test_a_page_goes_whose_values_are_not_known() -> None:
    stage = Where(keep="score > 0.5 and characters > 0")
    assert stage.needs == ("score",)
    assert stage.apply(page("a", score=None)) == Drop("condition_unknown", cause="score > 0.5")
    assert stage.apply(page("a", score=0.5)) == Drop("condition_failed", 0.5, 0.5, "score > 0.5")
    assert isinstance(stage.apply(page("a", score=0.6)), Document)
    assert isinstance(Where(keep="score > 0.5 or score is null").apply(page("a", score=None)), Document)


def test_what_every_document_has_can_be_named_and_attributes_of_any_type() -> None:
    german = Where(keep="url contains 'host.org' and language in ('en', 'de')").apply(page("a", language="de"))
    assert isinstance(german, Document)
    assert isinstance(Where(keep="tags contains 'x'").apply(page("a", tags=["x"])), Document)


def test_another_condition_can_be_asked_of_the_measures() -> None:
    measured = Where(keep="score > 0.5 and words > 3").measure(page("a b", score=0.25))
    assert Where(keep="words < 3 and score < 0.5").judge(measured) is None
    assert Where(keep="words < 2").judge(measured) == Drop("condition_failed", 2, 2.0, "words < 2")
    with pytest.raises(UserError, match="'other' was not recorded"):
        Where(keep="other < 5").judge(measured)
    ran = Where(keep="score > 0.5 and words > 3")
    assert Where(keep="words < 3 and score < 0.5").rerun(ran) is None
    assert "'url' was not recorded" in (Where(keep="url contains 'x'").rerun(ran) or "")


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("words <", "keep: column 8"),
        ("words = 'five'", "words is a number"),
        ("flagged_word_ratio < 0.1", "give flagged_words_file"),
        ("stop_word_ratio > 0.1", "give stop_words_file"),
    ],
)
def test_what_can_never_hold_is_refused(keep: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Where(keep=keep)


def test_lists_are_read_and_a_missing_one_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("drat\n")
    stage = Where(keep="flagged_word_ratio <= 0.5", flagged_words_file=str(tmp_path / "bad.txt"))
    assert isinstance(stage.apply(page("Drat! me")), Document)
    assert isinstance(stage.apply(page("Drat! drat me")), Drop)
    with pytest.raises(UserError, match=r"gone: can.t be read as a list"):
        Where(keep="words > 1", stop_words_file=str(tmp_path / "gone")).check([], [])
