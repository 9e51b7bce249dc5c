"""Stability: spotting loss spikes, rolling back past them, clipping gradients, and warming up."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scale.refusal import Refusal
from scale.validation import non_negative, number, positive, whole_number


def _loss_history(losses: Sequence[float]) -> list[float]:
    """The losses as floats, with NaN as infinity: a diverged step is the worst one, and medians need an
    order."""
    history = [math.inf if math.isnan(loss) else float(loss) for loss in losses]
    if any(loss < 0 for loss in history):
        raise Refusal("losses must not be negative: the rule compares them as multiples of a median.")
    return history


def _elevated(loss: float, median: float, factor: float) -> bool:
    return math.isinf(loss) or loss > factor * median


def detect_spikes(losses: Sequence[float], window: int = 4, factor: float = 2.0) -> list[int]:
    """Steps t whose loss is above `factor` times the median of the `window` losses before it.

    Strictly above, and only once the window is complete; a flagged loss stays in later windows, which a
    median bears and a mean would not. An infinite or NaN loss is a spike at any step. Steps count from 0.
    Raises ValueError for a window below 1, a factor of 1 or less, or a negative loss.
    """
    width = whole_number("window", window)
    if number("factor", factor) <= 1:
        raise Refusal(f"factor must be above 1, not {factor}.")
    history = _loss_history(losses)
    return [
        step
        for step, loss in enumerate(history)
        if math.isinf(loss)
        or (step >= width and _elevated(loss, statistics.median(history[step - width : step]), factor))
    ]


class RollbackPlan(NamedTuple):
    """What to do about the losses so far; the last three fields are set for the action "roll back" only."""

    action: str
    spike_step: int | None = None
    load_checkpoint: int | None = None
    skip_batches: range = range(0)


def rollback_plan(
    losses: Sequence[float],
    checkpoints: Sequence[int],
    *,
    window: int = 4,
    factor: float = 2.0,
    persistence: int = 3,
    batches_before: int = 1,
    batches_after: int = 0,
) -> RollbackPlan:
    """Which checkpoint to load, which batches to skip, if a loss spike persists (Chowdhery et al. 2022, 5.1).

    `losses[t]` is the loss of batch t before its update; a checkpoint k holds the weights after batches 0
    .. k-1. A spike that `detect_spikes` starts persists if `persistence` losses in a row stay above
    `factor` times the median from before it. Then the action is "roll back": load the latest checkpoint at
    least `batches_before` batches before the spike, and skip the batches from there before it to
    `batches_after` behind the last high loss. PaLM went back about 100 steps and skipped 200 to 500
    batches. A spike still shorter than that at the end of the history gives "watch" and its step; one that
    passed by itself, or none, "continue".

    Raises ValueError for bad settings, a negative loss, a checkpoint outside the history, or if no
    checkpoint is old enough.
    """
    needed = whole_number("persistence", persistence)
    before = whole_number("batches_before", batches_before, at_least=0)
    after = whole_number("batches_after", batches_after, at_least=0)
    saved = [whole_number("each checkpoint", step, at_least=0) for step in checkpoints]
    if max(saved, default=0) > len(losses):
        raise Refusal(f"checkpoint {max(saved)} lies past the {len(losses)} losses.")
    history = _loss_history(losses)
    for spike in detect_spikes(losses, window, factor):
        end = _end_of_spike(history, spike, window, factor)
        if end - spike >= needed:
            old_enough = [step for step in saved if step <= spike - before]
            if not old_enough:
                raise Refusal(f"no checkpoint is {before} batches or more before the spike at step {spike}.")
            return RollbackPlan("roll back", spike, max(old_enough), range(spike - before, end + after))
        if end == len(history):
            return RollbackPlan("watch", spike)
    return RollbackPlan("continue")


def _end_of_spike(history: list[float], spike: int, window: int, factor: float) -> int:
    """The first step after `spike` whose loss is no longer high beside the median from before the spike."""
    past = history[max(0, spike - window) : spike]
    median = statistics.median(past) if past else math.inf
    end = spike
    while end < len(history) and _elevated(history[end], median, factor):
        end += 1
    return end


class ClippedGradients(NamedTuple):
    """Gradient shards after clipping, the norm before it, and the factor that every GPU applied."""

    shards: list[NDArray[np.float64]]
    norm: float
    factor: float


def _gradient_shards(shards: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    arrays = [np.asarray(shard, dtype=np.float64) for shard in shards]
    if not arrays:
        raise Refusal("shards must hold the gradients of at least one GPU.")
    if not all(np.isfinite(array).all() for array in arrays):
        raise Refusal("gradients must be finite: skip a step that overflowed before its norm is taken.")
    return arrays


def local_square_sums(shards: Sequence[ArrayLike], copies: Sequence[int] | None = None) -> list[float]:
    """Sum of squares of each GPU's shard: the one number it puts into the all-reduce. Errors as the
    norm's."""
    arrays = _gradient_shards(shards)
    held_by = [1] * len(arrays) if copies is None else [whole_number("each of copies", count) for count in copies]
    if len(held_by) != len(arrays):
        raise Refusal(f"copies must name a count for each of the {len(arrays)} shards, not {len(held_by)}.")
    return [float(np.square(array).sum()) / count for array, count in zip(arrays, held_by)]


def sharded_global_norm(shards: Sequence[ArrayLike], copies: Sequence[int] | None = None) -> float:
    """Length of a gradient that is spread over GPUs: the root of the sum of the shards' sums of squares.

    `shards` holds one array per GPU, of any shapes (Pascanu et al. 2013 for the norm; Rajbhandari et al.
    2020 for the shards). `copies[i]` says on how many GPUs shard i lies, so that parameters replicated
    under tensor parallelism count once. Squares that leave the range of float64 are taken again after
    scaling by a power of two. Raises ValueError for no shard, a gradient that is not finite, or copies that
    do not fit.
    """
    arrays = _gradient_shards(shards)
    with np.errstate(over="ignore", under="ignore"):
        total = sum(local_square_sums(arrays, copies))
    if 1e-280 < total < math.inf:
        return math.sqrt(total)
    largest = max(float(np.abs(array).max(initial=0.0)) for array in arrays)
    exponent = math.frexp(largest)[1]
    with np.errstate(under="ignore"):
        scaled = sum(local_square_sums([np.ldexp(array, -exponent) for array in arrays], copies))
    return math.ldexp(math.sqrt(scaled), exponent)


def clip_by_global_norm(
    shards: Sequence[ArrayLike], max_norm: float, copies: Sequence[int] | None = None
) -> ClippedGradients:
    """Shrink all shards by min(1, c / norm), so that the whole gradient is at most `max_norm` long.

    Pascanu et al. 2013, algorithm 1, with the norm of `sharded_global_norm` and no epsilon. Raises
    ValueError as the norm does, and for a max_norm that is not finite and above zero.
    """
    limit = positive("max_norm", max_norm)
    arrays = _gradient_shards(shards)
    norm = sharded_global_norm(arrays, copies)
    factor = min(1.0, limit / norm) if norm > 0 else 1.0
    return ClippedGradients([array * factor for array in arrays], norm, factor)


@dataclass(frozen=True)
class BadBatchRun:
    """Losses on clean data after each update, and the gradient norm of each step before clipping."""

    bad_step: int
    losses: list[float] = field(default_factory=list)
    gradient_norms: list[float] = field(default_factory=list)


def train_through_a_bad_batch(
    max_norm: float | None,
    *,
    steps: int = 60,
    bad_step: int = 40,
    learning_rate: float = 0.1,
    corruption: float = 1000.0,
    seed: int = 0,
) -> BadBatchRun:
    """Fit a linear model by gradient descent through one batch whose targets are `corruption` times too
    large.

    With `max_norm` each gradient is clipped to that global norm, with None it is applied as it is. Eight
    weights, lying on two GPUs, learn from batches of 32 with noise of spread 0.5, so the loss settles near
    0.25. The same seed gives the same batches with and without clipping. Raises ValueError for bad settings
    or a bad_step outside the run.
    """
    count, bad = whole_number("steps", steps), whole_number("bad_step", bad_step, at_least=0)
    if bad >= count:
        raise Refusal(f"bad_step must be below the {count} steps, not {bad}.")
    rate, blow_up = positive("learning_rate", learning_rate), number("corruption", corruption)
    limit = None if max_norm is None else positive("max_norm", max_norm)
    generator = np.random.default_rng(whole_number("seed", seed, at_least=0))
    truth, weights = generator.normal(size=8), np.zeros(8)
    clean_inputs = generator.normal(size=(256, 8))
    clean_targets = clean_inputs @ truth + generator.normal(0.0, 0.5, 256)
    run = BadBatchRun(bad)
    for step in range(count):
        inputs = generator.normal(size=(32, 8))
        targets = (inputs @ truth + generator.normal(0.0, 0.5, 32)) * (blow_up if step == bad else 1.0)
        gradient = 2.0 / 32 * inputs.T @ (inputs @ weights - targets)
        shards = [gradient[:4], gradient[4:]]
        run.gradient_norms.append(sharded_global_norm(shards))
        if limit is not None:
            shards = clip_by_global_norm(shards, limit).shards
        weights = weights - rate * np.concatenate(shards)
        run.losses.append(float(np.mean((clean_inputs @ weights - clean_targets) ** 2)))
    return run


def warmup_cosine(
    step: int,
    peak_learning_rate: float,
    warmup_steps: int,
    total_steps: int,
    final_learning_rate: float = 0.0,
) -> float:
    """Learning rate at `step`: linear from 0 to the peak, then half a cosine down to the final rate, then
    flat.

    Warmup after Goyal et al. 2017, section 2.2, a few hundred to a few thousand steps; cosine after
    Loshchilov and Hutter 2017, equation 5. Raises ValueError for negative steps or rates, a peak that is
    not above zero or below the final rate, or a warmup longer than the run.
    """
    now, warmup = whole_number("step", step, at_least=0), whole_number("warmup_steps", warmup_steps, at_least=0)
    total = whole_number("total_steps", total_steps)
    peak = positive("peak_learning_rate", peak_learning_rate)
    final = non_negative("final_learning_rate", final_learning_rate)
    if final > peak or warmup > total:
        raise Refusal("the final rate must not exceed the peak, nor the warmup the total steps.")
    if now < warmup:
        return peak * now / warmup
    if now >= total:
        return final if total > warmup else peak
    progress = (now - warmup) / (total - warmup)
    return final + (peak - final) * (1.0 + math.cos(math.pi * progress)) / 2.0
