"""Model collapse."""

import math

import pytest

from scale.collapse import expected_spread_shrink, expected_variance_shrink, recursive_gaussian_fit


def test_a_run_repeats_with_its_seed_and_starts_at_its_spread() -> None:
    run = recursive_gaussian_fit(20, 30, seed=3, initial_spread=2.5)
    assert run == recursive_gaussian_fit(20, 30, seed=3, initial_spread=2.5) and run[0] == 2.5 and len(run) == 31
    assert run != recursive_gaussian_fit(20, 30, seed=4, initial_spread=2.5)
    scaled = recursive_gaussian_fit(20, 30, seed=3)
    assert [spread / 2.5 for spread in run] == pytest.approx(scaled)


def test_long_runs_collapse_and_more_samples_hold_longer() -> None:
    final = [recursive_gaussian_fit(20, 400, seed)[-1] for seed in range(30)]
    assert max(final) < 0.05
    steady = [recursive_gaussian_fit(20_000, 400, seed)[-1] for seed in range(5)]
    assert min(steady) > 0.7


def test_expected_shrink() -> None:
    assert expected_variance_shrink(20, 0) == 1.0 and expected_variance_shrink(20, 1) == 0.95
    assert expected_spread_shrink(10, 7) == math.sqrt(0.9**7)


@pytest.mark.parametrize(
    "arguments", [(1, 5), (0, 5), (20, -1), (2.5, 5), (20, 5, -1), (20, 5, 0, 0.0), (20, 5, 0, math.inf)]
)
def test_bad_settings_are_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="must be"):
        recursive_gaussian_fit(*arguments)
    if len(arguments) == 2:
        with pytest.raises(ValueError, match="must be"):
            expected_variance_shrink(*arguments)
