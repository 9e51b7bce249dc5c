"""Lines and paragraphs: where they stand, what is the same, what goes with them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.spans.units import digests, same_unit, spans, units


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab \n\t\u2028"), max_size=30))
def test_lines_are_those_that_are_not_blank(text: str) -> None:
    assert [text[start:end] for start, end in units(text, "line")] == [x for x in text.split("\n") if x.strip()]


def test_paragraphs_lie_between_blank_lines() -> None:
    text = "\n a\nb\n \t\nc\n\n\nd\n"
    assert [text[start:end] for start, end in units(text, "paragraph")] == [" a\nb", "c", "d"]


def test_case_digits_and_white_space_do_not_count() -> None:
    assert same_unit("  Page 12  of 345\u00a0") == same_unit("page 99 OF 000") == "page 00 of 000"
    assert same_unit("page 1") != same_unit("page 11")
    assert len(np.unique(digests(["a", "b", "a"], 0), axis=0)) == 2
    assert (digests(["a"], 0) != digests(["a"], 1)).all()


@pytest.mark.parametrize(
    ("starts", "ends", "left"),
    [
        ([0], [1], "b\nc"),
        ([1], [2], "a\n\nc"),
        ([2], [3], "a\n\nb"),
        ([1], [3], "a"),
        ([0, 2], [1, 3], "b"),
        ([0], [3], ""),
    ],
)
def test_breaks_and_blank_lines_go_with_a_line(starts: list[int], ends: list[int], left: str) -> None:
    text = "a\n\nb\nc"
    begins = [start for start, _ in units(text, "line")]
    for start, end in reversed(spans(text, begins, np.array(starts), np.array(ends))):
        text = text[:start] + text[end:]
    assert text == left
