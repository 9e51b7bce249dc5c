"""What the weights of each known architecture look like, where its config does not say: facts, one entry a family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from scale.planner.models.model import Norm

# A bias is there always, never, or when the config key of that name is true (with the family's default).
Bias = bool | tuple[str, bool]


@dataclass(frozen=True)
class Family:
    """What the weights of a family look like when its config does not say otherwise."""

    gated: bool = True
    norm: Norm = "rms"
    norms_per_layer: int = 2
    final_norm: bool = True
    tied: bool = False
    qkv_bias: Bias = False
    out_bias: Bias = False
    mlp_bias: Bias = False
    qk_norm: Literal["none", "head", "full"] = "none"
    qk_norm_if: str = ""
    positions: bool = False
    embed_norm: bool = False
    head_bias: Bias = False
    extra_layer_params: int = 0
    head_dim: int | None = None
    kv_heads: int | None = None
    sinks: bool = False
    output_gate: bool = False
    four_ffn: bool = False
    no_mlp: bool = False


_BIASED = Family(gated=False, norm="layer", qkv_bias=True, out_bias=True, mlp_bias=True)
_ATTENTION_BIAS: tuple[str, bool] = ("attention_bias", False)
_LLAMA = Family(qkv_bias=_ATTENTION_BIAS, out_bias=_ATTENTION_BIAS, mlp_bias=("mlp_bias", False))
_QWEN2 = Family(qkv_bias=("qkv_bias", True), kv_heads=32)
_QWEN3 = replace(_LLAMA, mlp_bias=False, qk_norm="head", head_dim=128, kv_heads=32)
_GEMMA = replace(_LLAMA, mlp_bias=False, tied=True, head_dim=256, kv_heads=16)
_COHERE = Family(norm="layer_no_bias", norms_per_layer=1, tied=True, qkv_bias=_ATTENTION_BIAS, out_bias=_ATTENTION_BIAS)
_GPT2 = replace(_BIASED, tied=True, positions=True, four_ffn=True)
_GPTJ = Family(gated=False, norm="layer", norms_per_layer=1, mlp_bias=True, head_bias=True, four_ffn=True)
_GLM4 = replace(
    _LLAMA,
    norms_per_layer=4,
    qkv_bias=("attention_bias", True),
    out_bias=False,
    mlp_bias=False,
    head_dim=128,
    kv_heads=2,
)

FAMILIES: dict[str, Family] = {
    "apertus": replace(_LLAMA, gated=False, mlp_bias=False, qk_norm="head", extra_layer_params=2),
    "arcee": replace(_LLAMA, gated=False),
    "bloom": replace(_BIASED, tied=True, embed_norm=True, four_ffn=True),
    "codegen": _GPTJ,
    "cohere": replace(_COHERE, qk_norm="full", qk_norm_if="use_qk_norm"),
    "cohere2": _COHERE,
    "dbrx": Family(norm="layer_no_bias"),
    "deepseek_v2": replace(_LLAMA, mlp_bias=("mlp_bias", False)),
    "deepseek_v3": replace(_LLAMA, mlp_bias=False),
    "deepseek_v32": replace(_LLAMA, mlp_bias=False),
    "dots1": replace(_LLAMA, mlp_bias=False, qk_norm="head", kv_heads=32),
    "ernie4_5": Family(
        tied=True,
        qkv_bias=("use_bias", False),
        out_bias=("use_bias", False),
        mlp_bias=("use_bias", False),
        head_dim=128,
        kv_heads=2,
    ),
    "ernie4_5_moe": Family(
        tied=True,
        qkv_bias=("use_bias", False),
        out_bias=("use_bias", False),
        mlp_bias=("use_bias", False),
        head_bias=("use_bias", False),
        kv_heads=4,
    ),
    "exaone4": Family(qk_norm="head", kv_heads=32),
    "falcon_h1": replace(_LLAMA, kv_heads=8),
    "falcon": Family(
        gated=False,
        norm="layer",
        tied=True,
        qkv_bias=("bias", False),
        out_bias=("bias", False),
        mlp_bias=("bias", False),
        four_ffn=True,
    ),
    "gemma": _GEMMA,
    "gemma2": replace(_GEMMA, norms_per_layer=4, kv_heads=4),
    "gemma3_text": replace(_GEMMA, norms_per_layer=4, qk_norm="head", kv_heads=4),
    "gemma3n_text": replace(_GEMMA, norms_per_layer=4, qk_norm="head", kv_heads=2),
    "glm": replace(_GLM4, norms_per_layer=2),
    "glm4": _GLM4,
    "glm4_moe": replace(_LLAMA, mlp_bias=False, out_bias=False, qk_norm="head", qk_norm_if="use_qk_norm"),
    "gpt2": _GPT2,
    "gpt_bigcode": _GPT2,
    "gpt_neo": replace(_GPT2, qkv_bias=False),
    "gpt_neox": Family(
        gated=False, norm="layer", qkv_bias=("attention_bias", True), out_bias=("attention_bias", True), mlp_bias=True
    ),
    "gpt_oss": Family(
        qkv_bias=("attention_bias", True), out_bias=("attention_bias", True), head_dim=64, kv_heads=8, sinks=True
    ),
    "gptj": _GPTJ,
    "granite": _LLAMA,
    "granitemoe": replace(_LLAMA, mlp_bias=False),
    "granitemoehybrid": replace(_LLAMA, mlp_bias=False),
    "hunyuan_v1_dense": replace(_LLAMA, mlp_bias=False, qk_norm="head"),
    "jamba": Family(kv_heads=8),
    "kimi_k2": replace(_LLAMA, mlp_bias=False),
    "lfm2": Family(tied=True, qk_norm="head", kv_heads=8),
    "llama": _LLAMA,
    "llama4_text": replace(_LLAMA, mlp_bias=False, head_dim=128, kv_heads=8),
    "mamba2": Family(norms_per_layer=1, no_mlp=True),
    "minimax": Family(kv_heads=8),
    "minimax_m2": Family(qk_norm="full", head_dim=128, kv_heads=8),
    "ministral3": Family(kv_heads=8, head_dim=128),
    "mistral": Family(kv_heads=8),
    "mixtral": Family(kv_heads=8),
    "mpt": Family(gated=False, norm="layer_no_bias", tied=True, four_ffn=True),
    "nemotron": replace(_LLAMA, gated=False, norm="layer"),
    "olmo": replace(_LLAMA, mlp_bias=False, norm="none"),
    "olmo2": replace(_LLAMA, mlp_bias=False, qk_norm="full"),
    "olmo3": replace(_LLAMA, mlp_bias=False, qk_norm="full"),
    "olmoe": replace(_LLAMA, mlp_bias=False, qk_norm="full"),
    "opt": Family(
        gated=False,
        norm="layer",
        tied=True,
        positions=True,
        qkv_bias=("enable_bias", True),
        out_bias=("enable_bias", True),
        mlp_bias=("enable_bias", True),
    ),
    "phi": replace(_BIASED, norms_per_layer=1, head_bias=True, qk_norm="head", qk_norm_if="qk_layernorm"),
    "phi3": Family(),
    "phimoe": Family(
        norm="layer", qkv_bias=_ATTENTION_BIAS, out_bias=_ATTENTION_BIAS, head_bias=("lm_head_bias", False), kv_heads=8
    ),
    "qwen2": replace(_QWEN2, qkv_bias=True),
    "qwen2_moe": replace(_QWEN2, kv_heads=16),
    "qwen3": _QWEN3,
    "qwen3_next": Family(
        qkv_bias=_ATTENTION_BIAS, out_bias=_ATTENTION_BIAS, qk_norm="head", head_dim=256, kv_heads=2, output_gate=True
    ),
    "qwen3_moe": replace(_QWEN3, head_dim=None, kv_heads=4),
    "seed_oss": replace(
        _LLAMA, qkv_bias=("attention_bias", True), out_bias=("attention_out_bias", False), head_dim=128
    ),
    "smollm3": replace(_LLAMA, kv_heads=4, tied=True),
    "stablelm": Family(
        norm="layer", kv_heads=32, qkv_bias=("use_qkv_bias", False), qk_norm="full", qk_norm_if="qk_layernorm"
    ),
    "starcoder2": Family(
        gated=False,
        norm="layer",
        tied=True,
        qkv_bias=("use_bias", True),
        out_bias=("use_bias", True),
        mlp_bias=("use_bias", True),
        kv_heads=2,
    ),
}
