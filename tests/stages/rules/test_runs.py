"""Rows of repeats: counted by a plain reading, at every period."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.rules.runs import LONGEST_PERIOD, repeats_in_a_row


def plainly(words: list[str]) -> int:
    most = min(len(words), 1)
    for period in range(1, LONGEST_PERIOD + 1):
        for start in range(len(words) - period + 1):
            run, count = words[start : start + period], 1
            while words[start + count * period : start + (count + 1) * period] == run:
                count += 1
            most = max(most, count)
    return most


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("ha", 1), ("ha ho", 1), ("ha ha ha", 3), ("no buy now buy now buy now or", 3)]
)
def test_a_row_counts_its_first_run_too(text: str, count: int) -> None:
    assert repeats_in_a_row(text.split()) == count


@pytest.mark.parametrize(("period", "count"), [(LONGEST_PERIOD, 4), (LONGEST_PERIOD + 1, 1)])
def test_runs_of_up_to_thirteen_words_are_looked_for(period: int, count: int) -> None:
    assert repeats_in_a_row([f"word{number}" for number in range(period)] * 4) == count


@given(st.lists(st.sampled_from("abc"), max_size=60))
def test_it_equals_the_plain_reading(words: list[str]) -> None:
    assert repeats_in_a_row(words) == plainly(words)
