"""What is marked in a dropped text, reason by reason."""

import pytest

from curate.inspect.evidence import merged, spans, unlike

CASES = [
    ("duplicate_5_grams", "a b c d e x a b c d e", ["a b c d e"]),
    ("duplicate_5_grams", "a b c d e f g", []),
    ("top_2_gram", "big boat sails, big boat sinks", ["big boat", "big boat"]),
    ("top_2_gram", "one two three", []),
    ("duplicate_lines", "menu\ntext\nmenu\n\nmenu", ["menu", "menu"]),
    ("duplicate_line_characters", "menu\ntext\nmenu", ["menu"]),
    ("duplicate_paragraphs", "first one\nline\n\nother\n\nfirst one\nline", ["first one\nline"]),
    ("too_many_hashes", "# title # more", ["#", "#"]),
    ("too_many_ellipses", "well ... and … so", ["...", "…"]),
    ("too_many_symbols", "# and ...", ["#", "..."]),
    ("too_many_ellipsis_lines", "read more...\nfull line.\nand…", ["read more...", "and…"]),
    ("too_many_bullet_lines", "- milk\nprose\n• eggs", ["- milk", "• eggs"]),
    ("too_few_alphabetic_words", "room 12 — 44", ["12", "—", "44"]),
    ("words_too_long", "a donaudampfschifffahrt b", ["donaudampfschifffahrt"]),
    ("words_too_short", "I do see", ["I", "do"]),
    ("too_many_short_lines", f"short\n{'long ' * 9}", ["short"]),
    ("too_few_lines_with_end_mark", "Home\nA sentence.", ["Home"]),
    ("lorem_ipsum", "Lorem Ipsum dolor", ["Lorem Ipsum"]),
    ("curly_bracket", "if (x) { y }", ["{"]),
    ("too_few_words", "only three words", []),
    ("no_such_reason", "some text", []),
]


@pytest.mark.parametrize(("reason", "text", "marked"), CASES)
def test_the_cause_is_marked(reason: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in spans("gopher", reason, text)] == marked


def test_spans_that_touch_become_one() -> None:
    assert merged([(5, 9), (0, 2), (2, 4), (8, 12), (3, 3)]) == [(0, 4), (5, 12)]


@pytest.mark.parametrize(
    ("text", "twin", "marked"),
    [
        ("one two three four five six", "one two three four five six", []),
        ("one two three NEW  WORDS four five six", "one two three four five six", ["NEW  WORDS"]),
        ("Ad! one two three four", "one two three four", ["Ad!"]),
        ("one two three four the end", "one two three four", ["the end"]),
        ("wholly other text", "one two three four", ["wholly other text"]),
        ("", "one two three four", []),
    ],
)
def test_what_the_twin_has_not_is_marked(text: str, twin: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in unlike(text, twin)] == marked


class Shouting:
    """A stage of somebody else that says where the cause lies."""

    adds, reasons = {}, ("shouts",)

    @staticmethod
    def evidence(text: str, reason: str) -> list[tuple[int, int]]:
        return [(place, place + 1) for place, character in enumerate(text) if character == "!"]


def test_a_stage_may_say_it_itself() -> None:
    assert spans("tests.inspect.test_evidence:Shouting", "shouts", "hey! you!") == [(3, 4), (8, 9)]


def test_a_stage_that_is_not_installed_says_nothing() -> None:
    assert spans("gone.away:Stage", "too_few_words", "text") == []
