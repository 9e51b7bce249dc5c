"""Patterns on RE2: replaced, counted, refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.rewriting.patterns import LONGEST_PATTERN, NoPattern, check, replaced


@pytest.mark.parametrize(
    ("pattern", "replacement", "after", "count"),
    [
        ("[0-9]+", "N", "aN bN", 2),
        ("([a-z])([0-9])", r"\2\1", "1a2 3b", 2),
        (r"(?P<letter>[a-z])[0-9]+", r"\g<letter>", "a b", 2),
        (r"\pL", "", "12 3", 2),
        ("z", "", "a12 b3", 0),
        ("x*", "-", "a12 b3", 0),
    ],
)
def test_matches_are_replaced_and_counted(pattern: str, replacement: str, after: str, count: int) -> None:
    check(pattern, replacement)
    assert replaced("a12 b3", pattern, replacement) == (after, count)


def test_a_pattern_that_makes_others_hang_does_not() -> None:
    assert replaced("a" * 200_000 + "b", "(a+)+$", "") == ("a" * 200_000 + "b", 0)


@pytest.mark.parametrize(
    ("pattern", "replacement", "said"),
    [
        ("(", "", "missing \\)"),
        ("a(?=b)", "", "without look-around"),
        (r"(a)\1", "", "without look-around and backreferences"),
        (r"\C", "", "a single byte"),
        ("(a)", r"\2", "names the group 2"),
        ("a", r"\g<word>", "names the group word"),
        ("a" * (LONGEST_PATTERN + 1), "", "longer than"),
        ("((a{100}){100}){100}", "", "repetition|too large"),
    ],
)
def test_what_is_no_pattern_is_refused_with_why(pattern: str, replacement: str, said: str) -> None:
    with pytest.raises(NoPattern, match=said):
        check(pattern, replacement)


def test_an_escaped_backslash_before_c_is_no_single_byte() -> None:
    check(r"\\C", "")
    assert replaced("a\\Cb", r"\\C", "") == ("ab", 1)


@given(st.text())
def test_characters_stay_whole(text: str) -> None:
    assert replaced(text, "(?s:.)", "x") == ("x" * len(text), len(text))
