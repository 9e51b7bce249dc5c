"""Line corrections: which lines go, what is cut, which pages go; each at the limit and over it, in both readings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.document import Address, Document, Drop
from stages.line_rules import LineRules

PROFILES = ("refinedweb", "dclm")
LINE = "Here is a line of prose that stays."


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


def cleaned(text: str, **options: Any) -> str:
    return LineRules(**options).clean(page(text)).text


def test_a_page_goes_that_loses_more_than_a_twentieth_of_its_words() -> None:
    words = "word " * 18
    stage = LineRules()
    assert stage.apply(page(f"{words}\nmenu")) == Drop("too_many_words_removed", 1 / 19, 0.05)
    kept = stage.apply(page(f"{words}word\nmenu"))
    assert isinstance(kept, Document) and kept.attributes["removed_word_ratio"] == 1 / 20


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("option", "goes", "stays"),
    [
        ("max_uppercase_ratio", "ABC d", "ABC de"),
        ("remove_numeric_lines", "1234", "12 34"),
        ("remove_counter_lines", "3 likes", "3 likely"),
        ("remove_counter_lines", "1,204.5K Views!", "1,204.5K Viewers!"),
        ("min_line_words", "Menu", "Menu two"),
    ],
)
def test_a_line_that_breaks_a_rule_goes_and_stays_when_the_rule_is_off(
    profile: Any, option: str, goes: str, stays: str
) -> None:
    text, only = f"{LINE}\n{goes}\n{stays}", {"min_line_words": None, "profile": profile}
    off = False if isinstance(getattr(LineRules(), option), bool) else None
    if option == "min_line_words":
        only.pop("min_line_words")
    assert cleaned(text, **only) == f"{LINE}\n{stays}"
    assert cleaned(text, **{**only, option: off}) == text


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("You have 2 items in cart now", "You have 2 now"),
        ("The whole story of it. Read more...", "The whole story of it."),
        ("sign-in to see your orders", "to see your orders"),
        ("to see more you sign-in here", "to see more you sign-in here"),
        ("Read more... about it here", "Read more... about it here"),
        ("one two three four five six seven eight nine Sign-in eleven items in cart", None),
    ],
)
def test_phrases_are_cut_from_short_lines_at_their_place(profile: Any, line: str, left: str | None) -> None:
    assert cleaned(f"{LINE}\n{line}", profile=profile) == f"{LINE}\n{line if left is None else left}"


def test_a_line_of_ten_words_is_short_and_one_of_eleven_is_not() -> None:
    ten = "sign-in " + "word " * 8 + "end"
    assert cleaned(f"{LINE}\n{ten}") == f"{LINE}\n{'word ' * 8}end"
    assert cleaned(f"{LINE}\n{ten} eleven") == f"{LINE}\n{ten} eleven"


def test_the_two_readings_of_a_dot_in_a_phrase() -> None:
    line = "The story. Read moreabc"
    assert cleaned(line, profile="refinedweb") == line
    assert cleaned(line, profile="dclm") == "The story."


def test_the_two_readings_of_white_space_around_a_line() -> None:
    assert cleaned(f"{LINE}\n  AB C\n{LINE}", profile="refinedweb") == f"{LINE}\n{LINE}"
    assert cleaned(f"{LINE}\n  AB C\n{LINE}", profile="dclm") == f"{LINE}\n  AB C\n{LINE}"


@pytest.mark.parametrize("profile", PROFILES)
def test_empty_lines_stay_and_a_line_that_is_cut_to_nothing_goes(profile: Any) -> None:
    assert cleaned(f"{LINE}\n\nRead more...\n{LINE}", profile=profile) == f"{LINE}\n\n{LINE}"


def test_a_page_without_words_is_lost_whole() -> None:
    assert LineRules().apply(page("")) == Drop("too_many_words_removed", 1.0, 0.05)
    assert isinstance(LineRules(max_removed_word_ratio=None).apply(page("")), Document)


def test_other_languages_pass_unedited_and_unmeasured() -> None:
    foreign = page("3 likes", language="de")
    assert LineRules().apply(foreign).attributes.get("removed_word_ratio") is None  # type: ignore[union-attr]


def test_an_empty_phrase_is_refused() -> None:
    with pytest.raises(ValueError, match="a phrase is empty"):
        LineRules(phrases_at_end=("",))


@given(st.text(st.sampled_from("aB1 \n.3likes"), max_size=80))
def test_no_text_grows(text: str) -> None:
    for profile in PROFILES:
        assert len(cleaned(text, profile=profile)) <= len(text)
