"""Token and compute budgets."""

import math

import pytest

from scale.budget import chinchilla_tokens, gpu_hours, tokens_per_parameter, training_flops


def test_chinchilla_itself_is_near_its_own_rule() -> None:
    # Chinchilla: 70B parameters on 1.4 trillion tokens, 5.76e23 operations by the paper's own count.
    assert chinchilla_tokens(70e9) == 1.4e12
    assert training_flops(70e9, 1.4e12) == pytest.approx(5.76e23, rel=0.03)
    assert chinchilla_tokens(7e9, ratio=25.0) == 175e9


def test_gpu_hours_and_ratio_undo_their_factors() -> None:
    assert gpu_hours(3600.0 * 2e12, 1e12) == 2.0
    assert tokens_per_parameter(chinchilla_tokens(3e9), 3e9) == 20.0


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_sizes_are_finite_and_above_zero(bad: float) -> None:
    for call in (
        lambda: chinchilla_tokens(bad),
        lambda: chinchilla_tokens(1.0, bad),
        lambda: training_flops(bad, 1.0),
        lambda: training_flops(1.0, bad),
        lambda: gpu_hours(bad, 1.0),
        lambda: gpu_hours(1.0, bad),
        lambda: tokens_per_parameter(bad, 1.0),
        lambda: tokens_per_parameter(1.0, bad),
    ):
        with pytest.raises(ValueError, match="must be"):
            call()
