"""The shape of a decoder-only transformer: heads, experts, what else mixes tokens, and its sizes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from scale.refusal import require

Norm = Literal["rms", "layer", "layer_no_bias", "none"]
# Sizes beyond these are slips of the pen; they bound the work of a search.
MOST_LAYERS, MOST_EXPERTS = 10_000, 100_000
NORM_VECTORS: dict[str, int] = {"rms": 1, "layer": 2, "layer_no_bias": 1, "none": 0}


@dataclass(frozen=True)
class Mla:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)."""

    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    q_lora_rank: int | None = None


@dataclass(frozen=True)
class Attention:
    """Heads of one layer. `kv_heads < heads` is grouped-query, `kv_heads == 1` multi-query attention."""

    heads: int
    kv_heads: int
    head_dim: int
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm_params: int = 0
    sinks: bool = False
    output_gate: bool = False
    mla: Mla | None = None
    window: int | None = None
    windowed_layers: int = 0

    @property
    def score_dim(self) -> float:
        """Width per head of one score-and-value product, (qk + v)/2: what 4·s·a·d in the FLOP formula calls d."""
        if self.mla:
            return (self.mla.qk_nope_head_dim + self.mla.qk_rope_head_dim + self.mla.v_head_dim) / 2
        return float(self.head_dim)


@dataclass(frozen=True)
class Experts:
    """Mixture-of-experts MLP: `count` routed experts of width `ffn`, `top_k` per token, and a shared one."""

    count: int
    top_k: int
    ffn: int
    layers: tuple[int, ...]
    shared_ffn: int = 0
    shared_gate: bool = False
    bias: bool = False
    router_bias: bool = False


@dataclass(frozen=True)
class Mixer:
    """What mixes tokens in `layers` instead of plain attention, or in parallel with it (`beside`).

    `matmul` and `other` are weights of one layer, `scan_flops` forward operations a token beside its products;
    `attends` says that scores are computed as well (attention that borrows keys and values).
    """

    name: str
    layers: tuple[int, ...]
    matmul: int
    other: int
    scan_flops: float
    attends: bool = False
    beside: bool = False


@dataclass(frozen=True)
class Architecture:
    """One decoder-only transformer. Sizes are counts of elements; `positions` is the rows of a learned table."""

    name: str
    layers: int
    hidden: int
    vocab: int
    attention: Attention
    ffn: int
    gated: bool = True
    mlp_bias: bool = False
    norm: Norm = "rms"
    norms_per_layer: int = 2
    final_norm: bool = True
    tied: bool = False
    positions: int = 0
    embed_dim: int | None = None
    embed_norm: bool = False
    head_bias: bool = False
    extra_layer_params: int = 0
    experts: Experts | None = None
    mixer: Mixer | None = None
    extra_layer_matmul: int = 0
    extra_embedding: int = 0
    extra_projection: int = 0
    family: str = "shape"
    max_sequence: int | None = None
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        sizes = {
            "layers": self.layers,
            "hidden": self.hidden,
            "vocab": self.vocab,
            "heads": self.attention.heads,
            "kv_heads": self.attention.kv_heads,
        }
        for key, size in sizes.items():
            require(size >= 1, f"model {self.name}: {key} is {size}, and must be at least 1")
        require(
            self.attention.heads % self.attention.kv_heads == 0,
            f"model {self.name}: {self.attention.heads} query heads do not divide into "
            f"{self.attention.kv_heads} key/value heads; make heads a multiple of kv_heads",
        )
        require(self.layers <= MOST_LAYERS, f"model {self.name}: {self.layers} layers are beyond {MOST_LAYERS}")
        if self.experts:
            require(
                self.experts.count <= MOST_EXPERTS,
                f"model {self.name}: {self.experts.count} experts are beyond {MOST_EXPERTS}",
            )
            require(
                0 < self.experts.top_k <= self.experts.count,
                f"model {self.name}: top_k {self.experts.top_k} of {self.experts.count} experts is impossible",
            )

    @property
    def moe_layers(self) -> int:
        return len(self.experts.layers) if self.experts else 0

    @property
    def dense_layers(self) -> int:
        return self.layers - self.moe_layers

    @property
    def attention_layers(self) -> int:
        """Layers that have the weights of plain attention."""
        return self.layers - (len(self.mixer.layers) if self.mixer and not self.mixer.beside else 0)

    @property
    def attending_layers(self) -> int:
        """Layers that compute scores."""
        return self.attention_layers + (len(self.mixer.layers) if self.mixer and self.mixer.attends else 0)

    def kinds(self) -> Counter[tuple[bool, bool]]:
        """Number of layers by (mixture of experts, other token mixer)."""
        moe = set(self.experts.layers) if self.experts else set()
        mixed = set(self.mixer.layers) if self.mixer else set()
        return Counter((i in moe, i in mixed) for i in range(self.layers))
