"""Seconds of one optimiser step, split by cause, for one layout or for a whole column of them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from scale.planner.arrays import FULL, Array, Grid, Rates, Shape, total_of
from scale.planner.calibration import Constants
from scale.planner.communication import (
    boundary_seconds,
    context_seconds,
    expert_seconds,
    gradient_seconds,
    tensor_seconds,
)
from scale.planner.layertime import SMOOTHING, head_seconds, layer_seconds


@dataclass(frozen=True)
class StepTime:
    """Seconds per optimiser step by cause; they add up to `total`. `launch` is what waiting for the host costs."""

    matmul: Array
    attention: Array
    memory_bound: Array
    launch: Array
    head_and_loss: Array
    tensor_parallel: Array
    context_parallel: Array
    expert_parallel: Array
    pipeline_bubble: Array
    pipeline_transfer: Array
    data_parallel: Array
    optimizer: Array
    other: Array

    @property
    def total(self) -> Array:
        return total_of(self, [f.name for f in fields(self)])


@dataclass(frozen=True)
class StageParameters:
    """Parameters on one GPU of the heaviest stage: dense (replicated over data) and routed experts."""

    dense: Array
    experts: Array


def step_seconds(
    s: Shape, g: Grid, parameters: StageParameters, gradient_bytes: Array, r: Rates, c: Constants
) -> StepTime:
    """Time of one step: m micro-batches on the slowest stage, the bubble around them, then gradients and update.

    1F1B: m·slowest + (p-1)/v·middle, with the schedule's share of the bubble (Narayanan et al. 2021 section 2.2;
    Qi et al. 2024); the last stage also has the output head.
    """
    layer = layer_seconds(s, g, r, c)
    tensor = tensor_seconds(s, g, r, c)
    context = context_seconds(s, g, layer.attention, r, c)
    expert = expert_seconds(s, g, layer.gpu, r, c)
    busy = layer.gpu + tensor + context + expert
    bound = (busy**SMOOTHING + layer.host**SMOOTHING) ** (1 / SMOOTHING)
    _, per_stage, last_layers = layers_of_stages(s.layers, g.pp)
    middle = per_stage * bound
    # Only what the head adds beyond a middle stage delays the pipeline.
    extra = np.maximum(last_layers * bound + head_seconds(s, g, r, c) - middle, 0.0)
    m = g.micro_batches
    bubble = (g.pp - 1) / g.interleave * middle * g.bubble_share
    transfer = 2.0 * boundary_seconds(s, g, r, c) * (m * g.interleave + g.pp - 2) * (1 - c.pipeline_overlap)
    backward = m * per_stage * bound * np.where(g.recompute == FULL, 0.75, 2 / 3)
    traffic = gradient_seconds(g, parameters.dense, parameters.experts, gradient_bytes, r, c)
    # Traffic of every micro-batch hides behind all of them (FSDP), that of a step behind its last backward pass.
    hideable = np.where((g.zero >= 2) & (g.pp <= 1), m * (middle + extra), backward / m)
    exposed = np.maximum(traffic - c.gradient_overlap * hideable, 0.0)
    owned = np.where(
        g.zero >= 1,
        parameters.dense / g.replicas + parameters.experts * g.ep / g.replicas,
        parameters.dense + parameters.experts,
    )
    update = c.optimizer_bytes * owned / r.memory
    times = m * per_stage
    plain = StepTime(
        times * layer.matmul,
        times * layer.attention,
        times * layer.memory,
        times * (bound - busy),
        m * extra,
        times * tensor,
        times * context,
        times * expert,
        bubble,
        transfer,
        exposed,
        update,
        np.zeros_like(middle) + c.step_seconds,
    )
    jitter = c.straggler * np.log2(np.maximum(g.gpus / r.node, 1.0))
    return _with_jitter(plain, jitter)


def layers_of_stages(layers: Array, stages: Array) -> tuple[Array, Array, Array]:
    """Layers of the (first, a middle, last) stage: where they do not divide, the last and then the first have one
    fewer than a full stage, because they also hold the head and the embedding."""
    full = np.ceil(layers / stages)
    missing = full * stages - layers
    return full - (missing >= 2), full, full - (missing >= 1)


def _with_jitter(plain: StepTime, jitter: Array) -> StepTime:
    """Waiting for the slowest of many nodes, as a share of the step that grows with their number's logarithm."""
    values = {f.name: getattr(plain, f.name) for f in fields(StepTime)}
    values["other"] = values["other"] + jitter * plain.total
    return StepTime(**values)
