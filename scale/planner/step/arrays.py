"""The planner's numbers as arrays: one entry per layout (or per measured row), so a search is one evaluation.

Every field broadcasts: a scalar where all rows share it, an array of the rows' length where they differ. A search
looks at thousands of layouts, and as objects they would cost more than the arithmetic. One set of formulas serves the
search, a single plan (arrays of one row) and the fit to measured runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scale.planner.models.flops import attention_context, trained_share
from scale.planner.models.model import Architecture
from scale.planner.step.hardware import Cluster
from scale.planner.step.workload import RECOMPUTES, Layout, Train

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
NONE, SELECTIVE, FULL = (float(RECOMPUTES.index(name)) for name in ("none", "selective", "full"))


def array(value: Any) -> Array:
    """`value` as float64, so that integer powers and divisions cannot overflow or truncate."""
    return np.asarray(value, dtype=np.float64)


def total_of(table: object, names: Sequence[str]) -> Array:
    """Sum of the named fields of a table of columns, each broadcast to the longest."""
    total = array(0.0)
    for name in names:
        total = total + getattr(table, name)
    return total


@dataclass(frozen=True)
class _Columns:
    @classmethod
    def stack(cls, rows: Sequence[Self]) -> Self:
        """One object whose fields are the rows' fields, row by row."""
        return cls(**{f.name: np.array([getattr(row, f.name) for row in rows], dtype=np.float64) for f in fields(cls)})

    def take(self, chosen: Any) -> Self:
        """The rows of `chosen` (indices or mask); scalars stay scalars."""
        return type(self)(
            **{
                f.name: value if (value := array(getattr(self, f.name))).ndim == 0 else value[chosen]
                for f in fields(self)
            }
        )


@dataclass(frozen=True)
class Shape(_Columns):
    """Sizes of the model's mean layer and the run that times and bytes depend on (elements, tokens, sequences).

    `mixer` is the width of a projection with as many weights as what mixes tokens beside attention, `scan` its other
    operations a token.
    """

    layers: Array
    moe_layers: Array
    hidden: Array
    heads: Array
    query: Array
    key_value: Array
    score: Array
    mixer: Array
    scan: Array
    q_rank: Array
    kv_rank: Array
    kv_latent: Array
    kv_expanded: Array
    ffn: Array
    inputs: Array
    experts: Array
    top_k: Array
    expert_ffn: Array
    shared_ffn: Array
    vocab: Array
    tied: Array
    sequence: Array
    context: Array
    global_batch: Array
    unfused: Array
    dropout: Array
    eager_loss: Array
    trained: Array
    offloaded: Array

    @classmethod
    def of(cls, model: Architecture, train: Train) -> Shape:
        a, e = model.attention, model.experts
        m = a.mla
        query = a.heads * ((m.qk_nope_head_dim + m.qk_rope_head_dim) if m else a.head_dim)
        unfused, mixer = train.attention == "unfused", model.mixer
        held, attending = model.attention_layers / model.layers, model.attending_layers / model.layers
        mixed = len(mixer.layers) / model.layers if mixer else 0.0
        values = {
            "layers": model.layers,
            "moe_layers": model.moe_layers,
            "hidden": model.hidden,
            "heads": a.heads,
            "query": held * query,
            "key_value": held * (a.kv_heads * a.head_dim if not m else a.heads * m.v_head_dim),
            "score": attending * a.heads * a.score_dim,
            "mixer": mixed * mixer.matmul / model.hidden if mixer else 0.0,
            "scan": mixed * mixer.scan_flops if mixer else 0.0,
            "q_rank": (m.q_lora_rank or 0) if m else 0,
            "kv_rank": m.kv_lora_rank if m else 0,
            "kv_latent": m.kv_lora_rank + m.qk_rope_head_dim if m else 0,
            "kv_expanded": a.heads * (m.qk_nope_head_dim + m.v_head_dim) if m else 0,
            "ffn": model.ffn,
            "inputs": 2 if model.gated else 1,
            "experts": e.count if e else 0,
            "top_k": e.top_k if e else 0,
            "expert_ffn": e.ffn if e else 0,
            "shared_ffn": e.shared_ffn if e else 0,
            "vocab": model.vocab,
            "tied": model.tied,
            "sequence": train.sequence,
            "context": attention_context(model, train.sequence, causal=not unfused),
            "global_batch": train.global_batch,
            "unfused": unfused,
            "dropout": train.dropout or unfused,
            "eager_loss": train.loss == "eager",
            "trained": trained_share(model, train.lora_rank),
            "offloaded": train.offload == "optimizer",
        }
        return cls(**{key: array(value) for key, value in values.items()})


@dataclass(frozen=True)
class Grid(_Columns):
    """Layouts as columns. `bubble_share` is the part of 1F1B's bubble that the schedule leaves; `doubled` is 1 where a
    GPU holds two stages, one of either direction (DualPipe)."""

    tp: Array
    cp: Array
    pp: Array
    ep: Array
    dp: Array
    zero: Array
    micro_batch: Array
    interleave: Array
    micro_batches: Array
    recompute: Array
    sequence_parallel: Array
    bubble_share: Array
    doubled: Array

    @classmethod
    def of(cls, layout: Layout, train: Train) -> Grid:
        values = {
            "tp": layout.tp,
            "cp": layout.cp,
            "pp": layout.pp,
            "ep": layout.ep,
            "dp": layout.dp,
            "zero": layout.zero,
            "micro_batch": layout.micro_batch,
            "interleave": layout.interleave,
            "micro_batches": layout.micro_batches(train),
            "recompute": RECOMPUTES.index(layout.recompute),
            "sequence_parallel": layout.sequence_parallel and layout.tp > 1,
            "bubble_share": layout.bubble_share,
            "doubled": layout.schedule == "dualpipe" and layout.pp > 1,
        }
        return cls(**{key: array(value) for key, value in values.items()})

    @property
    def replicas(self) -> Array:
        """GPUs that hold the same dense weights: data times context parallelism."""
        return self.dp * self.cp

    @property
    def gpus(self) -> Array:
        return self.tp * self.cp * self.pp * self.dp

    @property
    def folded(self) -> Flags:
        """Where stages are laid down and back up again (ZBV), so that the first GPU holds both ends of the model."""
        return np.asarray((self.bubble_share <= 0) & (self.pp > 1) & (self.doubled <= 0))

    @property
    def sequence_ways(self) -> Array:
        """By how much the token dimension is split outside the tensor-parallel regions."""
        return np.where(self.sequence_parallel > 0, self.tp, 1.0)


def recomputes_matmuls(s: Shape, g: Grid) -> Flags:
    """Where "selective" recomputes every second matmul: flash attention under FSDP (torchtitan's per-op policy)."""
    fsdp = (g.zero >= 2) & (g.tp <= 1) & (g.pp <= 1)
    return np.asarray((g.recompute == SELECTIVE) & (s.unfused <= 0) & fsdp)


@dataclass(frozen=True)
class Rates(_Columns):
    """Rates of one GPU: bf16 FLOP/s and bytes/s, one direction; `fp8` and `fp4` are 1 when matmuls run in so few bits,
    `host` the link to host memory, `node` is GPUs per node, `units` the multiprocessors of a GPU."""

    peak: Array
    fp8: Array
    fp4: Array
    memory: Array
    in_node: Array
    network: Array
    node: Array
    units: Array
    host: Array

    @classmethod
    def of(cls, cluster: Cluster, precision: str = "bf16") -> Rates:
        gpu = cluster.gpu
        values = {
            "peak": gpu.bf16_tflops * 1e12,
            "fp8": precision == "fp8",
            "fp4": precision == "fp4",
            "memory": gpu.memory_gb_per_s * 1e9,
            "in_node": cluster.in_node_gb_per_s * 1e9,
            "network": cluster.network_gb_per_s * 1e9,
            "node": cluster.gpus_per_node,
            "units": gpu.multiprocessors,
            "host": cluster.host_gb_per_s * 1e9,
        }
        return cls(**{key: array(value) for key, value in values.items()})
