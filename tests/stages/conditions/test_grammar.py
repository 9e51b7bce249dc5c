"""Conditions: what they mean, with values that are not there, and what is none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.conditions.grammar import MOST_CHARACTERS, MOST_DEPTH, NoCondition, condition
from stages.conditions.logic import every_test

VALUES: dict[str, Any] = {"n": 5, "x": 0.5, "word": "news page", "yes": True, "gone": None}


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("n < 6", True),
        ("n < 5", False),
        ("n <= 5 and x >= 0.5", True),
        ("n = 5 or n > 99", True),
        ("n == 5.0", True),
        ("n != 5", False),
        ("n between 5 and 5", True),
        ("n not between 5 and 6", False),
        ("n between 6 and 7", False),
        ("n in (1, 5)", True),
        ("word in ('news', 'page')", False),
        ("word not in ('news')", True),
        ("word contains 'news'", True),
        ('word not contains "x"', True),
        ("word < 'o'", True),
        ("yes = true", True),
        ("yes != TRUE", False),
        ("not n = 5", False),
        ("not not n = 5", True),
        ("n = 5 or n = 6 and n = 7", True),
        ("(n = 5 or n = 6) and n = 7", False),
        ("n > -1e3 and n < +1.5e1 and n > .5", True),
        ("gone is null", True),
        ("gone is not null", False),
        ("n is null", False),
        ("gone < 5", None),
        ("other < 5", None),
        ("not gone < 5", None),
        ("gone < 5 and n = 6", False),
        ("gone < 5 and n = 5", None),
        ("gone < 5 or n = 5", True),
        ("gone < 5 or n = 6", None),
        ("word > 5", None),
        ("n = '5'", None),
        ("yes = 1", None),
    ],
)
def test_truth(text: str, truth: bool | None) -> None:
    assert condition(text).holds(VALUES) is truth


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "column 1: a name must stand here, not the end"),
        ("n <", "column 4: a number, a text"),
        ("n 5", "column 3: <, <="),
        ("n < 5 n", "column 7: and, or, or the end"),
        ("(n < 5", "column 7: '\\)' must stand here"),
        ("n between 1", "'and' must stand here"),
        ("n between 1 and 'x'", "two numbers or two texts"),
        ("n contains 5", "a text in quotes"),
        ("n in 5", "'\\(' must stand here"),
        ("n in ()", "a number, a text"),
        ("and < 5", "a name must stand here, not 'and'"),
        ("5 < n", "a name must stand here, not '5'"),
        ("n < 5; import os", "';' is no part"),
        ("__import__('os')", "<, <="),
        ("n.real < 5", "'.real' is no part"),
        ("n < 5 ** 9", "'\\*\\*' is no part"),
        ("n < 'open", '"\'open" is no part'),
        ("not " * (MOST_DEPTH + 1) + "n < 5", f"{MOST_DEPTH} deep"),
        ("n < 5" + " " * MOST_CHARACTERS, "longer than"),
        ("n < 5x", "is no part"),
    ],
)
def test_what_is_no_condition_says_where_and_why(text: str, said: str) -> None:
    with pytest.raises(NoCondition, match=said):
        condition(text)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("n < 5", ("n < 5", 5, 5.0)),
        ("x > 0 and n between 6 and 9 and n > 99", ("n between 6 and 9", 5, 6.0)),
        ("n between 1 and 4", ("n between 1 and 4", 5, 4.0)),
        ("x = 1 or  n = 6", ("x = 1 or n = 6", None, None)),
        ("gone < 5", ("gone < 5", None, None)),
        ("gone < 5 and n = 6", ("n = 6", 5, 6.0)),
        ("not n = 5", ("not n = 5", None, None)),
        ("word = 'x'", ("word = 'x'", None, None)),
    ],
)
def test_a_failure_names_the_part_that_does_not_hold(text: str, failure: tuple[str, Any, Any]) -> None:
    failed = condition(text).failure(VALUES)
    assert (failed.cause, failed.value, failed.limit) == failure


def test_names_are_told_in_order() -> None:
    read = condition("a < 1 and (b = 'x' or not c in (1)) and a > 0")
    assert [test.name for test in every_test(read)] == list("abca")


@given(st.text(st.sampled_from("n<5 '()andorbetwi=.")))
def test_any_text_is_a_condition_or_is_told_why_not(text: str) -> None:
    try:
        assert condition(text).holds({}) in (True, False, None)
    except NoCondition as error:
        assert str(error)
