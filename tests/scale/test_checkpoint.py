"""Checkpoint intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.checkpoint import (
    daly_checkpoint_interval,
    mean_hours_between_failures,
    optimal_checkpoint_interval,
    wasted_fraction,
)

MINUTES = st.floats(1e-3, 1e5)


@given(MINUTES, MINUTES, MINUTES)
def test_youngs_interval_wastes_least(save: float, failure: float, other: float) -> None:
    best = optimal_checkpoint_interval(save, failure)
    assert wasted_fraction(best, save, failure) <= wasted_fraction(other, save, failure) * (1 + 1e-12)
    assert wasted_fraction(best, save, failure) == pytest.approx(math.sqrt(2 * save / failure))


def exact_runtime_ratio(interval: float, save: float, failure: float) -> float:
    """Expected time per minute of work with exponential failures (Daly 2006, equation 20), restart time 0."""
    return failure * math.expm1((interval + save) / failure) / interval


@pytest.mark.parametrize("save, failure", [(1.0, 180.0), (5.0, 60.0), (10.0, 30.0), (0.1, 1000.0)])
def test_dalys_interval_is_near_the_minimum_of_the_exact_model(save: float, failure: float) -> None:
    intervals = np.linspace(0.01, 3, 4000) * math.sqrt(2 * save * failure)
    least = min(exact_runtime_ratio(interval, save, failure) for interval in intervals)
    daly, young = daly_checkpoint_interval(save, failure), optimal_checkpoint_interval(save, failure)
    assert exact_runtime_ratio(daly, save, failure) == pytest.approx(least, rel=1e-3)
    assert exact_runtime_ratio(daly, save, failure) <= exact_runtime_ratio(young, save, failure)


def test_daly_by_hand_and_past_its_limit() -> None:
    root = math.sqrt(1 / 360)
    assert daly_checkpoint_interval(1, 180) == pytest.approx(math.sqrt(360) * (1 + root / 3 + 1 / 3240) - 1)
    assert daly_checkpoint_interval(400, 180) == daly_checkpoint_interval(360, 180) == 180


def test_restarts_and_free_saves() -> None:
    assert wasted_fraction(10, 0, 100) == 0.05
    assert wasted_fraction(10, 0, 100, restart_minutes=5) == pytest.approx(0.10)
    assert mean_hours_between_failures(24, 2) == 2.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_times_are_finite_and_above_zero(bad: float) -> None:
    for call in (optimal_checkpoint_interval, daly_checkpoint_interval, mean_hours_between_failures):
        for arguments in ((bad, 1.0), (1.0, bad)):
            with pytest.raises(ValueError, match="must be"):
                call(*arguments)
    for arguments in ((bad, 1.0, 1.0), (1.0, 1.0, bad)):
        with pytest.raises(ValueError, match="must be"):
            wasted_fraction(*arguments)


def test_pauses_are_not_negative() -> None:
    with pytest.raises(ValueError, match="save_minutes must not be negative"):
        wasted_fraction(1, -1, 1)
    with pytest.raises(ValueError, match="restart_minutes must not be negative"):
        wasted_fraction(1, 1, 1, -1)
