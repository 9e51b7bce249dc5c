"""C4's rules: which lines go, which pages go, at the limit and over it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.c4 import C4, POLICY_PHRASES, sentences

LINE = "This line has four words."
OFF: dict[str, Any] = dict.fromkeys(C4.limits)


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


def cleaned(text: str, **options: Any) -> str:
    return C4(**options).clean(page(text)).text


@pytest.fixture
def bad_words(tmp_path: Path) -> str:
    path = tmp_path / "bad.txt"
    path.write_text("# a comment\nDrat\n\ndash it\n")
    return str(path)


# For each reason: its limit, the smallest page that fires it, and one just inside the limit.
AT_THE_LIMIT = {
    "lorem_ipsum": ("max_lorem_ipsum", "Here is Lorem Ipsum.", "Here is lorem. Ipsum it is."),
    "curly_bracket": ("max_curly_brackets", "Here it is {.", "Here it is }."),
    "bad_word": ("max_bad_words", "Oh, DRAT it!", "Oh, drats and undrat!"),
    "too_few_sentences": ("min_sentences", f"{LINE}\n" * 3 + LINE, f"{LINE} {LINE}\n" * 2 + LINE),
}


@pytest.mark.parametrize("reason", C4.reasons)
def test_each_reason_fires_over_its_limit_and_passes_at_it(reason: str, bad_words: str) -> None:
    limit, over, at = AT_THE_LIMIT[reason]
    stage = C4(**{**OFF, limit: getattr(C4(), limit), "bad_words_file": bad_words})
    dropped = stage.apply(page(over))
    assert isinstance(dropped, Drop) and dropped.reason == reason
    assert isinstance(stage.apply(page(at)), Document)
    assert isinstance(C4(**OFF, bad_words_file=bad_words).apply(page(over)), Document)


@pytest.mark.parametrize(
    ("option", "goes", "stays"),
    [
        ("require_end_mark", "This line has four words", LINE),
        ("require_end_mark", "This line trails off...", "This line trails off.."),
        ("min_line_words", "Two words.", "Three words now."),
        ("max_word_length", f"A long {'x' * 1000}.", f"A long {'x' * 999}."),
        ("remove_javascript_lines", "Please enable JavaScript { now.", "Please enable Java Script."),
        *(
            ("remove_policy_lines", f"This is {phrase.upper()} or so.", "This is policy or so.")
            for phrase in POLICY_PHRASES
        ),
    ],
)
def test_a_line_that_breaks_a_rule_goes_and_stays_when_the_rule_is_off(option: str, goes: str, stays: str) -> None:
    assert cleaned(f"{LINE}\n{goes}\n{stays}") == f"{LINE}\n{stays}"
    off = False if isinstance(getattr(C4(), option), bool) else None
    assert cleaned(f"{LINE}\n{goes}\n{stays}", **{option: off}) == f"{LINE}\n{goes}\n{stays}"


def test_a_line_with_a_word_too_long_goes_whole_and_a_long_line_of_short_words_stays() -> None:
    assert cleaned("so " * 500 + "it is.") == "so " * 500 + "it is."


def test_citation_marks_go_from_within_lines() -> None:
    assert cleaned("The river [12] floods.[edit] It does.[citation needed]") == "The river  floods. It does."
    assert cleaned("The river [12] floods.", remove_citations=False) == "The river [12] floods."


def test_empty_lines_and_white_space_around_lines_go() -> None:
    assert cleaned(f"\n  {LINE} \r\n\n{LINE}\n") == f"{LINE}\n{LINE}"


def test_a_text_that_needs_no_edit_is_the_same_document() -> None:
    doc = page(f"{LINE}\n{LINE}")
    assert C4().clean(doc) is doc


def test_the_text_that_is_kept_is_the_edited_one() -> None:
    kept = C4().apply(page(f"Home\n{LINE}\n{LINE}\n{LINE}\n{LINE}\n{LINE}\nAbout us"))
    assert isinstance(kept, Document) and kept.text == "\n".join([LINE] * 5)


def test_lines_that_drop_the_page_are_not_edited_out_by_the_policy_rule() -> None:
    assert C4().apply(page(f"{LINE} {LINE} {LINE} {LINE} {LINE}\nOur privacy policy is {{.")) == Drop(
        "curly_bracket", 1, 0
    )
    assert C4().apply(page("Lorem ipsum needs JavaScript.")) == Drop("lorem_ipsum", 1, 0)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("One.", 1),
        ("no end mark", 1),
        ("One. Two! Three? Four", 4),
        ('He said "stop." Then he went.', 2),
        ("Dr. Smith met J. R. Jones at 3.5 km. So it was.", 2),
        ("See e.g. Paris, i.e. the town.", 1),
        ("It cost 5 p. and so on. 7 came.", 2),
        ("Wait... What?", 2),
    ],
)
def test_sentences(line: str, count: int) -> None:
    assert sentences(line) == count


@given(st.text())
def test_any_text_is_taken_and_editing_twice_changes_nothing_more(text: str) -> None:
    once = C4(remove_citations=False).clean(page(text))
    assert C4(remove_citations=False).clean(once).text == once.text
    assert isinstance(C4().apply(page(text)), Document | Drop)


def test_other_languages_pass_unedited_with_null_measures() -> None:
    foreign = page("zwei Worte", language="de")
    assert C4().apply(foreign) is foreign
    assert set(C4().measure(foreign).values()) == {None}


def test_a_missing_list_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.txt: can.t be read as a list"):
        C4(bad_words_file=str(tmp_path / "gone.txt")).check([], [])


def test_bad_words_count_as_whole_words_and_phrases_in_any_case(bad_words: str) -> None:
    measured = C4(bad_words_file=bad_words).measure(page("Dash it, DRAT! Drat-it, drats; dash  it, undash it."))
    assert measured["bad_words"] == 3


def test_without_a_list_bad_words_are_not_measured() -> None:
    assert C4().measure(page(LINE))["bad_words"] is None
