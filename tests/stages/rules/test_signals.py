"""RedPajama-V2's signals, by hand and against plain readings of their definitions."""

import math
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.rules.signals import DOCUMENT, LINES, entries_met, normal, of_document, of_lines

TEXT = "The cat, THE hat.\n{The} cat...\n• 12 lorem ipsum javascript\n"


def test_by_hand() -> None:
    values = of_document(TEXT, frozenset({"the cat", "hat"}), frozenset({"the", "The"}))
    assert set(values) == set(DOCUMENT)
    raw = [
        "The",
        "cat",
        ",",
        "THE",
        "hat",
        ".",
        "{",
        "The",
        "}",
        "cat",
        "...",
        "•",
        "12",
        "lorem",
        "ipsum",
        "javascript",
    ]
    words = ["the", "cat", "the", "hat", "the", "cat", "•", "12", "lorem", "ipsum", "javascript"]
    assert normal(TEXT).split() == words
    expected = {
        "rps_doc_num_sentences": 3,  # borders of words begin them: "The ... hat.", "The} cat...", "12 lorem ..."
        "rps_doc_word_count": 11,
        "rps_doc_mean_word_length": round(sum(map(len, words)) / 11, 8),
        "rps_doc_symbol_to_word_ratio": 1 / 16,
        "rps_doc_frac_lines_end_with_ellipsis": round(1 / 3, 8),
        "rps_doc_frac_no_alph_words": round(1 - 9 / 16, 8),
        "rps_doc_frac_unique_words": round(8 / 11, 8),
        "rps_doc_frac_all_caps_words": 1 / 16,
        "rps_doc_lorem_ipsum": round(1 / len(" ".join(words)), 8),
        "rps_doc_curly_bracket": round(2 / len(TEXT), 8),
        "rps_doc_ldnoobw_words": 3,
        "rps_doc_stop_word_fraction": 2 / 16,
        "ccnet_length": len(TEXT),
        "ccnet_nlines": 3,
    }
    assert {name: values[name] for name in expected} == expected
    assert len(raw) == 16
    shares = [count / 11 for count in Counter(words).values()]
    assert values["rps_doc_unigram_entropy"] == round(-sum(share * math.log(share) for share in shares), 8)


def test_lines_by_hand() -> None:
    values = of_lines(TEXT)
    assert tuple(values) == LINES
    assert values["rps_lines_javascript_counts"] == [0, 0, 1]
    assert values["rps_lines_ending_with_terminal_punctution_mark"] == [1, 1, 0]
    assert values["rps_lines_num_words"] == [4, 2, 5]
    assert values["rps_lines_start_with_bulletpoint"] == [0, 0, 1]
    assert values["rps_lines_uppercase_letter_fraction"][0] == round(4 / 18, 8)
    assert values["rps_lines_numerical_chars_fraction"] == [0, 0, round(2 / 27, 8)]


def test_an_empty_text_has_nothing_to_divide() -> None:
    by_name = of_document("", None, None)
    nothing = {name for name, value in by_name.items() if value is None}
    assert {name.removeprefix("rps_doc_") for name in nothing} == {
        "mean_word_length",
        "symbol_to_word_ratio",
        "frac_no_alph_words",
        "frac_lines_end_with_ellipsis",
        "frac_unique_words",
        "unigram_entropy",
        "frac_all_caps_words",
        "ldnoobw_words",
        "stop_word_fraction",
    }
    assert all(values == [] for values in of_lines("").values())


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_repetition_equals_the_plain_reading(words: list[str]) -> None:
    values = of_document(" ".join(words), None, None)
    for size in (2, 3, 4):
        grams = Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1)).most_common(1)
        share = grams[0][1] * size / len(words) if grams and grams[0][1] > 1 else 0
        assert values[f"rps_doc_frac_chars_top_{size}gram"] == round(share, 8)
    for size in range(5, 11):
        counts = Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))
        twice = [at for at in range(len(words) - size + 1) if counts[tuple(words[at : at + size])] > 1]
        under = {place for at in twice for place in range(at, at + size)}
        assert values[f"rps_doc_frac_chars_dupe_{size}grams"] == round(len(under) / max(len(words), 1), 8)


@given(st.text(max_size=50))
def test_words_with_a_letter_are_counted_as_word_by_word(text: str) -> None:
    raw = re.findall(r"\w+|[^\w\s]+", text)
    with_one = sum(bool(re.search("[A-Za-z]", word)) for word in raw)
    assert of_document(text, None, None)["rps_doc_frac_no_alph_words"] == (
        round(1 - round(with_one / len(raw), 8), 8) if raw else None
    )


@pytest.mark.parametrize(("entries", "count"), [({"a"}, 2), ({"a b"}, 1), ({"a", "a b", "b a"}, 4), ({"x"}, 0)])
def test_runs_of_words_are_entries(entries: set[str], count: int) -> None:
    assert entries_met(["a", "b", "a"], frozenset(entries)) == count
