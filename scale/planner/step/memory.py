"""Bytes on one GPU, part by part and stage by stage, for one layout or a whole column of them.

What a layer keeps for its backward pass follows Korthikanti et al. 2022 section 4: a GPT layer keeps 34·s·b·h +
5·a·s²·b bytes with dropout, 10 + 24/t of it under tensor parallelism without sequence parallelism. Generalised here
to grouped queries, gated MLPs, latent attention and experts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from scale.memory import StateRecipe
from scale.planner.step.arrays import (
    FULL,
    NONE,
    SELECTIVE,
    Array,
    Flags,
    Grid,
    Shape,
    array,
    recomputes_matmuls,
    total_of,
)
from scale.planner.step.calibration import calibration
from scale.planner.step.stages import STAGES, ModelParameters, leading_layers, stage_parameters
from scale.planner.step.steptime import StageParameters, stage_layers

BYTES = 2.0  # 16-bit activations
SCORE_BYTES = 5.0  # softmax output 2, dropout output 2, mask 1 (Korthikanti et al. 2022 section 4.1)


def tokens_per_micro_batch(s: Shape, g: Grid) -> Array:
    """Tokens of one micro-batch on one GPU: b·s/cp."""
    return g.micro_batch * s.sequence / g.cp


def mlp_elements(s: Shape, kept_copies: Array) -> tuple[Array, Array]:
    """(split, replicated) elements per token of the mean layer's MLP, `kept_copies` of its width kept.

    Experts keep their copies for each of top_k choices, and the dispatched input and the output to combine.
    """
    share = s.moe_layers / s.layers
    width = (1 - share) * s.ffn + share * (s.top_k * s.expert_ffn + s.shared_ffn)
    return kept_copies * width, 2.0 * share * s.top_k * s.hidden


def _attention_elements(s: Shape) -> Array:
    """Elements per token that tensor parallelism splits: queries, keys, values and the attention's output."""
    latent = s.query + s.kv_expanded + s.key_value
    return s.mixer + np.where(s.kv_rank > 0, latent, 2.0 * s.query + 2.0 * s.key_value)


def _latent_elements(s: Shape) -> Array:
    return s.kv_latent + s.q_rank


def activation_bytes_per_layer(s: Shape, g: Grid) -> Array:
    """Bytes of one mean layer and micro-batch that wait for the backward pass."""
    tokens = tokens_per_micro_batch(s, g)
    kept = np.select(
        [g.recompute == NONE, g.recompute == SELECTIVE],
        [_kept(s, g), _selective(s, g)],
        BYTES * s.hidden / g.sequence_ways,
    )
    scores = SCORE_BYTES * s.heads / g.tp * s.sequence
    return tokens * (kept + np.where((s.unfused > 0) & (g.recompute == NONE), scores, 0.0))


def _kept(s: Shape, g: Grid) -> Array:
    """No recomputation, bytes per token without scores: norms' inputs and outputs, attention, MLP, dropout masks."""
    split_mlp, replicated_mlp = mlp_elements(s, 1.0 + s.inputs)
    masks = np.where(s.dropout > 0, 2.0 * s.hidden, 0.0)
    replicated = BYTES * (4.0 * s.hidden + replicated_mlp + _latent_elements(s)) + masks
    return replicated / g.sequence_ways + BYTES * (_attention_elements(s) + split_mlp) / g.tp


def _selective(s: Shape, g: Grid) -> Array:
    """Selective recomputation, bytes per token.

    Unfused attention: everything but the scores (Korthikanti et al. 2022 section 5). Flash attention keeps no scores;
    there the norms and activation functions are recomputed (tensor parallel stacks, Megatron-Core), or every second
    matmul as well (FSDP stacks, torchtitan's per-op policy).
    """
    share = s.moe_layers / s.layers
    width = (1 - share) * s.ffn + share * (s.top_k * s.expert_ffn + s.shared_ffn)
    dispatched = share * s.top_k * s.hidden
    norms = (
        BYTES * (2.0 * s.hidden + dispatched + _latent_elements(s)) / g.sequence_ways
        + BYTES * (_attention_elements(s) + s.inputs * width) / g.tp
    )
    per_op = BYTES * (2.0 * s.hidden + dispatched + 2.0 * s.query + s.key_value + width) / g.tp
    return np.where(s.unfused > 0, _kept(s, g), np.where(recomputes_matmuls(s, g), per_op, norms))


def working_set_bytes(s: Shape, g: Grid) -> Array:
    """Bytes one layer needs while it is recomputed or run backward: its activations once more, gathered inputs."""
    tokens = tokens_per_micro_batch(s, g)
    gathered = np.where(g.tp > 1, BYTES * s.hidden, 0.0)
    layer = tokens * (_kept(s, g) + gathered)
    return np.where(g.recompute == FULL, layer, 0.5 * layer)


def logits_bytes(s: Shape, g: Grid) -> Array:
    """Bytes of logits and loss on the last stage: tokens·V/t times the copies the loss makes of them.

    "eager" keeps 16-bit logits, fp32 logits, fp32 log-softmax and gradient; "fused" computes them in pieces.
    """
    per = calibration()["memory"]
    each = np.where(s.eager_loss > 0, per["logit_bytes_eager"], per["logit_bytes_fused"])
    return array(tokens_per_micro_batch(s, g) * s.vocab / g.tp * each)


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
    held = np.select([g.bubble_share < 1, g.interleave > 1], [g.pp + g.doubled, interleaved], plain)
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
    copies = np.where(s.inputs > 1, constants["working_set_copies"], constants["working_set_copies_plain"])
    working = working_set_bytes(s, g) * copies
    logits = np.where(holds_head, logits_bytes(s, g), 0.0)
    moving = activations + working + logits
    # An 8-bit or momentum-less optimiser is a recipe of its own; the byte counts come from the recipe alone.
    return StageMemory(
        weights * recipe.weights * (1 + g.doubled),
        gradients * gradient_bytes * s.trained * (1 + g.doubled),
        state * recipe.master * s.trained,
        state * (recipe.momentum + recipe.variance) * s.trained,
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


def worst_stage(p: ModelParameters, s: Shape, g: Grid, recipe: StateRecipe) -> tuple[Array, Array]:
    """(total bytes on the fullest stage's GPU, index of that stage in `STAGES`)."""
    totals = [stage_memory(p, s, g, recipe, stage).total for stage in STAGES]
    totals[2] = np.where(g.pp > 1, totals[2], 0.0)
    totals[1] = np.where(g.pp > 2, totals[1], 0.0)
    stacked = np.stack(np.broadcast_arrays(*totals))
    return np.max(stacked, axis=0), np.argmax(stacked, axis=0)


def least_bytes(p: ModelParameters, s: Shape, g: Grid, recipe: StateRecipe) -> Array:
    """The least a layout may need on its fullest stage: the low edge of the band, with the loss computed in pieces."""
    lean = worst_stage(p, replace(s, eager_loss=np.zeros_like(s.eager_loss)), g, recipe)[0]
    return array(lean * (1 - float(calibration()["bands"]["memory"])))
