"""The switches and keys of single families: what their config says in words of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scale.planner.models.hybrids import get
from scale.planner.models.model import Architecture
from scale.refusal import Refusal, integer, require

Config = Mapping[str, Any]

TEXT_FAMILIES = {"gemma3": "gemma3_text", "gemma3n": "gemma3n_text", "llama4": "llama4_text", "mistral3": "mistral"}
"""Family of the text model of a multimodal one, where its text_config does not say."""

TEXT_DEFAULTS: dict[str, dict[str, int]] = {
    "gemma3_text": {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256},
    "gemma3n_text": {"vocab_size": 262400, "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 256},
    "llama4_text": {"vocab_size": 202048},
    "llama": {"vocab_size": 32000},
    "ministral3": {"vocab_size": 131072},
    "mistral": {"vocab_size": 32000},
    "qwen2": {"vocab_size": 151936},
    "qwen3": {"vocab_size": 151936},
    "qwen3_moe": {"vocab_size": 151936},
}
"""What a text_config leaves out when it is as in transformers' own config of the family."""


def prepared(config: Config, kind: str) -> Config:
    """The config with what the family says in words of its own under the usual keys."""
    if kind.endswith("_text"):
        config = {**TEXT_DEFAULTS.get(kind, {}), **{key: value for key, value in config.items() if value is not None}}
    reader = _KEYS.get(kind)
    return {**config, **reader(config)} if reader else config


def _dbrx_keys(config: Config) -> dict[str, Any]:
    attention, ffn = config.get("attn_config") or {}, config.get("ffn_config") or {}
    moved = {"num_key_value_heads": attention.get("kv_n_heads"), "hidden_size": config.get("d_model")}
    return {**attention, **ffn, **moved}


def _gemma3n_keys(config: Config) -> dict[str, Any]:
    """Widths stand one a layer; all published models have one for all."""
    widths = config.get("intermediate_size")
    if not isinstance(widths, list):
        return {}
    require(len(set(map(str, widths))) == 1, "config: intermediate_size differs between layers; give the shape by hand")
    return {"intermediate_size": widths[0]}


def _lfm2_keys(config: Config) -> dict[str, Any]:
    """The width that the block makes of the one it is told (Lfm2MLP): two thirds, a factor, rounded up."""
    width = get(config, "block_ff_dim", get(config, "intermediate_size", 12288))
    if config.get("block_auto_adjust_ff_dim", True):
        width = int(2 * width / 3)
        factor = config.get("block_ffn_dim_multiplier", 1.0)
        width = int(float(factor) * width) if factor is not None else width
        multiple = get(config, "block_multiple_of", 256)
        width = multiple * -(-width // multiple)
    return {
        "intermediate_size": width,
        "tie_word_embeddings": config.get("tie_embedding", config.get("tie_word_embeddings")),
    }


def _minimax_keys(config: Config) -> dict[str, Any]:
    kinds = config.get("attn_type_list")
    if not isinstance(kinds, list):
        return {}
    return {"layer_types": ["full_attention" if kind else "linear_attention" for kind in kinds]}


_KEYS: dict[str, Callable[[Config], dict[str, Any]]] = {
    "dbrx": _dbrx_keys,
    "gemma3n_text": _gemma3n_keys,
    "lfm2": _lfm2_keys,
    "minimax": _minimax_keys,
}


def text_config(config: Config, kind: str, known: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The text model's config of a multimodal one, and its family; refuses one that names no sizes."""
    text: Mapping[str, Any] = config["text_config"]
    family = str(text.get("model_type") or TEXT_FAMILIES.get(kind, ""))
    if family not in known or not any(key in text for key in ("hidden_size", "n_embd", "d_model")):
        raise Refusal(
            f"model_type {kind!r} is not a family this planner knows the weights of, and its text_config names no text "
            "model that it knows; give the text model's own config.json, or the shape by hand"
        )
    tied = {} if "tie_word_embeddings" in text else {"tie_word_embeddings": config.get("tie_word_embeddings")}
    return {**TEXT_DEFAULTS.get(family, {}), **text, **tied, "model_type": family}, family


def special(config: Config, kind: str, model: Architecture) -> Architecture:
    """The model of a family whose weights depend on switches that no other family has."""
    change = _MODELS.get(kind)
    return change(config, model) if change else model


def _opt(config: Config, model: Architecture) -> Architecture:
    final = bool(config.get("do_layer_norm_before", True)) and not config.get("_remove_final_layer_norm", False)
    affine = bool(config.get("layer_norm_elementwise_affine", True))
    # OPT's position table starts at row 2 (the fairseq padding offset), hence two more rows.
    return replace(
        model,
        positions=model.positions + 2,
        final_norm=final,
        norm="layer" if affine else "none",
        embed_dim=get(config, "word_embed_proj_dim", model.hidden),
    )


def _falcon(config: Config, model: Architecture) -> Architecture:
    new = bool(config.get("new_decoder_architecture", False))
    if new:
        kv_heads = model.attention.kv_heads
    else:
        kv_heads = 1 if config.get("multi_query", True) else model.attention.heads
    parallel_norms = get(config, "num_ln_in_parallel_attn", 2 if new else 1)
    norms = parallel_norms if config.get("parallel_attn", True) else 2
    return replace(model, norms_per_layer=norms, attention=replace(model.attention, kv_heads=kv_heads))


def _gpt_bigcode(config: Config, model: Architecture) -> Architecture:
    return replace(model, attention=replace(model.attention, kv_heads=1)) if config.get("multi_query", True) else model


def _stablelm(config: Config, model: Architecture) -> Architecture:
    return replace(model, norms_per_layer=1) if config.get("use_parallel_residual", False) else model


def _deepseek_v3(config: Config, model: Architecture) -> Architecture:
    if not config.get("num_nextn_predict_layers"):
        return model
    return replace(model, notes=("multi-token-prediction layers are not counted, as in the published total",))


def _deepseek_v32(config: Config, model: Architecture) -> Architecture:
    """The indexer beside each attention, and scores against the tokens that it chose."""
    heads, width, rank = get(config, "index_n_heads", 64), get(config, "index_head_dim", 128), config.get("q_lora_rank")
    inputs = 1536 if rank is None else integer(rank, "config: q_lora_rank", least=1)
    chosen = replace(model.attention, window=get(config, "index_topk", 2048), windowed_layers=model.layers)
    notes = (*_deepseek_v3(config, model).notes, "attention is counted against the tokens that the indexer chooses")
    return replace(
        model,
        attention=chosen,
        extra_layer_matmul=inputs * heads * width + model.hidden * (width + heads),
        extra_layer_params=2 * width,
        notes=notes,
    )


def _gemma3n(config: Config, model: Architecture) -> Architecture:
    """Alternating updates, a low-rank residual, and embeddings of each layer (the class Gemma3nTextModel)."""
    copies, rank = get(config, "altup_num_inputs", 4), get(config, "laurel_rank", 64)
    each, hidden = get(config, "hidden_size_per_layer_input", 256), model.hidden
    rows = get(config, "vocab_size_per_layer_input", 262144)
    scale = hidden if config.get("altup_correct_scale", True) else 0
    return replace(
        model,
        extra_layer_matmul=2 * rank * hidden + 2 * each * hidden + copies * hidden,
        extra_layer_params=scale + 3 * hidden + copies**2 + copies**3,
        extra_embedding=rows * model.layers * each,
        extra_projection=hidden * model.layers * each + each + 2 * (copies - 1) * hidden**2,
    )


def _mixed(config: Config, model: Architecture) -> Architecture:
    name = model.mixer.name if model.mixer else ""
    note = f"layers of {name} are planned by their weights and their scan: no table has measured them"
    return replace(model, notes=(note,)) if model.mixer else model


_MODELS: dict[str, Callable[[Config, Architecture], Architecture]] = {
    "deepseek_v3": _deepseek_v3,
    "deepseek_v32": _deepseek_v32,
    "falcon": _falcon,
    "gemma3n_text": _gemma3n,
    "gpt_bigcode": _gpt_bigcode,
    "opt": _opt,
    "stablelm": _stablelm,
    **dict.fromkeys(("falcon_h1", "granitemoehybrid", "jamba", "lfm2", "mamba2", "minimax", "qwen3_next"), _mixed),
}
