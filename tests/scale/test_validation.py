"""The checks that every formula puts its inputs through."""

import math

import numpy as np
import pytest

from scale.validation import non_negative, number, positive, whole_number


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "7", None, True, 10**400, [1]])
def test_what_is_not_a_finite_number_is_refused(value: object) -> None:
    for check in (number, positive, non_negative):
        with pytest.raises(ValueError, match="the length must be"):
            check("the length", value)  # type: ignore[arg-type]


def test_signs() -> None:
    assert (number("x", -1), non_negative("x", 0), positive("x", np.float32(0.5))) == (-1.0, 0.0, 0.5)
    with pytest.raises(ValueError, match=r"x must be above zero, not 0\."):
        positive("x", 0)
    with pytest.raises(ValueError, match=r"x must not be negative, but is -1\."):
        non_negative("x", -1)


@pytest.mark.parametrize("value", [4.0, "4", None, True, math.nan])
def test_counts_are_whole_numbers(value: object) -> None:
    with pytest.raises(ValueError, match="gpus must be a whole number"):
        whole_number("gpus", value)  # type: ignore[arg-type]


def test_counts_have_a_lower_bound() -> None:
    assert whole_number("gpus", np.int64(3)) == 3 and whole_number("steps", 0, at_least=0) == 0
    with pytest.raises(ValueError, match=r"gpus must be at least 1, not 0\."):
        whole_number("gpus", 0)
