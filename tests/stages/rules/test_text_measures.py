"""The common measures of a text, by hand and against plain readings."""

import math
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.rules.text_measures import TYPES, character_repetition_ratio, measures, word_repetition_ratio

TEXT = "Ab 12, cd!\n\nCD ab"


def measured(text: str) -> dict[str, float]:
    return measures(text, text.split(), frozenset({"ab"}), frozenset({"cd"}))


def test_by_hand() -> None:
    values = measured(TEXT)
    assert list(values) == list(TYPES) or set(values) == set(TYPES)
    assert {name: values[name] for name in ("characters", "words", "lines", "longest_line", "longest_word")} == {
        "characters": 17,
        "words": 5,
        "lines": 3,
        "longest_line": 10,
        "longest_word": 3,
    }
    assert values["mean_line_length"] == 17 / 3 and values["mean_word_length"] == 12 / 5
    shares = {"letter": 8, "digit": 2, "alphanumeric": 10, "capital": 3, "punctuation": 2, "white_space": 5}
    assert {name: values[f"{name}_ratio"] for name in shares} == {name: n / 17 for name, n in shares.items()}
    assert values["special_character_ratio"] == 9 / 17
    assert (
        values["unique_word_ratio"] == 2 / 4 and values["flagged_word_ratio"] == 2 / 4
    )  # ab, cd, cd, ab; 12 is special
    assert values["stop_word_ratio"] == 2 / 4


def test_an_empty_text_has_zeros_and_lists_that_are_not_given_none() -> None:
    values = measures("", [], None, None)
    assert [name for name, value in values.items() if value is None] == ["flagged_word_ratio", "stop_word_ratio"]
    assert not any(values.values())


def plain_characters(text: str) -> float:
    runs = Counter(text[at : at + 10] for at in range(len(text) - 9))
    counts = sorted(runs.values(), reverse=True)
    most = min(int(math.sqrt(len(counts))), sum(count > 1 for count in counts))
    return sum(counts[:most]) / sum(counts) if counts else 0.0


@given(st.text(st.sampled_from("ab"), max_size=60) | st.text(max_size=40))
def test_repeated_characters_equal_the_plain_reading(text: str) -> None:
    assert character_repetition_ratio(text) == plain_characters(text)


@pytest.mark.parametrize(("words", "share"), [(9, 0), (10, 0), (20, 2 / 11), (30, 1.0)])
def test_repeated_words(words: int, share: float) -> None:
    assert word_repetition_ratio([f"w{number % 10}" for number in range(words)]) == share


@given(st.text(max_size=60))
def test_a_character_is_special_or_a_letter_or_a_mark(text: str) -> None:
    plain = sum(unicodedata.category(letter)[0] not in "LM" for letter in text)
    assert measured(text)["special_character_ratio"] == plain / max(len(text), 1)
