"""Text in one form: cleaned in time linear in its length, whatever stands in it."""

import unicodedata
from random import Random

import pytest

from curate.text import JOINER, MOST_MARKS, clean, normalize, stream_safe

MARKS = [chr(code) for code in range(0x300, 0x34F)]
ALL_MARKS = [chr(code) for code in range(0x110000) if unicodedata.combining(chr(code))]


def bomb(marks: list[str], length: int) -> str:
    chance = Random(1)
    return "a" + "".join(chance.choice(marks) for _ in range(length))


def longest_run(text: str) -> int:
    most = run = 0
    for letter in unicodedata.normalize("NFD", text):
        run = run + 1 if unicodedata.combining(letter) else 0
        most = max(most, run)
    return most


@pytest.mark.parametrize("marks", [MARKS, ALL_MARKS, ["\u0344"]], ids=["latin", "all", "two-in-one"])
def test_no_run_of_marks_is_longer_than_stream_safe_text_allows(marks: list[str]) -> None:
    once = clean(bomb(marks, 2_000))
    assert longest_run(once) <= MOST_MARKS and JOINER in once
    assert clean(once) == once


def test_a_bomb_of_marks_costs_no_more_than_its_length() -> None:
    """NFC of a row of 300,000 marks takes minutes: this test would not end."""
    for make in (clean, normalize, stream_safe):
        assert len(make(bomb(MARKS, 300_000))) > 300_000
    between = "\u200b".join(["a" + "\u0316\u0301" * 15] + ["\u0316\u0301" * 15] * 10_000)
    assert longest_run(normalize(between)) <= MOST_MARKS  # joiners of no width hold no rows apart once they are gone


def test_ordinary_text_is_as_before() -> None:
    for text in ("naïve — “quotes” …………………… ₤₤₤₤₤₤₤₤₤₤₤₤₤₤", "e\u0301" * 100, "ก็่" * 50, "שָׁלוֹם"):
        assert clean(text) == unicodedata.normalize("NFC", text)
    assert stream_safe("a" + "\u0301" * MOST_MARKS) == "a" + "\u0301" * MOST_MARKS
    assert stream_safe("a" + "\u0301" * (MOST_MARKS + 1)) == "a" + "\u0301" * MOST_MARKS + JOINER + "\u0301"
