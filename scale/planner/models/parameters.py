"""Exact parameters of a model, part by part.

Weights are counted as the published implementations allocate them: biases, norm vectors, router weights and
attention sinks included, tied embeddings once, buffers (rotary tables, router load-balancing biases) not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from scale.planner.models.model import NORM_VECTORS, Architecture, Attention, Mla


@dataclass(frozen=True)
class LayerParameters:
    """Parameters of one layer. `experts` is all routed experts together; the rest is met by every token."""

    attention_matmul: int
    attention_other: int
    mlp_matmul: int
    mlp_other: int
    norms: int
    router: int = 0
    experts: int = 0
    active_experts: int = 0

    @property
    def total(self) -> int:
        return self.dense + self.experts

    @property
    def dense(self) -> int:
        """Parameters outside the routed experts (replicated over expert parallelism)."""
        return (
            self.attention_matmul + self.attention_other + self.mlp_matmul + self.mlp_other + self.norms + self.router
        )

    @property
    def active_matmul(self) -> int:
        """Weights a token is multiplied with: attention, MLP or its top-k experts, router."""
        return self.attention_matmul + self.mlp_matmul + self.active_experts + self.router


def attention_parameters(model: Architecture) -> tuple[int, int]:
    """(matmul weights, other: biases, query/key norms, sinks) of one attention block."""
    a, h = model.attention, model.hidden
    sinks = a.heads if a.sinks else 0
    if a.mla:
        return _mla_parameters(h, a, a.mla)
    q, kv = a.heads * a.head_dim, a.kv_heads * a.head_dim
    bias = (q + 2 * kv if a.qkv_bias else 0) + (h if a.out_bias else 0)
    gate = h * q if a.output_gate else 0
    return h * q + 2 * h * kv + q * h + gate, bias + a.qk_norm_params + sinks


def _mla_parameters(h: int, a: Attention, m: Mla) -> tuple[int, int]:
    """MLA: low-rank down- and up-projections with an RMS norm on each latent (DeepSeek-V2 equations 9 to 19)."""
    qk = m.qk_nope_head_dim + m.qk_rope_head_dim
    latent = m.kv_lora_rank + m.qk_rope_head_dim
    matmul = h * latent + m.kv_lora_rank * a.heads * (m.qk_nope_head_dim + m.v_head_dim) + a.heads * m.v_head_dim * h
    other = m.kv_lora_rank
    if m.q_lora_rank:
        matmul += h * m.q_lora_rank + m.q_lora_rank * a.heads * qk
        other += m.q_lora_rank
        bias = m.q_lora_rank if a.qkv_bias else 0
    else:
        matmul += h * a.heads * qk
        bias = 0
    bias += (latent if a.qkv_bias else 0) + (h if a.out_bias else 0)
    return matmul, other + bias


def mlp_parameters(hidden: int, ffn: int, gated: bool, bias: bool) -> tuple[int, int]:
    """(matmul weights, biases) of an MLP: 2·h·f, or 3·h·f when gated (SwiGLU, Shazeer 2020)."""
    matrices = 3 if gated else 2
    return matrices * hidden * ffn, ((matrices - 1) * ffn + hidden) if bias else 0


def mixing_parameters(model: Architecture, mixed: bool) -> tuple[int, int]:
    """(matmul weights, other) of what mixes tokens in one layer: attention, the model's other mixer, or both."""
    mixer = model.mixer
    if not mixed or mixer is None:
        return attention_parameters(model)
    beside = attention_parameters(model) if mixer.beside else (0, 0)
    return mixer.matmul + beside[0], mixer.other + beside[1]


def layer_parameters(model: Architecture, moe: bool, mixed: bool = False) -> LayerParameters:
    """Exact parameters of one dense or one mixture-of-experts layer, `mixed` where its tokens mix otherwise."""
    attention_matmul, attention_other = mixing_parameters(model, mixed)
    norms = model.norms_per_layer * NORM_VECTORS[model.norm] * model.hidden + model.extra_layer_params
    if not moe or model.experts is None:
        matmul, bias = mlp_parameters(model.hidden, model.ffn, model.gated, model.mlp_bias)
        matmul += model.extra_layer_matmul
        return LayerParameters(attention_matmul, attention_other, matmul, bias, norms)
    e = model.experts
    one, one_bias = mlp_parameters(model.hidden, e.ffn, model.gated, e.bias)
    shared, shared_bias = (
        mlp_parameters(model.hidden, e.shared_ffn, model.gated, model.mlp_bias) if e.shared_ffn else (0, 0)
    )
    gate = model.hidden if e.shared_gate else 0
    return LayerParameters(
        attention_matmul,
        attention_other,
        shared + gate + model.extra_layer_matmul,
        shared_bias,
        norms,
        router=e.count * model.hidden + (e.count if e.router_bias else 0),
        experts=e.count * (one + one_bias),
        active_experts=e.top_k * one,
    )


@dataclass(frozen=True)
class ParameterCount:
    """Parameters by part, in elements. `head` is 0 when the output matrix is the tied embedding."""

    embedding: int
    positions: int
    attention: int
    mlp: int
    experts: int
    router: int
    norms: int
    head: int
    active: int
    active_matmul: int

    @property
    def total(self) -> int:
        return (
            self.embedding
            + self.positions
            + self.attention
            + self.mlp
            + self.experts
            + self.router
            + self.norms
            + self.head
        )

    @property
    def embedding_share(self) -> float:
        """Share of all parameters in the token embedding and the output head, as a fraction."""
        return (self.embedding + self.head) / self.total


def count_parameters(model: Architecture) -> ParameterCount:
    """Exact parameters of the whole model.

    `active` leaves out the experts a token does not visit; `active_matmul` are the weights that cost FLOPs:
    the output head is in, the embedding lookup is not (Kaplan 2020 section 2.1 and PaLM appendix B).
    """
    embed = model.embed_dim or model.hidden
    head_matmul = model.vocab * embed
    projections = (2 * model.hidden * embed if embed != model.hidden else 0) + model.extra_projection
    attention = mlp = experts = router = norms = active_matmul = idle = 0
    for (moe, mixed), count in model.kinds().items():
        layer = layer_parameters(model, moe, mixed)
        attention += count * (layer.attention_matmul + layer.attention_other)
        mlp += count * (layer.mlp_matmul + layer.mlp_other)
        experts, router = experts + count * layer.experts, router + count * layer.router
        norms += count * layer.norms
        active_matmul += count * layer.active_matmul
        if moe and model.experts:
            idle += count * layer.experts * (model.experts.count - model.experts.top_k) // model.experts.count
    norms += NORM_VECTORS[model.norm] * ((model.hidden if model.final_norm else 0) + (embed if model.embed_norm else 0))
    embedding = model.vocab * embed + projections + model.extra_embedding
    head = (0 if model.tied else head_matmul) + (model.vocab if model.head_bias else 0)
    positions = model.positions * model.hidden
    total = embedding + positions + attention + mlp + experts + router + norms + head
    return ParameterCount(
        embedding,
        positions,
        attention,
        mlp,
        experts,
        router,
        norms,
        head,
        active=total - idle,
        active_matmul=active_matmul + head_matmul + projections,
    )
