"""Hugging Face `config.json` → `Architecture`, by family: which biases, norms, gates and ties an architecture has.

The facts of each architecture stand in `family_table`. A `model_type` that is not listed is refused rather than
guessed, because a wrong guess is a wrong plan.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scale.planner.models.experts import experts_of
from scale.planner.models.family_table import FAMILIES, Bias, Family
from scale.planner.models.hybrids import mixer_of
from scale.planner.models.model import MOST_LAYERS, Architecture, Attention, Mla
from scale.planner.models.specials import prepared, special, text_config
from scale.refusal import Refusal, integer, require, unusable

Config = Mapping[str, Any]
MOST_SIZE = 100_000_000
# Families without grouped queries or a head width of their own: a key of that name in the config means nothing.
_MULTI_HEAD_ONLY = frozenset({"bloom", "codegen", "gpt2", "gpt_bigcode", "gpt_neo", "gpt_neox", "gptj", "mpt", "opt"})
_LATENT = frozenset({"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2"})

_ALIASES: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model", "n_embed"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "vocab": ("vocab_size",),
    "ffn": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "positions": ("max_position_embeddings", "n_positions", "max_seq_len"),
}


def read_config(path: str | Path) -> Architecture:
    """Read a Hugging Face `config.json` from disk (no network). Raises `Refusal` when it is no such file."""
    place = Path(path)
    try:
        config = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(place, "read", error, "give the path of a config.json") from None
    except ValueError as error:
        raise Refusal(f"{place}: is not JSON ({error}); give the path of a config.json") from None
    require(isinstance(config, dict), f"{place}: holds no JSON object; give the path of a config.json")
    return model_from_config(config, name=place.parent.name if place.name == "config.json" else place.stem)


def model_from_config(config: Config, name: str = "") -> Architecture:
    """Build a `Architecture` from a config mapping; refuses an unknown `model_type` or a missing size, naming it."""
    kind = config.get("model_type")
    if kind is None:
        raise Refusal('the config has no model_type, so the family is unknown; add it (for example "llama")')
    if isinstance(config.get("text_config"), Mapping) and kind not in FAMILIES:
        inner, _ = text_config(config, str(kind), FAMILIES)
        model = model_from_config(inner, name or str(kind))
        note = f"the text model alone: what else {kind} holds is not counted"
        return replace(model, notes=(*model.notes, note))
    if not isinstance(kind, str) or kind not in FAMILIES:
        text = " (its text_config is no mapping)" if "text_config" in config else ""
        raise Refusal(
            f"model_type {kind!r} is not a family this planner knows the weights of{text}; "
            f"known: {', '.join(sorted(FAMILIES))}; or give the shape by hand"
        )
    config = prepared(config, kind)
    title = str(name or config.get("model") or config.get("_name_or_path") or kind)
    return _build(config, str(kind), title)


def size(config: Config, key: str, kind: str) -> int:
    """A required size under any of its published names; refuses when it is missing or not a positive integer."""
    for alias in _ALIASES[key]:
        value = config.get(alias)
        if value is not None:
            require(
                isinstance(value, int) and not isinstance(value, bool) and value > 0,
                f"config of family {kind}: {alias} is {value!r}, and must be a positive whole number",
            )
            most = MOST_LAYERS if key == "layers" else MOST_SIZE
            require(value <= most, f"config of family {kind}: {alias} is {value}, beyond {most}")
            return int(value)
    raise Refusal(f"config of family {kind}: none of {', '.join(_ALIASES[key])} is given, so {key} is unknown")


def _build(config: Config, kind: str, name: str) -> Architecture:
    family = FAMILIES[kind]
    hidden = size(config, "hidden", kind)
    experts, ffn_key = experts_of(config, kind, size(config, "layers", kind))
    explicit_ffn = config.get(ffn_key) if ffn_key else None
    if explicit_ffn is not None:
        ffn = integer(explicit_ffn, f"config: {ffn_key}", least=1)
    elif family.no_mlp:
        ffn = 0
    elif family.four_ffn and not any(config.get(alias) for alias in _ALIASES["ffn"]):
        ffn = 4 * hidden
    else:
        ffn = size(config, "ffn", kind)
    attention = _attention(config, kind, family, hidden)
    model = Architecture(
        name=name,
        layers=size(config, "layers", kind),
        hidden=hidden,
        vocab=size(config, "vocab", kind),
        attention=attention,
        ffn=ffn,
        gated=family.gated,
        mlp_bias=_says(config, family.mlp_bias),
        norm=family.norm,
        norms_per_layer=family.norms_per_layer,
        final_norm=family.final_norm,
        tied=bool(_first(config, "tie_word_embeddings", family.tied)),
        positions=size(config, "positions", kind) if family.positions else 0,
        embed_norm=family.embed_norm,
        head_bias=_says(config, family.head_bias),
        extra_layer_params=family.extra_layer_params,
        experts=experts,
        mixer=mixer_of(config, kind, size(config, "layers", kind), hidden, attention),
        family=kind,
        max_sequence=_max_sequence(config),
    )
    return special(config, kind, model)


def _attention(config: Config, kind: str, family: Family, hidden: int) -> Attention:
    heads = size(config, "heads", kind)
    if kind in _MULTI_HEAD_ONLY:
        kv_heads, head_dim = heads, hidden // heads
        require(hidden % heads == 0, f"config of family {kind}: hidden size {hidden} is no multiple of {heads} heads")
    else:
        kv_heads = _whole(config, "num_key_value_heads", _whole(config, "num_kv_heads", family.kv_heads or heads))
        require(
            hidden % heads == 0 or bool(family.head_dim or config.get("head_dim")) or kind in _LATENT,
            f"config of family {kind}: hidden size {hidden} is no multiple of {heads} heads, and head_dim is not given",
        )
        head_dim = _whole(config, "head_dim", family.head_dim or hidden // heads)
    normed = family.qk_norm if not family.qk_norm_if or config.get(family.qk_norm_if, False) else "none"
    width = {"none": 0, "head": 2 * head_dim, "full": (heads + kv_heads) * head_dim}[normed]
    if kind == "olmoe":  # its norms span the hidden size, whatever head_dim says
        width = hidden + hidden // heads * kv_heads
    window, windowed = _window(config, kind)
    return Attention(
        heads,
        kv_heads,
        head_dim,
        _says(config, family.qkv_bias),
        _says(config, family.out_bias),
        qk_norm_params=width * (2 if kind == "phi" else 1),
        sinks=family.sinks,
        output_gate=family.output_gate,
        mla=_mla(config) if kind in _LATENT else None,
        window=window,
        windowed_layers=windowed,
    )


def _mla(config: Config) -> Mla:
    q_rank = config.get("q_lora_rank", 1536)
    return Mla(
        _whole(config, "kv_lora_rank", 512),
        _whole(config, "qk_nope_head_dim", 128),
        _whole(config, "qk_rope_head_dim", 64),
        _whole(config, "v_head_dim", 128),
        None if q_rank is None else integer(q_rank, "config: q_lora_rank"),
    )


def _whole(config: Config, key: str, default: int) -> int:
    """A size that may be left out."""
    return integer(_first(config, key, default), f"config: {key}", least=1)


# Layers out of every `pattern` that attend within the sliding window (the others attend fully).
_WINDOW_PATTERN = {"gemma2": 2, "gemma3_text": 6, "gpt_oss": 2, "cohere2": 4, "olmo3": 4, "exaone4": 4}


def _window(config: Config, kind: str) -> tuple[int | None, int]:
    """(window in tokens, number of layers that use it); (None, 0) when attention is full everywhere."""
    window = config.get("sliding_window")
    layers = size(config, "layers", kind)
    types = config.get("layer_types")
    if not isinstance(window, int) or window <= 0 or config.get("use_sliding_window") is False:
        return None, 0
    if isinstance(types, list):
        windowed = sum(1 for layer in types if layer == "sliding_attention")
    elif kind in _WINDOW_PATTERN:
        pattern = _whole(config, "sliding_window_pattern", _WINDOW_PATTERN[kind])
        windowed = layers - layers // pattern
    else:
        windowed = layers if kind in ("mistral", "mixtral", "phi3", "phimoe", "starcoder2") else 0
    return (window, windowed) if windowed else (None, 0)


def _max_sequence(config: Config) -> int | None:
    for alias in _ALIASES["positions"]:
        if isinstance(config.get(alias), int):
            return int(config[alias])
    return None


def _says(config: Config, bias: Bias) -> bool:
    if isinstance(bias, bool):
        return bias
    key, default = bias
    return bool(_first(config, key, default))


def _first(config: Config, key: str, default: Any) -> Any:
    """The config's value, or the family's default when the key is absent or null."""
    value = config.get(key)
    return default if value is None else value
