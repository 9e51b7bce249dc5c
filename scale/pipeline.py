"""Pipeline parallelism: the schedule grid and the closed forms of its bubble.

A bubble is quoted in two ways, and every name here says which: *fraction* is idle time over total time,
*ratio* is idle time over the ideal (busy) time. With 4 stages and 8 micro-batches they are 0.273 and 0.375.
"""

import numpy as np
from numpy.typing import NDArray

from scale.refusal import Refusal
from scale.validation import non_negative, whole_number

SCHEDULES = ("gpipe", "1f1b")

ZERO_BUBBLE_SHARES = {"1F1B": 1.0, "ZB1P": 1 / 3, "ZB2P": 0.0, "ZBV": 0.0, "V-Half": 1 / 2, "V-Min": 2 / 3}
"""Bubble fraction over that of 1F1B if forward, input-gradient and weight-gradient passes take equally long
(Qi et al. 2024, "Zero Bubble Pipeline Parallelism" and "Pipeline Parallelism with Controllable Memory").
V-Min is the leading term: its bubble also grows with the number of micro-batches if the three are
unequal."""

ZERO_BUBBLE_ACTIVATION_RATIOS = {
    "1F1B": 1.0,
    "ZB1P": 1.0,
    "ZB2P": 2.0,
    "ZBV": 1.0,
    "V-Half": 1 / 2,
    "V-Min": 1 / 3,
}
"""Peak activation memory over that of 1F1B (same papers)."""


def pipeline_schedule(stages: int, micro_batches: int, schedule: str = "gpipe") -> NDArray[np.int64]:
    """The grid of a pipeline: row = stage, column = time slot, +i forward and -i backward of micro-batch i,
    0 idle.

    Micro-batches count from 1 and forward and backward take one slot each, so the shape is (p, 2 (m + p -
    1)) and each stage idles 2 (p - 1) slots. "gpipe" runs all forwards, then all backwards (Huang et al.
    2019, figure 2); "1f1b" alternates them after a warmup (Narayanan et al. 2021, figure 4), with the same
    bubble but at most p micro-batches in flight. Raises ValueError for counts below 1 or another schedule.
    """
    depth, count = whole_number("stages", stages), whole_number("micro_batches", micro_batches)
    if schedule not in SCHEDULES:
        raise Refusal(f"schedule must be one of {', '.join(SCHEDULES)}, not {schedule!r}.")
    orders = [_order(stage, depth, count, schedule) for stage in range(depth)]
    grid = np.zeros((depth, 2 * (count + depth - 1)), dtype=np.int64)
    done: set[tuple[int, int]] = set()
    position = [0] * depth
    for slot in range(grid.shape[1]):
        ready = [
            s for s in range(depth) if position[s] < len(orders[s]) and _runs(orders[s][position[s]], s, depth, done)
        ]
        for stage in ready:
            grid[stage, slot] = orders[stage][position[stage]]
            position[stage] += 1
            done.add((stage, int(grid[stage, slot])))
    return grid


def _order(stage: int, stages: int, micro_batches: int, schedule: str) -> list[int]:
    """The passes of one stage in the order in which it runs them."""
    warmup = micro_batches if schedule == "gpipe" else min(micro_batches, stages - 1 - stage)
    passes = list(range(1, warmup + 1))
    for micro_batch in range(1, micro_batches + 1):
        if warmup + micro_batch <= micro_batches:
            passes.append(warmup + micro_batch)
        passes.append(-micro_batch)
    return passes


def _runs(work: int, stage: int, stages: int, done: set[tuple[int, int]]) -> bool:
    """Whether the pass `work` of `stage` has its input: the neighbour's activations or gradients."""
    if work > 0:
        return stage == 0 or (stage - 1, work) in done
    return (stage, -work) in done if stage == stages - 1 else (stage + 1, work) in done


def in_flight_micro_batches(stages: int, micro_batches: int, stage: int, schedule: str = "1f1b") -> int:
    """Micro-batches whose activations `stage` (from 0) holds at its peak: min(m, p - stage) under 1F1B, m
    under GPipe.

    Narayanan et al. 2021, section 2.2.1. Raises ValueError for a stage outside 0..p-1 or another schedule.
    """
    depth, count = whole_number("stages", stages), whole_number("micro_batches", micro_batches)
    index = whole_number("stage", stage, at_least=0)
    if index >= depth:
        raise Refusal(f"stage must be below the {depth} stages, not {index}.")
    if schedule not in SCHEDULES:
        raise Refusal(f"schedule must be one of {', '.join(SCHEDULES)}, not {schedule!r}.")
    return count if schedule == "gpipe" else min(count, depth - index)


def bubble_fraction(stages: int, micro_batches: int) -> float:
    """Idle over total time of GPipe and 1F1B: (p - 1) / (m + p - 1) (Huang et al. 2019, section 2.3).

    Raises ValueError for counts below 1.
    """
    depth, count = whole_number("stages", stages), whole_number("micro_batches", micro_batches)
    return (depth - 1) / (count + depth - 1)


def bubble_ratio(stages: int, micro_batches: int) -> float:
    """Idle over ideal time of GPipe and 1F1B: (p - 1) / m (Narayanan et al. 2021, section 2.2.1).

    Raises ValueError for counts below 1.
    """
    return interleaved_bubble_ratio(stages, micro_batches, 1)


def interleaved_bubble_ratio(stages: int, micro_batches: int, chunks: int) -> float:
    """Idle over ideal time with `chunks` model chunks per stage: (p - 1) / (v m) (Narayanan et al. 2021,
    section 2.2.2).

    The schedule itself needs m to be a multiple of p; the formula does not. Raises ValueError for counts
    below 1.
    """
    depth, count = whole_number("stages", stages), whole_number("micro_batches", micro_batches)
    return (depth - 1) / (whole_number("chunks", chunks) * count)


def interleaved_bubble_fraction(stages: int, micro_batches: int, chunks: int) -> float:
    """Idle over total time with `chunks` model chunks per stage: r / (1 + r) of the ratio. Errors as the
    ratio's."""
    ratio = interleaved_bubble_ratio(stages, micro_batches, chunks)
    return ratio / (1.0 + ratio)


def zero_bubble_fraction(stages: int, micro_batches: int, schedule: str) -> float:
    """Idle over total time of a schedule in `ZERO_BUBBLE_SHARES`, with equally long F, B and W passes.

    A share of 1F1B's (p - 1) / (m + p - 1) (Qi et al. 2024). Raises ValueError for counts below 1 or
    another schedule.
    """
    if schedule not in ZERO_BUBBLE_SHARES:
        raise Refusal(f"schedule must be one of {', '.join(ZERO_BUBBLE_SHARES)}, not {schedule!r}.")
    return ZERO_BUBBLE_SHARES[schedule] * bubble_fraction(stages, micro_batches)


def dualpipe_bubble_seconds(
    stages: int,
    schedule: str,
    forward_seconds: float,
    backward_seconds: float,
    weight_gradient_seconds: float,
    overlapped_seconds: float,
) -> float:
    """Idle seconds per stage and step of 1F1B, ZB1P, DualPipe or DualPipeV (DeepSeek-AI 2024, V3 report,
    Table 2).

    Times are of one micro-batch on one stage: forward F, whole backward B (with the weight gradient W in
    it), and a forward and backward that overlap each other, F&B. 1F1B: (p-1)(F+B); ZB1P: (p-1)(F+B-2W);
    DualPipe and DualPipeV: (p/2-1)(F&B+B-3W), for an even p. Raises ValueError for negative times, W above
    B, an odd p, another schedule, or times so unequal that the form goes negative.
    """
    depth = whole_number("stages", stages)
    forward = non_negative("forward_seconds", forward_seconds)
    backward = non_negative("backward_seconds", backward_seconds)
    weight = non_negative("weight_gradient_seconds", weight_gradient_seconds)
    overlapped = non_negative("overlapped_seconds", overlapped_seconds)
    if weight > backward:
        raise Refusal("weight_gradient_seconds is part of backward_seconds and cannot exceed it.")
    if schedule in ("DualPipe", "DualPipeV"):
        if depth % 2:
            raise Refusal(f"{schedule} needs an even number of stages, not {depth}.")
        idle = (depth // 2 - 1) * (overlapped + backward - 3 * weight)
    elif schedule in ("1F1B", "ZB1P"):
        idle = (depth - 1) * (forward + backward - (2 * weight if schedule == "ZB1P" else 0.0))
    else:
        raise Refusal(f"schedule must be 1F1B, ZB1P, DualPipe or DualPipeV, not {schedule!r}.")
    return non_negative("the bubble of these times", idle)
