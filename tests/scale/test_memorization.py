"""Repeats make a bigram model recite."""

from itertools import pairwise

import pytest

from scale.memorization import BOILERPLATE, OTHER_LINES, verbatim_probability


def test_one_copy_is_one_road_of_many() -> None:
    # "click" has two other continuations, the next five words one each.
    assert verbatim_probability(1) == pytest.approx(1 / 3 * (1 / 2) ** 5)
    assert verbatim_probability(100) == pytest.approx(100 / 102 * (100 / 101) ** 5)


def test_no_copy_gives_no_road() -> None:
    assert verbatim_probability(0) == 0.0
    pairs = {pair for line in OTHER_LINES for pair in pairwise(line.split())}
    assert not pairs & set(pairwise(BOILERPLATE.split()))


@pytest.mark.parametrize("copies", [-1, 1.5, True])
def test_copies_are_a_count(copies: float) -> None:
    with pytest.raises(ValueError, match="copies must be"):
        verbatim_probability(copies)  # type: ignore[arg-type]
