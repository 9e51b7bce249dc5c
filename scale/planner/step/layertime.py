"""Seconds of one layer for one micro-batch: matrix multiplications, attention, memory traffic, kernel launches.

A roofline per kind of work with a handful of calibrated constants: matmuls reach a share of the peak and lose part
of a last wave of tiles, attention has its own share, element-wise work moves bytes through HBM, and no layer is
faster than the host can launch its kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scale.planner.step.arrays import FULL, NONE, Array, Grid, Rates, Shape, recomputes_matmuls
from scale.planner.step.calibration import Constants

# One wave of 128×256 output tiles over all multiprocessors (the largest tile of cuBLAS on tensor cores).
TILE_ELEMENTS = 128 * 256
HOST_SHARE_WITHOUT_RECOMPUTE = 0.75  # forward and backward are 3 of the 4 passes of full recomputation
SMOOTHING = 6.0  # exponent of the soft maximum of GPU and host time


@dataclass(frozen=True)
class LayerTime:
    """Seconds per micro-batch and mean layer, on one GPU, forward and backward (and recomputation) together."""

    matmul: Array
    attention: Array
    memory: Array
    host: Array

    @property
    def gpu(self) -> Array:
        return self.matmul + self.attention + self.memory


def matmul_seconds(m: Array, n: Array, k: Array, r: Rates, c: Constants) -> Array:
    """One m×k by k×n product in 16 bits: the larger of its FLOPs and its bytes, plus the lost part of a wave."""
    gain = np.where(r.fp4 > 0, c.fp4_gain, np.where(r.fp8 > 0, c.fp8_gain, 1.0))
    flops = 2.0 * m * n * k / (r.peak * c.matmul_peak * gain)
    moved = 2.0 * (m * n + n * k + m * k) / (r.memory * c.memory_peak)
    wave = c.wave_loss * 2.0 * TILE_ELEMENTS * r.units * k / r.peak
    return np.where(n > 0, np.maximum(flops, moved) + wave, 0.0)


def linear_seconds(m: Array, n: Array, k: Array, forwards: Array, r: Rates, c: Constants, trained: Array) -> Array:
    """A linear layer: `forwards` forward products and the two of the backward pass (inputs, and weights where trained).

    Adapters are too thin to count beside the frozen weights they stand at.
    """
    weights = np.where(trained >= 1, matmul_seconds(n, k, m, r, c), 0.0)
    return forwards * matmul_seconds(m, n, k, r, c) + matmul_seconds(m, k, n, r, c) + weights


def layer_seconds(s: Shape, g: Grid, r: Rates, c: Constants) -> LayerTime:
    """Mean layer of a stage, for one micro-batch of b·s/cp tokens."""
    tokens = g.micro_batch * s.sequence / g.cp
    forwards = np.where(g.recompute == FULL, 2.0, np.where(recomputes_matmuls(s, g), 1.5, 1.0))
    attention_linear = _attention_matmuls(s, g, tokens, forwards, r, c)
    dense = _mlp_seconds(tokens, s.ffn / g.tp, s, forwards, r, c)
    moe_share = s.moe_layers / s.layers
    matmul = attention_linear + np.where(s.ffn > 0, (1 - moe_share) * dense, 0.0)
    if np.any(s.mixer > 0):
        matmul = matmul + linear_seconds(tokens, s.mixer / g.tp, s.hidden, forwards, r, c, s.trained)
    if np.any(s.moe_layers > 0):
        matmul = matmul + moe_share * _moe_seconds(s, g, tokens, forwards, r, c)
    host = c.launch_seconds + c.launch_rank_seconds * (g.tp - 1)
    host = host * np.where(g.recompute == FULL, 1.0, HOST_SHARE_WITHOUT_RECOMPUTE)
    return LayerTime(matmul, _attention_seconds(s, g, tokens, r, c), _memory_seconds(s, g, tokens, r, c), host)


def _attention_matmuls(s: Shape, g: Grid, tokens: Array, forwards: Array, r: Rates, c: Constants) -> Array:
    h, t = s.hidden, g.tp
    standard = linear_seconds(tokens, (s.query + 2 * s.key_value) / t, h, forwards, r, c, s.trained) + linear_seconds(
        tokens, h, s.query / t, forwards, r, c, s.trained
    )
    if not np.any(s.kv_rank > 0):
        return standard
    latent = (
        linear_seconds(tokens, s.kv_latent, h, forwards, r, c, s.trained)
        + linear_seconds(tokens, s.kv_expanded / t, s.kv_rank, forwards, r, c, s.trained)
        + linear_seconds(tokens, h, s.key_value / t, forwards, r, c, s.trained)
        + np.where(
            s.q_rank > 0,
            linear_seconds(tokens, s.q_rank, h, forwards, r, c, s.trained)
            + linear_seconds(tokens, s.query / t, s.q_rank, forwards, r, c, s.trained),
            linear_seconds(tokens, s.query / t, h, forwards, r, c, s.trained),
        )
    )
    return np.where(s.kv_rank > 0, latent, standard)


def _mlp_seconds(tokens: Array, ffn: Array, s: Shape, forwards: Array, r: Rates, c: Constants) -> Array:
    return linear_seconds(tokens, s.inputs * ffn, s.hidden, forwards, r, c, s.trained) + linear_seconds(
        tokens, s.hidden, ffn, forwards, r, c, s.trained
    )


def _moe_seconds(s: Shape, g: Grid, tokens: Array, forwards: Array, r: Rates, c: Constants) -> Array:
    """Routed experts as one grouped product over tokens·top_k rows (balanced routing), the shared one beside it."""
    routed = _mlp_seconds(tokens * s.top_k, s.expert_ffn / g.tp, s, forwards, r, c)
    # Each expert's weights are read per micro-batch: with few tokens an expert is bound by HBM, not by FLOPs.
    weights = (s.inputs + 1) * s.hidden * s.expert_ffn / g.tp * s.experts / g.ep
    reads = (forwards + 2.0) * 2.0 * weights / (r.memory * c.memory_peak)
    shared = np.where(s.shared_ffn > 0, _mlp_seconds(tokens, s.shared_ffn / g.tp, s, forwards, r, c), 0.0)
    return np.maximum(routed, reads) + shared


def _attention_seconds(s: Shape, g: Grid, tokens: Array, r: Rates, c: Constants) -> Array:
    """Scores and weighted values: 4·s·a·d FLOPs a token forward, twice that (2.5× in a flash kernel) backward."""
    forward = 4.0 * tokens * s.context * s.score / g.tp
    backward = np.where(s.unfused > 0, 2.0, 2.5)
    again = np.where((g.recompute == FULL) | ((s.unfused > 0) & (g.recompute > NONE)), 1.0, 0.0)
    share = np.where(s.unfused > 0, c.unfused_attention_peak, c.flash_attention_peak)
    compute = (1 + again + backward) * (forward + tokens * s.scan / g.tp) / (r.peak * share)
    scores = g.micro_batch * s.heads / g.tp * s.sequence * s.sequence / g.cp
    traffic = np.where(s.unfused > 0, c.score_bytes * (0.75 + 0.25 * again) * scores / r.memory, 0.0)
    return compute + traffic


def _memory_seconds(s: Shape, g: Grid, tokens: Array, r: Rates, c: Constants) -> Array:
    """Norms, residuals, activations: bytes through HBM per element of width h (replicated) and of the MLP (split)."""
    moe_share = s.moe_layers / s.layers
    width = (1 - moe_share) * s.ffn + moe_share * (s.top_k * s.expert_ffn + s.shared_ffn)
    split = tokens * width * s.inputs / g.tp
    replicated = tokens * s.hidden * (1 + moe_share * s.top_k / 4) / g.sequence_ways
    passes = np.where(g.recompute == FULL, 1.0, 0.75)
    return passes * (c.replicated_bytes * replicated + c.split_bytes * split) / r.memory


def head_seconds(s: Shape, g: Grid, r: Rates, c: Constants) -> Array:
    """Output head and loss of the last stage, one micro-batch: never recomputed."""
    tokens = g.micro_batch * s.sequence / g.cp
    one = np.ones_like(tokens)
    return (
        linear_seconds(tokens, s.vocab / g.tp, s.hidden, one, r, c, s.trained)
        + c.logit_bytes * tokens * s.vocab / g.tp / r.memory
    )
