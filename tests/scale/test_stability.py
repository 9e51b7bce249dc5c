"""Spikes, rollbacks, clipping and warmup."""

import math
import statistics
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scale.stability import (
    clip_by_global_norm,
    detect_spikes,
    local_square_sums,
    rollback_plan,
    sharded_global_norm,
    train_through_a_bad_batch,
    warmup_cosine,
)

CALM = [3.0, 2.9, 2.8, 2.8, 2.7, 2.7, 2.6, 2.6]


@given(st.lists(st.floats(0, 100), max_size=30), st.integers(1, 6), st.floats(1.01, 5))
def test_spikes_are_those_of_the_rule(losses: list[float], window: int, factor: float) -> None:
    rule = [t for t in range(window, len(losses)) if losses[t] > factor * statistics.median(losses[t - window : t])]
    assert detect_spikes(losses, window, factor) == rule


def test_exactly_the_bar_is_no_spike() -> None:
    assert detect_spikes([1.0, 1.0, 1.0, 1.0, 2.0]) == [] and detect_spikes([1.0] * 4 + [2.0000001]) == [4]


def test_losses_that_are_not_finite_are_spikes() -> None:
    assert detect_spikes([math.nan, *CALM, math.inf, math.nan, 2.6]) == [0, 9, 10]
    assert detect_spikes([math.nan] * 6) == list(range(6))


def test_no_spike_or_a_passing_one_needs_no_rollback() -> None:
    assert rollback_plan(CALM, [0, 4]).action == "continue"
    passing = rollback_plan([*CALM, 9.0, 8.0, 2.6, 2.6, 2.5], [0, 4, 10])
    assert passing == ("continue", None, None, range(0))


def test_a_young_spike_is_watched() -> None:
    assert rollback_plan([*CALM, 9.0, 8.0], [0, 4]) == ("watch", 8, None, range(0))


def test_a_spike_that_persists_loads_the_checkpoint_before_it_and_skips_its_batches() -> None:
    losses = [*CALM, 9.0, 8.0, 7.0, 6.5]
    plan = rollback_plan(losses, [0, 4, 7, 8, 10])
    assert plan == ("roll back", 8, 7, range(7, 12))
    wide = rollback_plan(losses, [0, 4, 7, 8, 10], batches_before=3, batches_after=5)
    assert wide == ("roll back", 8, 4, range(5, 17))
    exact = rollback_plan(losses, [0, 4, 7, 8, 10], batches_before=0)
    assert exact == ("roll back", 8, 8, range(8, 12))


def test_a_long_spike_does_not_hide_behind_the_median_it_raised() -> None:
    losses = [*CALM, *[9.0] * 20]
    assert detect_spikes(losses) == [8, 9]
    assert rollback_plan(losses, [6]).skip_batches == range(7, 28)


def test_a_run_that_diverged_to_nan_is_rolled_back() -> None:
    assert rollback_plan([*CALM, *[math.nan] * 3], [5]) == ("roll back", 8, 5, range(7, 11))
    assert rollback_plan([math.nan] * 3, [0], batches_before=0) == ("roll back", 0, 0, range(0, 3))


def test_a_rollback_without_an_old_checkpoint_is_refused() -> None:
    for checkpoints in ([], [8], [8, 9]):
        with pytest.raises(ValueError, match="no checkpoint is 1 batches or more before the spike at step 8"):
            rollback_plan([*CALM, 9.0, 9.0, 9.0], checkpoints)


def test_bad_histories_and_settings_are_refused() -> None:
    for call in (
        lambda: detect_spikes(CALM, window=0),
        lambda: detect_spikes(CALM, factor=1.0),
        lambda: detect_spikes(CALM, factor=math.nan),
        lambda: detect_spikes([1.0, -1.0]),
        lambda: rollback_plan(CALM, [9]),
        lambda: rollback_plan(CALM, [-1]),
        lambda: rollback_plan(CALM, [0], persistence=0),
        lambda: rollback_plan(CALM, [0], batches_before=-1),
        lambda: rollback_plan(CALM, [0], batches_after=-1),
    ):
        with pytest.raises(ValueError, match=r"must|lies past"):
            call()


SHARDS = st.lists(
    hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-1e6, 1e6)),
    min_size=1,
    max_size=5,
)


@given(SHARDS, st.floats(1e-3, 1e3))
def test_clipping_shards_clips_the_whole_gradient(shards: list[np.ndarray], max_norm: float) -> None:
    whole = np.concatenate([shard.ravel() for shard in shards])
    norm = math.hypot(*whole)
    clipped = clip_by_global_norm(shards, max_norm)
    assert clipped.norm == pytest.approx(norm, rel=1e-12, abs=0.0)
    assert [shard.shape for shard in clipped.shards] == [shard.shape for shard in shards]
    after = np.concatenate([shard.ravel() for shard in clipped.shards])
    assert math.hypot(*after) <= max_norm * (1 + 1e-9)
    if norm <= max_norm:
        np.testing.assert_array_equal(after, whole)
    else:
        np.testing.assert_allclose(after, whole * (max_norm / norm), rtol=1e-9)


def test_replicated_parameters_count_once() -> None:
    weights, norm_layer = [[3.0], [0.0]], [[4.0], [4.0]]
    assert sharded_global_norm([*weights, *norm_layer]) == math.sqrt(41)
    assert sharded_global_norm([*weights, *norm_layer], copies=[1, 1, 2, 2]) == 5.0
    assert local_square_sums([*weights, *norm_layer], [1, 1, 2, 2]) == [9, 0, 8, 8]


@pytest.mark.parametrize("size", [1e200, 1e-200, 5e-324, 1e308])
def test_squares_that_leave_the_range_are_taken_after_scaling(size: float) -> None:
    assert sharded_global_norm([[size]]) == size
    assert sharded_global_norm([[size * 0.3], [0.0]]) == pytest.approx(size * 0.3)
    assert sharded_global_norm([[0.0], []]) == 0.0 and clip_by_global_norm([[0.0]], 1.0).factor == 1.0


def test_bad_gradients_are_refused() -> None:
    for call in (
        lambda: sharded_global_norm([]),
        lambda: sharded_global_norm([[1.0], [math.nan]]),
        lambda: sharded_global_norm([[math.inf]]),
        lambda: sharded_global_norm([[1.0]], copies=[1, 1]),
        lambda: sharded_global_norm([[1.0]], copies=[0]),
        lambda: clip_by_global_norm([[1.0]], 0.0),
        lambda: clip_by_global_norm([[1.0]], math.inf),
    ):
        with pytest.raises(ValueError, match="must"):
            call()


@pytest.mark.parametrize("seed", range(5))
def test_clipping_carries_a_run_through_a_bad_batch(seed: int) -> None:
    clipped = train_through_a_bad_batch(1.0, seed=seed)
    free = train_through_a_bad_batch(None, seed=seed)
    assert clipped.gradient_norms[40] > 100 and clipped.losses[40] < 1.2 * clipped.losses[39]
    assert detect_spikes(clipped.losses) == [] and detect_spikes(free.losses)[0] == 40
    assert free.losses[40] > 1000 * free.losses[39]
    assert len(clipped.losses) == len(clipped.gradient_norms) == 60


def test_without_corruption_both_runs_learn() -> None:
    for max_norm in (1.0, None):
        assert train_through_a_bad_batch(max_norm, corruption=1.0).losses[-1] < 0.3


def test_bad_runs_are_refused() -> None:
    for settings in (
        {"bad_step": 60},
        {"steps": 0},
        {"learning_rate": 0.0},
        {"corruption": math.nan},
        {"seed": -1},
    ):
        with pytest.raises(ValueError, match="must be"):
            train_through_a_bad_batch(1.0, **settings)
    with pytest.raises(ValueError, match="max_norm must be above zero"):
        train_through_a_bad_batch(0.0)


def test_warmup_then_cosine() -> None:
    rate = [warmup_cosine(step, 1.0, 10, 110, 0.1) for step in range(130)]
    assert rate[:11] == [step / 10 for step in range(11)]
    assert rate[60] == pytest.approx(0.55) and rate[110:] == [0.1] * 20
    assert all(before >= after for before, after in pairwise(rate[10:]))
    assert warmup_cosine(0, 1.0, 0, 10) == 1.0 and warmup_cosine(5, 2.0, 5, 5) == 2.0


def test_bad_schedules_are_refused() -> None:
    for arguments in (
        (-1, 1.0, 1, 2),
        (0, 0.0, 1, 2),
        (0, 1.0, 3, 2),
        (0, 1.0, 1, 2, 1.5),
        (0, 1.0, 1, 0),
        (0, 1.0, 1, 2, -1),
    ):
        with pytest.raises(ValueError, match="must"):
            warmup_cosine(*arguments)
