"""Wilson's interval: its published values, and what it promises."""

from math import isnan
from random import Random

import pytest

from curate.inspect.intervals import wilson


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)],
)  # Newcombe 1998, table I, has the last two as method 3
def test_published_values(hits: int, trials: int, low: float, high: float) -> None:
    share = wilson(hits, trials)
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)


def test_nothing_tried_is_nothing_known() -> None:
    share = wilson(0, 0)
    assert isnan(share.value) and (share.low, share.high) == (0.0, 1.0)


def test_the_truth_lies_within_in_about_95_of_100() -> None:
    draw = Random(3)
    held = 0
    for _ in range(400):
        share = wilson(sum(draw.random() < 0.1 for _ in range(80)), 80)
        held += share.low <= 0.1 <= share.high
    assert 360 <= held <= 396
