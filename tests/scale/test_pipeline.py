"""The schedule grid, and closed forms against the tables of their papers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.pipeline import (
    ZERO_BUBBLE_ACTIVATION_RATIOS,
    ZERO_BUBBLE_SHARES,
    bubble_fraction,
    bubble_ratio,
    dualpipe_bubble_seconds,
    in_flight_micro_batches,
    interleaved_bubble_fraction,
    interleaved_bubble_ratio,
    pipeline_schedule,
    zero_bubble_fraction,
)

COUNTS = (st.integers(1, 7), st.integers(1, 12), st.sampled_from(["gpipe", "1f1b"]))


def test_a_small_grid_by_hand() -> None:
    assert pipeline_schedule(2, 2).tolist() == [[1, 2, 0, 0, -1, -2], [0, 1, 2, -1, -2, 0]]
    assert pipeline_schedule(2, 2, "1f1b").tolist() == [[1, 2, 0, -1, 0, -2], [0, 1, -1, 2, -2, 0]]
    assert pipeline_schedule(1, 2, "1f1b").tolist() == [[1, -1, 2, -2]]


@given(*COUNTS)
def test_every_pass_runs_once_and_after_what_it_needs(stages: int, micro_batches: int, schedule: str) -> None:
    grid = pipeline_schedule(stages, micro_batches, schedule)
    work = [sign * i for sign in (1, -1) for i in range(1, micro_batches + 1)]
    slot = {(s, w): int(np.flatnonzero(grid[s] == w).item()) for s in range(stages) for w in work}
    for stage, micro_batch in itertools.product(range(stages), range(1, micro_batches + 1)):
        if stage:
            assert slot[stage - 1, micro_batch] < slot[stage, micro_batch]
            assert slot[stage, -micro_batch] < slot[stage - 1, -micro_batch]
        assert slot[stage, micro_batch] < slot[stage, -micro_batch]


@given(*COUNTS)
def test_idle_share_and_width_are_those_of_the_formula(stages: int, micro_batches: int, schedule: str) -> None:
    grid = pipeline_schedule(stages, micro_batches, schedule)
    assert grid.shape == (stages, 2 * (micro_batches + stages - 1))
    assert ((grid == 0).sum(axis=1) == 2 * (stages - 1)).all()
    assert np.mean(grid == 0) == pytest.approx(bubble_fraction(stages, micro_batches))


@given(*COUNTS)
def test_micro_batches_in_flight_are_those_of_the_grid(stages: int, micro_batches: int, schedule: str) -> None:
    grid = pipeline_schedule(stages, micro_batches, schedule)
    for stage, row in enumerate(grid):
        peak = np.cumsum(np.sign(row)).max()
        assert peak == in_flight_micro_batches(stages, micro_batches, stage, schedule)


CLOSED_FORMS = [  # p, m, fraction, ratio, ratio with 2 and 3 chunks, ZB1P fraction
    (4, 1, 0.75, 3.0, 1.5, 1.0, 0.25),
    (4, 8, 0.272727, 0.375, 0.1875, 0.125, 0.090909),
    (8, 24, 0.225806, 0.291667, 0.145833, 0.097222, 0.075269),
    (16, 16, 0.483871, 0.9375, 0.46875, 0.3125, 0.16129),
    (35, 280, 0.10828, 0.121429, 0.060714, 0.040476, 0.036093),
    (64, 512, 0.109565, 0.123047, 0.061523, 0.041016, 0.036522),
]


@pytest.mark.parametrize("p, m, fraction, ratio, two, three, zb1p", CLOSED_FORMS)
def test_closed_forms(p: int, m: int, fraction: float, ratio: float, two: float, three: float, zb1p: float) -> None:
    got = (
        bubble_fraction(p, m),
        bubble_ratio(p, m),
        interleaved_bubble_ratio(p, m, 2),
        interleaved_bubble_ratio(p, m, 3),
        zero_bubble_fraction(p, m, "ZB1P"),
    )
    assert tuple(round(value, 6) for value in got) == (fraction, ratio, two, three, zb1p)


@given(st.integers(1, 64), st.integers(1, 512), st.integers(1, 8))
def test_fraction_and_ratio_say_the_same(stages: int, micro_batches: int, chunks: int) -> None:
    ratio, fraction = bubble_ratio(stages, micro_batches), bubble_fraction(stages, micro_batches)
    assert fraction == pytest.approx(ratio / (1 + ratio))
    assert interleaved_bubble_fraction(stages, micro_batches, 1) == pytest.approx(fraction)
    assert interleaved_bubble_fraction(stages, micro_batches, chunks) <= fraction * (1 + 1e-12)


def test_zero_bubble_table() -> None:
    whole_bubble = bubble_fraction(8, 24)
    shares = {"1F1B": 1, "ZB1P": 1 / 3, "ZB2P": 0, "ZBV": 0, "V-Half": 1 / 2, "V-Min": 2 / 3}
    assert shares == {name: zero_bubble_fraction(8, 24, name) / whole_bubble for name in ZERO_BUBBLE_SHARES}
    assert ZERO_BUBBLE_ACTIVATION_RATIOS == {
        "1F1B": 1,
        "ZB1P": 1,
        "ZB2P": 2,
        "ZBV": 1,
        "V-Half": 1 / 2,
        "V-Min": 1 / 3,
    }


def test_dualpipe_table() -> None:
    times = {
        "forward_seconds": 1.0,
        "backward_seconds": 2.0,
        "weight_gradient_seconds": 0.75,
        "overlapped_seconds": 2.5,
    }
    assert dualpipe_bubble_seconds(8, "1F1B", **times) == 7 * 3.0
    assert dualpipe_bubble_seconds(8, "ZB1P", **times) == 7 * (3.0 - 1.5)
    assert dualpipe_bubble_seconds(8, "DualPipe", **times) == 3 * (2.5 + 2.0 - 2.25)
    assert dualpipe_bubble_seconds(8, "DualPipeV", **times) == 3 * (2.5 + 2.0 - 2.25)


def test_equal_passes_give_zb1p_a_third_of_the_bubble() -> None:
    idle = [dualpipe_bubble_seconds(8, name, 1.0, 2.0, 1.0, 3.0) for name in ("1F1B", "ZB1P")]
    assert idle[1] == pytest.approx(ZERO_BUBBLE_SHARES["ZB1P"] * idle[0])


def test_bad_counts_times_and_names_are_refused() -> None:
    for formula in (pipeline_schedule, bubble_fraction, bubble_ratio):
        for stages, micro_batches in ((0, 1), (1, 0), (-1, 1), (2.0, 1)):
            with pytest.raises(ValueError, match="must be"):
                formula(stages, micro_batches)
    with pytest.raises(ValueError, match="chunks must be"):
        interleaved_bubble_ratio(4, 8, 0)
    with pytest.raises(ValueError, match="schedule must be one of gpipe, 1f1b"):
        pipeline_schedule(4, 8, "zb")
    with pytest.raises(ValueError, match="schedule must be one of 1F1B"):
        zero_bubble_fraction(4, 8, "1f1b")
    with pytest.raises(ValueError, match="stage must be below the 4 stages"):
        in_flight_micro_batches(4, 8, 4)
    with pytest.raises(ValueError, match="even number of stages, not 3"):
        dualpipe_bubble_seconds(3, "DualPipe", 1, 2, 1, 3)
    with pytest.raises(ValueError, match="cannot exceed"):
        dualpipe_bubble_seconds(4, "1F1B", 1, 2, 3, 3)
    with pytest.raises(ValueError, match="forward_seconds must be finite"):
        dualpipe_bubble_seconds(4, "1F1B", math.nan, 2, 1, 3)
    with pytest.raises(ValueError, match="must not be negative"):
        dualpipe_bubble_seconds(4, "DualPipe", 1, 2, 2, 1)
    with pytest.raises(ValueError, match="schedule must be 1F1B, ZB1P"):
        dualpipe_bubble_seconds(4, "ZBV", 1, 2, 1, 3)
