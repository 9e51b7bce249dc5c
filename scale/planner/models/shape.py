"""A model from a shape written by hand, where no config.json exists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scale.planner.models.model import MOST_LAYERS, Architecture, Attention, Experts, Mla
from scale.refusal import Refusal, flag, integer, require

KEYS = (
    "name",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn",
    "gated",
    "vocab",
    "tied",
    "experts",
    "top_k",
    "shared",
    "moe_ffn",
    "dense_first",
    "mla",
    "bias",
    "norm",
    "positions",
    "qk_norm",
    "max_sequence",
)
MLA_KEYS = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "q_lora_rank")


def model_from_shape(shape: Mapping[str, Any]) -> Architecture:
    """Build a `Architecture` from a mapping with `layers`, `hidden`, `heads` and the optional `KEYS`.

    Defaults are a Llama: kv_heads = heads, head_dim = hidden/heads, gated MLP of width 8/3·hidden rounded up to a
    multiple of 256, vocabulary 128,256, untied, RMS norms, no biases. `shared` is a number of shared experts of
    width `moe_ffn`, `dense_first` the dense layers before the first mixture of experts.
    """
    sizes = _sizes(shape)
    require(sizes["layers"] <= MOST_LAYERS, f"model.layers: {sizes['layers']} is beyond {MOST_LAYERS}")
    hidden, layers = sizes["hidden"], sizes["layers"]
    says = {key: flag(shape.get(key, key == "gated"), f"model.{key}") for key in ("bias", "gated", "tied", "qk_norm")}
    norm = str(shape.get("norm", "rms"))
    if norm not in ("rms", "layer", "none"):
        raise Refusal(f"model.norm: {norm!r} is unknown; known: rms, layer, none")
    attention = _attention(sizes, says["bias"], says["qk_norm"], _mla(shape.get("mla")))
    ffn = sizes.get("ffn") or -(-(8 * hidden // 3) // 256) * 256
    return Architecture(
        str(shape.get("name", f"{layers}x{hidden}")),
        layers,
        hidden,
        sizes.get("vocab", 128256),
        attention,
        ffn,
        gated=says["gated"],
        mlp_bias=says["bias"],
        norm=norm,  # type: ignore[arg-type]
        tied=says["tied"],
        positions=sizes.get("positions", 0),
        experts=_experts(sizes, layers, ffn),
        max_sequence=sizes.get("max_sequence"),
    )


def _attention(sizes: Mapping[str, int], bias: bool, qk_norm: bool, mla: Mla | None) -> Attention:
    hidden, heads = sizes["hidden"], sizes["heads"]
    require(
        "head_dim" in sizes or mla is not None or hidden % heads == 0,
        f"model.heads: {hidden} hidden elements do not divide into {heads} heads; give head_dim",
    )
    head_dim = sizes.get("head_dim") or max(hidden // heads, 1)
    kv_heads, norms = sizes.get("kv_heads", heads), 2 * head_dim if qk_norm else 0
    return Attention(heads, kv_heads, head_dim, bias, bias, qk_norm_params=norms, mla=mla)


def _sizes(shape: Mapping[str, Any]) -> dict[str, int]:
    """All sizes of the shape, checked; refuses unknown and missing keys."""
    for key in shape:
        require(key in KEYS, f"model.{key}: unknown key; known: config, {', '.join(KEYS)}")
    for key in ("layers", "hidden", "heads"):
        require(key in shape, f"model: the shape needs {key}")
    return {key: _whole(shape, key) for key in KEYS if key in shape and _is_size(key)}


def _is_size(key: str) -> bool:
    return key not in ("name", "gated", "tied", "mla", "bias", "norm", "qk_norm")


def _whole(shape: Mapping[str, Any], key: str) -> int:
    least = 0 if key in ("shared", "dense_first", "positions") else 1
    return integer(shape[key], f"model.{key}", least)


def _experts(sizes: Mapping[str, int], layers: int, ffn: int) -> Experts | None:
    if "experts" not in sizes:
        unused = [key for key in ("top_k", "shared", "moe_ffn", "dense_first") if key in sizes]
        require(not unused, f"model.{unused[0] if unused else ''}: means nothing without `experts`")
        return None
    width = sizes.get("moe_ffn", ffn)
    first = sizes.get("dense_first", 0)
    require(first < layers, f"model.dense_first: {first} leaves no layer of {layers} for the experts")
    return Experts(
        sizes["experts"],
        sizes.get("top_k", 2),
        width,
        tuple(range(first, layers)),
        shared_ffn=width * sizes.get("shared", 0),
    )


def _mla(value: Any) -> Mla | None:
    if not value:
        return None
    require(
        isinstance(value, Mapping) and set(value) <= set(MLA_KEYS),
        f"model.mla: give the ranks and widths {', '.join(MLA_KEYS)}",
    )
    for key in MLA_KEYS[:4]:
        require(key in value, f"model.mla: needs {key}, a whole number")
    sizes = {key: size for key, size in value.items() if key != "q_lora_rank" or size is not None}
    return Mla(**{key: integer(size, f"model.mla.{key}", least=1) for key, size in sizes.items()})
