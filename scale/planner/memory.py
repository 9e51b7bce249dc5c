"""Bytes on one GPU, part by part and stage by stage, for one layout or a whole column of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from scale.memory import RECIPES, StateRecipe
from scale.planner.activations import activation_bytes_per_layer, logits_bytes, working_set_bytes
from scale.planner.arrays import Array, Flags, Grid, Shape, array, total_of
from scale.planner.calibration import calibration
from scale.planner.stages import STAGES, ModelParameters, leading_layers, stage_parameters
from scale.planner.steptime import StageParameters, stage_layers

GIB = 2.0**30


@dataclass(frozen=True)
class StageMemory:
    """Bytes on one GPU of one pipeline stage. `framework` is allocator waste and library workspaces."""

    weights: Array
    gradients: Array
    master: Array
    moments: Array
    activations: Array
    working_set: Array
    logits: Array
    gather_buffers: Array
    reduce_buffers: Array
    framework: Array

    @property
    def total(self) -> Array:
        return total_of(self, [f.name for f in fields(self)])


def in_flight(stage: str, g: Grid) -> Array:
    """Micro-batches whose activations a stage holds at once: min(m, p - i) of stage i under 1F1B.

    Zero-bubble schedules put off weight gradients, so that every stage holds up to p (Qi et al. 2024). With v chunks
    the first stage holds p + (p-1)/v (Korthikanti et al. 2022 section 4.2.3), stage i 2i/v fewer.
    """
    index = {"first": np.zeros_like(g.pp), "middle": np.minimum(1.0, g.pp - 1), "last": g.pp - 1}[stage]
    plain = g.pp - index
    interleaved = ((g.pp - index - 1) * 2 + (g.interleave - 1) * g.pp + 1) / g.interleave
    held = np.select([g.bubble_share < 1, g.interleave > 1], [g.pp, interleaved], plain)
    return array(np.minimum(held, g.micro_batches))


def stage_memory(p: ModelParameters, s: Shape, g: Grid, recipe: StateRecipe, stage: str) -> StageMemory:
    """Memory of the `first`, a `middle` or the `last` pipeline stage.

    ZeRO 1 splits master weights and moments over the replicas, 2 also gradients, 3 also weights (Rajbhandari et al.
    2020 section 5). With pipeline stages, weights gathered by ZeRO-3 and unsharded gradients stay for the whole
    step, because they are met by every micro-batch.
    """
    constants = calibration()["memory"]
    held = stage_parameters(p, int(np.max(s.layers)), g, stage)
    kept = g.pp > 1
    sharded_state = (g.zero >= 1) | recipe.sharded
    state = _split(held, g, sharded_state)
    # FSDP reduces in fp32, so gradients that wait unsharded for the last micro-batch are fp32 as well.
    gradients = _split(held, g, (g.zero >= 2) & ~kept)
    held_bytes = float(recipe.gradients + recipe.gradients_fp32)
    gradient_bytes = np.where((g.zero >= 2) & kept, max(4.0, held_bytes), held_bytes)
    weights = _split(held, g, (g.zero >= 3) & ~kept)
    count = stage_layers(s.layers, g, stage)
    if p.leading:
        s = replace(s, moe_layers=s.layers * (1 - leading_layers(p, count, g, stage) / count))
    activations = activation_bytes_per_layer(s, g) * count * in_flight(stage, g)
    gather, reduce = _buffers(p, g, kept)
    holds_head = (g.pp <= 1) | (g.folded if stage == "first" else ~g.folded & (stage == "last"))
    working = working_set_bytes(s, g) * constants["working_set_copies"]
    logits = np.where(holds_head, logits_bytes(s, g), 0.0)
    moving = activations + working + logits
    # An 8-bit or momentum-less optimiser is a recipe of its own; the byte counts come from the recipe alone.
    return StageMemory(
        weights * recipe.weights,
        gradients * gradient_bytes,
        state * recipe.master,
        state * (recipe.momentum + recipe.variance),
        activations,
        working,
        logits,
        gather,
        reduce,
        constants["fragmentation"] * moving + constants["framework_gib"] * GIB,
    )


def _split(held: StageParameters, g: Grid, sharded: Flags) -> Array:
    """Elements per GPU when what is `sharded` is divided over the GPUs that hold the same weights."""
    over_experts = np.maximum(g.replicas / g.ep, 1.0)
    return np.where(sharded, held.dense / g.replicas + held.experts / over_experts, held.dense + held.experts)


def _buffers(p: ModelParameters, g: Grid, kept: Flags) -> tuple[Array, Array]:
    """FSDP's transient copies: the ends and two layers gathered in 16 bits, the largest reduced in fp32."""
    layer = p.body.split / g.tp + p.body.replicated + p.body.experts / (g.tp * g.ep)
    ends = (p.embedding + (0 if p.tied else p.head)) / g.tp
    sharded = (g.zero >= 2) & (g.replicas > 1)
    gather = np.where(sharded & (g.zero >= 3) & ~kept, 2.0 * (2 * layer + ends), 0.0)
    reduce = np.where(sharded, 4.0 * np.maximum(layer, p.embedding / g.tp), 0.0)
    return gather, reduce


def worst_stage(p: ModelParameters, s: Shape, g: Grid, recipe: str) -> tuple[Array, Array]:
    """(total bytes on the fullest stage's GPU, index of that stage in `STAGES`)."""
    totals = [stage_memory(p, s, g, RECIPES[recipe], stage).total for stage in STAGES]
    totals[2] = np.where(g.pp > 1, totals[2], 0.0)
    totals[1] = np.where(g.pp > 2, totals[1], 0.0)
    stacked = np.stack(np.broadcast_arrays(*totals))
    return np.max(stacked, axis=0), np.argmax(stacked, axis=0)
