"""One layout, estimated: seconds by cause, utilisation, memory by part and stage, each with its error band."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from scale.planner.models.flops import TokenFlops, token_flops, utilisation
from scale.planner.models.model import Architecture
from scale.planner.step.arrays import Grid, Rates, Shape, array
from scale.planner.step.calibration import calibration, constants_for, stack_of, time_band
from scale.planner.step.hardware import Cluster
from scale.planner.step.memory import least_bytes, stage_memory
from scale.planner.step.stages import STAGES, ModelParameters, heaviest_stage, reduced_bytes
from scale.planner.step.steptime import StepTime, step_seconds
from scale.planner.step.workload import Layout, Train, require_possible

Verdict = Literal["fits", "may fit", "does not fit"]


@dataclass(frozen=True)
class StepEstimate:
    """One optimiser step of one layout.

    `causes` are seconds and add up to `seconds`; `mfu` and `hfu` are fractions of the dense bf16 peak, counted with
    full and with causal attention; `band` is the relative error measured on runs that were not fitted.
    """

    layout: Layout
    stack: str
    seconds: float
    causes: dict[str, float]
    tokens_per_second: float
    mfu_full: float
    mfu_causal: float
    hfu_full: float
    model_tflops_per_gpu: float
    band: float

    @property
    def tokens_per_day(self) -> float:
        return self.tokens_per_second * 86400


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes on one GPU per stage and part. `worst` names the fullest stage; `band` is relative.

    `least` is the least the layout may need: the low edge of the band, with the loss computed in pieces.
    """

    stages: dict[str, dict[str, float]]
    worst: str
    limit: float
    band: float
    least: float

    @property
    def worst_bytes(self) -> float:
        return sum(self.stages[self.worst].values())

    @property
    def verdict(self) -> Verdict:
        """Whether it fits: surely (the high edge of the band), maybe, or not even at the least it may need."""
        if self.worst_bytes * (1 + self.band) <= self.limit:
            return "fits"
        return "may fit" if self.least <= self.limit else "does not fit"

    @property
    def fits(self) -> bool:
        """False only where it surely does not fit."""
        return self.verdict != "does not fit"


def step_time(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> StepTime:
    """The step's seconds by cause, as arrays of one element, without any check of the layout."""
    shape, grid = Shape.of(model, train), Grid.of(layout, train)
    stack = stack_of(train, layout)
    heavy = heaviest_stage(ModelParameters.of(model), model.layers, grid)
    return step_seconds(
        shape,
        grid,
        heavy,
        reduced_bytes(train.state, grid.zero),
        Rates.of(cluster, train.precision),
        constants_for(stack, cluster.gpu),
    )


def recompute_factor(flops: TokenFlops, layout: Layout, train: Train) -> float:
    """Hardware over model FLOPs: one more forward pass (full), or the attention's (selective, unfused)."""
    if layout.recompute == "full":
        return 4 / 3
    if layout.recompute == "selective" and train.attention == "unfused":
        return 1 + flops.attention_forward_full / flops.full_attention
    if layout.recompute == "selective" and stack_of(train, layout) == "fsdp":
        return 1 + 0.5 * (flops.forward - flops.attention_forward_full) / flops.full_attention
    return 1.0


def estimate_step(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> StepEstimate:
    """Time one optimiser step of a given layout. Raises `Refusal` when the layout is impossible.

    Constants are those of `scale/data/calibration.json`, chosen by `stack_of`.
    """
    require_possible(model, cluster, layout, train)
    times = step_time(model, cluster, layout, train)
    causes = {f.name: float(np.ravel(getattr(times, f.name))[0]) for f in fields(StepTime)}
    seconds = sum(causes.values())
    rate = train.tokens_per_step / seconds
    flops = token_flops(model, train.sequence)
    peak = cluster.gpu.bf16_tflops
    mfu = utilisation(rate, flops.full_attention, cluster.gpus, peak)
    uncovered = model.experts is not None or model.mixer is not None
    stack = stack_of(train, layout)
    return StepEstimate(
        layout,
        stack,
        seconds,
        causes,
        rate,
        mfu,
        utilisation(rate, flops.causal_attention, cluster.gpus, peak),
        mfu * recompute_factor(flops, layout, train),
        mfu * peak,
        float(time_band(stack, cluster.gpu, array(layout.cp), uncovered)),
    )


def estimate_memory(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> MemoryEstimate:
    """Bytes per GPU, by part, of the first, a middle and the last stage. Raises `Refusal` for impossible layouts."""
    require_possible(model, cluster, layout, train)
    shape, grid, parameters = Shape.of(model, train), Grid.of(layout, train), ModelParameters.of(model)
    names = {1: ("first",), 2: ("first", "last")}.get(layout.pp, STAGES)
    stages = {}
    for stage in names:
        parts = stage_memory(parameters, shape, grid, train.state, stage)
        stages[stage] = {f.name: float(np.ravel(getattr(parts, f.name))[0]) for f in fields(parts)}
    worst = max(stages, key=lambda name: sum(stages[name].values()))
    least = float(np.ravel(least_bytes(parameters, shape, grid, train.state))[0])
    return MemoryEstimate(stages, worst, cluster.memory_bytes, float(calibration()["bands"]["memory"]), least)
