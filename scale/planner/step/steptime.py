"""Seconds of one optimiser step, split by cause, for one layout or for a whole column of them."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from scale.planner.step.arrays import FULL, Array, Grid, Rates, Shape, total_of
from scale.planner.step.calibration import Constants
from scale.planner.step.communication import (
    boundary_seconds,
    context_seconds,
    expert_seconds,
    gradient_seconds,
    tensor_seconds,
)
from scale.planner.step.layertime import SMOOTHING, head_seconds, layer_seconds

WIDE = 6144  # hidden size from which pairs of GPUs were seen to be slow (vTrain: up to 38 % too fast)
HOST_LINK_BYTES, OPTIMIZER_STATE_BYTES = 2.0, 28.0  # a 16-bit gradient or weight; Adam reads 16 and writes 12 bytes


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
    times = m * per_stage
    plain = StepTime(
        matmul=times * layer.matmul,
        attention=times * layer.attention,
        memory_bound=times * layer.memory,
        launch=times * (bound - busy),
        head_and_loss=m * extra,
        tensor_parallel=times * tensor,
        context_parallel=times * context,
        expert_parallel=times * expert,
        pipeline_bubble=(g.pp - 1) / g.interleave * middle * g.bubble_share,
        pipeline_transfer=2 * boundary_seconds(s, g, r, c) * (m * g.interleave + g.pp - 2) * (1 - c.pipeline_overlap),
        data_parallel=_exposed_gradients(g, parameters, gradient_bytes * s.trained, middle, extra, r, c),
        optimizer=_optimizer_seconds(s, g, parameters, r, c),
        other=np.zeros_like(middle) + c.step_seconds,
    )
    pairs = (g.tp == 2) & (g.pp > 1) & (s.hidden >= WIDE)
    lost = c.straggler * np.log2(np.maximum(g.gpus / r.node, 1.0)) + np.where(pairs, c.tensor_pair_loss, 0.0)
    return _with_jitter(plain, lost)


def _exposed_gradients(
    g: Grid, parameters: StageParameters, gradient_bytes: Array, middle: Array, extra: Array, r: Rates, c: Constants
) -> Array:
    """Data-parallel seconds that computation does not hide.

    Traffic of every micro-batch (FSDP) may hide behind all of them, traffic of a step behind its last backward pass;
    a share is never free, because collectives take multiprocessors and HBM from the computation they hide behind.
    """
    traffic = gradient_seconds(g, parameters.dense, parameters.experts, gradient_bytes, r, c)
    backward = middle * np.where(g.recompute == FULL, 0.75, 2 / 3)
    hideable = np.where((g.zero >= 2) & (g.pp <= 1), g.micro_batches * (middle + extra), backward)
    return np.maximum(traffic - c.gradient_overlap * hideable, c.gradient_exposed * traffic)


def _optimizer_seconds(s: Shape, g: Grid, parameters: StageParameters, r: Rates, c: Constants) -> Array:
    """The update: through HBM; offloaded, 16-bit gradients and weights cross the host link and the state moves through
    the host's memory (a prior: the link and a GPU's share of that memory are about as fast)."""
    owned = _owned(g, parameters) * s.trained
    on_host = owned * (2 * HOST_LINK_BYTES + OPTIMIZER_STATE_BYTES) / r.host
    return np.where(s.offloaded > 0, on_host, c.optimizer_bytes * owned / r.memory)


def _owned(g: Grid, parameters: StageParameters) -> Array:
    """Parameters whose optimiser state one GPU updates."""
    shared = parameters.dense / g.replicas + parameters.experts * g.ep / g.replicas
    return np.where(g.zero >= 1, shared, parameters.dense + parameters.experts)


def layers_of_stages(layers: Array, stages: Array) -> tuple[Array, Array, Array]:
    """Layers of the (first, a middle, last) stage: where they do not divide, the last and then the first have one
    fewer than a full stage, because they also hold the head and the embedding."""
    full = np.ceil(layers / stages)
    missing = full * stages - layers
    return full - (missing >= 2), full, full - (missing >= 1)


def stage_layers(layers: Array, g: Grid, stage: str) -> Array:
    """Layers on the `first`, a `middle` or the `last` stage; where the pipeline is folded the first holds both ends."""
    first, middle, last = layers_of_stages(layers, g.pp)
    if stage == "middle":
        return middle
    return np.where(g.folded, *((last, first) if stage == "first" else (first, last)))


def _with_jitter(plain: StepTime, jitter: Array) -> StepTime:
    """Waiting for the slowest of many nodes, as a share of the step that grows with their number's logarithm."""
    values = {f.name: getattr(plain, f.name) for f in fields(StepTime)}
    values["other"] = values["other"] + jitter * plain.total
    return StepTime(**values)
