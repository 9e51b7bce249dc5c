"""Layers that mix tokens by something else than plain attention: which, how many weights, how many operations a token.

State-space blocks (Gu and Dao 2023; Dao and Gu 2024), gated delta nets (Yang et al. 2024), lightning attention (Qin et
al. 2024), short convolutions, and attention that borrows another layer's keys and values. Weights are counted as
transformers 5.24 allocates them; operations of a scan are 6 per element of its state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scale.planner.models.model import Attention, Mixer
from scale.refusal import Refusal, integer

Config = Mapping[str, Any]
SCAN_FLOPS = 6.0  # decay, input and output of each element of the state, a multiplication and an addition each


def mixer_of(config: Config, kind: str, layers: int, hidden: int, attention: Attention) -> Mixer | None:
    """The family's other token mixer with the layers that use it; None for families of attention alone."""
    reader = _READERS.get(kind)
    if reader is None:
        return None
    found = reader(config, layers, hidden, attention)
    return found if found.layers else None


def get(config: Config, key: str, default: int, least: int = 1) -> int:
    """A size that may be left out."""
    value = config.get(key)
    return default if value is None else integer(value, f"config: {key}", least=least)


def _typed(config: Config, layers: int, names: tuple[str, ...], default: Callable[[int], bool]) -> tuple[int, ...]:
    """Layers whose entry in `layer_types` is one of the names; without the list, those of the family's pattern."""
    types = config.get("layer_types") or config.get("layers_block_type")
    if types is None:
        return tuple(i for i in range(layers) if default(i))
    if not isinstance(types, list) or len(types) != layers:
        raise Refusal(f"config: layer_types must be a list of {layers} names, one a layer")
    return tuple(i for i, name in enumerate(types) if name in names)


def _ssm2(
    config: Config, hidden: int, inner: int, heads: int, prefix: str, norm: bool, groups: int, state: int
) -> tuple[int, int, float]:
    """(matmul weights, other weights, scan FLOPs a token) of a Mamba-2 block."""
    kernel = get(config, f"{prefix}d_conv" if prefix else "conv_kernel", 4)
    conv = inner + 2 * groups * state
    projected = inner + conv + heads
    biases = (projected + hidden) if config.get(f"{prefix}proj_bias" if prefix else "use_bias") else 0
    conv_bias = conv if config.get(f"{prefix}conv_bias" if prefix else "use_conv_bias", True) else 0
    other = conv * kernel + conv_bias + 3 * heads + (inner if norm else 0) + biases
    return hidden * projected + inner * hidden, other, SCAN_FLOPS * inner * state + 2.0 * kernel * conv


def _mamba2(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    inner, heads = get(config, "expand", 2) * hidden, get(config, "num_heads", 128)
    sizes = _ssm2(config, hidden, inner, heads, "", True, get(config, "n_groups", 8), get(config, "state_size", 128))
    return Mixer("mamba2", tuple(range(layers)), *sizes)


def _granite(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    inner, heads = get(config, "mamba_expand", 2) * hidden, get(config, "mamba_n_heads", 128)
    groups, state = get(config, "mamba_n_groups", 1), get(config, "mamba_d_state", 256)
    mixed = _typed(config, layers, ("mamba", "linear_attention"), lambda i: True)
    return Mixer("mamba2", mixed, *_ssm2(config, hidden, inner, heads, "mamba_", True, groups, state))


def _falcon_h1(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    inner = get(config, "mamba_d_ssm", get(config, "mamba_expand", 2) * hidden)
    groups, state = get(config, "mamba_n_groups", 1), get(config, "mamba_d_state", 256)
    norm = bool(config.get("mamba_rms_norm", False))
    sizes = _ssm2(config, hidden, inner, get(config, "mamba_n_heads", 128), "mamba_", norm, groups, state)
    return Mixer("mamba2", tuple(range(layers)), *sizes, beside=True)


def _jamba(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    inner, state = get(config, "mamba_expand", 2) * hidden, get(config, "mamba_d_state", 16)
    kernel, given_rank = get(config, "mamba_d_conv", 4), config.get("mamba_dt_rank")
    rank = -(-hidden // 16) if given_rank in (None, "auto") else integer(given_rank, "config: mamba_dt_rank", least=1)
    period, offset = get(config, "attn_layer_period", 8), get(config, "attn_layer_offset", 4, least=0)
    mixed = tuple(i for i in range(layers) if i % period != offset)
    biases = (2 * inner + hidden) if config.get("mamba_proj_bias") else 0
    conv = inner * kernel + (inner if config.get("mamba_conv_bias", True) else 0)
    norms = rank + 2 * state
    matmul = hidden * 2 * inner + inner * (rank + 2 * state) + rank * inner + inner * hidden
    other = conv + inner + inner * state + inner + norms + biases
    return Mixer("mamba", mixed, matmul, other, SCAN_FLOPS * inner * state + 2.0 * kernel * inner)


def _qwen3_next(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    keys, values = get(config, "linear_num_key_heads", 16), get(config, "linear_num_value_heads", 32)
    key_dim, value_dim = get(config, "linear_key_head_dim", 128), get(config, "linear_value_head_dim", 128)
    kernel, interval = get(config, "linear_conv_kernel_dim", 4), get(config, "full_attention_interval", 4)
    key, value = keys * key_dim, values * value_dim
    matmul = hidden * (2 * key + 2 * value + 2 * values) + value * hidden
    conv = (2 * key + value) * kernel
    mixed = _typed(config, layers, ("linear_attention",), lambda i: (i + 1) % interval != 0)
    scan = SCAN_FLOPS * values * key_dim * value_dim + 2.0 * conv
    return Mixer("gated delta net", mixed, matmul, conv + 2 * values + value_dim, scan)


def _minimax(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    width, block = attention.heads * attention.head_dim, get(config, "block_size", 256)
    mixed = _typed(config, layers, ("linear_attention",), lambda i: i % 2 == 1)
    scan = 4.0 * width * attention.head_dim + 2.0 * width * block
    return Mixer("lightning attention", mixed, hidden * 3 * width + 2 * hidden * width, width, scan)


def _lfm2(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    kernel, chosen = get(config, "conv_L_cache", 3), config.get("full_attn_idxs")
    mixed = _typed(config, layers, ("conv",), lambda i: isinstance(chosen, list) and i not in chosen)
    bias = 5 * hidden if config.get("conv_bias") else 0
    return Mixer("short convolution", mixed, 4 * hidden * hidden, kernel * hidden + bias, 2.0 * kernel * hidden)


def _gemma3n(config: Config, layers: int, hidden: int, attention: Attention) -> Mixer:
    """The last layers take keys and values from an earlier one: queries and output alone, but they do attend."""
    shared = get(config, "num_kv_shared_layers", 15, least=0)
    query = attention.heads * attention.head_dim
    last = tuple(range(layers - shared, layers))
    return Mixer("shared keys and values", last, 2 * hidden * query, attention.head_dim, 0.0, attends=True)


_READERS: dict[str, Callable[[Config, int, int, Attention], Mixer]] = {
    "falcon_h1": _falcon_h1,
    "gemma3n_text": _gemma3n,
    "granitemoehybrid": _granite,
    "jamba": _jamba,
    "lfm2": _lfm2,
    "mamba2": _mamba2,
    "minimax": _minimax,
    "qwen3_next": _qwen3_next,
}
