"""Seconds of communication, by the ring and all-to-all volumes of the literature over the links they cross."""

from __future__ import annotations

import numpy as np

from scale.planner.step.arrays import FULL, Array, Grid, Rates, Shape
from scale.planner.step.calibration import Constants

BYTES_16_BIT = 2.0


def link_bytes_per_second(ways: Array, inner: Array, r: Rates, c: Constants) -> Array:
    """Bandwidth per GPU of a ring over `ways` GPUs that lie `inner` apart (`inner` ranks sit between neighbours).

    A ring inside a node runs at the in-node rate. Across nodes, the min(inner, node) rings that share a node also
    share its NICs, and each may use all of the others' idle ones, never more than the in-node rate.
    """
    in_node = r.in_node * c.in_node_peak
    shared = np.minimum(inner, r.node)
    across = np.minimum(r.network * c.network_peak * r.node / shared, in_node)
    return np.where(ways * inner <= r.node, in_node, across)


def neighbour_bytes_per_second(span: Array, r: Rates, c: Constants) -> Array:
    """Point-to-point rate between GPUs `span` ranks apart: all GPUs of a node send at once."""
    return np.where(span < r.node, r.in_node * c.in_node_peak, r.network * c.network_peak)


def tensor_seconds(s: Shape, g: Grid, r: Rates, c: Constants) -> Array:
    """Tensor parallelism, per layer and micro-batch: 4 all-reduces of b·s·h (6 with full recomputation).

    Shoeybi et al. 2019; with sequence parallelism each is a reduce-scatter and an all-gather of the same volume
    (Korthikanti et al. 2022 section 4.2.2).
    """
    tokens = g.micro_batch * s.sequence / g.cp
    count = np.where(g.recompute == FULL, 6.0, 4.0)
    volume = 2.0 * (g.tp - 1) / g.tp * tokens * s.hidden * BYTES_16_BIT
    rate = link_bytes_per_second(g.tp, np.ones_like(g.tp), r, c)
    one = volume / rate + c.collective_latency
    return np.where(g.tp > 1, count * one * (1 - c.tensor_overlap), 0.0)


def context_seconds(s: Shape, g: Grid, attention_seconds: Array, r: Rates, c: Constants) -> Array:
    """Context parallelism: the ring of keys and values that the attention of one layer does not hide."""
    tokens = g.micro_batch * s.sequence / g.cp
    block = tokens * 2.0 * s.key_value / g.tp * BYTES_16_BIT
    passes = np.where(g.recompute == FULL, 4.0, 3.0)
    rate = link_bytes_per_second(g.cp, g.tp, r, c)
    ring = passes * (g.cp - 1) * (block / rate + c.collective_latency)
    return np.where(g.cp > 1, np.maximum(ring - attention_seconds, c.collective_latency * passes), 0.0)


def expert_seconds(s: Shape, g: Grid, compute_seconds: Array, r: Rates, c: Constants) -> Array:
    """Expert parallelism: dispatch and combine, forward and backward (and again when recomputed), per mean layer.

    Each moves (e-1)/e·tokens·top_k·h; ranks of tensor parallelism send their share of the tokens. `expert_overlap`
    is the part of the layer's computation that may hide it.
    """
    tokens = g.micro_batch * s.sequence / g.cp / g.tp
    count = np.where(g.recompute == FULL, 6.0, 4.0) * s.moe_layers / s.layers
    volume = (g.ep - 1) / g.ep * tokens * s.top_k * s.hidden * BYTES_16_BIT
    span = g.tp * g.cp
    inside = np.minimum(g.ep, np.maximum(1.0, r.node / span)) / g.ep
    network = volume * (1 - inside) / (r.network * c.network_peak)
    total = count * (network + volume * inside / (r.in_node * c.in_node_peak) + c.collective_latency)
    # DualPipe runs the exchanges of one direction beside the computation of the other.
    overlap = np.where(g.doubled > 0, 1.0, c.expert_overlap)
    return np.where(g.ep > 1, np.maximum(total - overlap * compute_seconds, 0.1 * total), 0.0)


def boundary_seconds(s: Shape, g: Grid, r: Rates, c: Constants) -> Array:
    """One transfer of activations between stages, each tensor-parallel rank sending its part (scatter-gather,
    Narayanan et al. 2021 section 4.1)."""
    tokens = g.micro_batch * s.sequence / g.cp
    rate = neighbour_bytes_per_second(g.tp * g.cp * g.dp, r, c)
    return np.where(g.pp > 1, tokens * s.hidden * BYTES_16_BIT / g.tp / rate + c.collective_latency, 0.0)


def gradient_seconds(g: Grid, dense: Array, experts: Array, gradient_bytes: Array, r: Rates, c: Constants) -> Array:
    """Data-parallel traffic of one step on one GPU, before any overlap.

    ZeRO 0: all-reduce of gradients; 1 and 2: reduce-scatter of gradients and all-gather of 16-bit weights; 3: the
    weights are gathered forward and backward and the gradients reduced in every micro-batch (Rajbhandari et al.
    2020 section 7), unless stages keep them (pp > 1), as current pipelines do.
    """
    m = np.where(g.pp > 1, 1.0, g.micro_batches)
    gathers = np.select([g.zero >= 3, g.zero == 2, g.zero == 1], [2.0 * m, m, np.ones_like(m)], 0.0)
    reduces = np.select([g.zero >= 2, g.zero == 1], [m, np.ones_like(m)], 2.0)
    per_parameter = gathers * BYTES_16_BIT + reduces * gradient_bytes
    total = np.zeros_like(per_parameter + dense)
    for parameters, ways, inner in ((dense, g.replicas, g.tp), (experts, g.replicas / g.ep, g.tp * g.ep)):
        rate = link_bytes_per_second(ways, inner, r, c)
        total = total + np.where(ways > 1, (ways - 1) / ways * parameters * per_parameter / rate, 0.0)
    return total
