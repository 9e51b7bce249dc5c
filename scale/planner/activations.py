"""Bytes of activations: what a layer keeps for its backward pass, what it needs while it runs, and the logits.

Element counts follow Korthikanti et al. 2022 section 4: a GPT layer keeps 34·s·b·h + 5·a·s²·b bytes with dropout,
10 + 24/t of it under tensor parallelism without sequence parallelism. Generalised here to grouped queries, gated
MLPs, latent attention and experts.
"""

from __future__ import annotations

import numpy as np

from scale.planner.arrays import FULL, NONE, SELECTIVE, Array, Grid, Shape, array, recomputes_matmuls
from scale.planner.calibration import calibration

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
    return np.where(s.kv_rank > 0, latent, 2.0 * s.query + 2.0 * s.key_value)


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
