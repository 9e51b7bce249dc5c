"""Which layers of a config are mixtures of experts, how many experts, how wide, how many per token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scale.planner.models.model import Experts
from scale.refusal import Refusal, integer, require

Config = Mapping[str, Any]


def experts_of(config: Config, kind: str, layers: int) -> tuple[Experts | None, str | None]:
    """(experts or None, config key of the dense MLP width when the family has its own)."""
    reader = _READERS.get(kind)
    if reader is None:
        return None, None
    experts, dense_key = reader(config, layers)
    require(experts.count > 0, f"config of family {kind} names no number of experts")
    return (experts if experts.layers else None), dense_key


def _get(config: Config, keys: tuple[str, ...], default: int) -> int:
    for key in keys:
        if config.get(key) is not None:
            return integer(config[key], f"config: {key}", least=-1)
    return default


def _layers(config: Config, key: str) -> list[int]:
    """A list of layer indices, empty when absent."""
    value = config.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Refusal(f"config: {key} is {value!r}, and must be a list of layers")
    return [integer(layer, f"config: {key}") for layer in value]


def _mixtral(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_local_experts", "num_experts"), 8),
        _get(config, ("num_experts_per_tok",), 2),
        _get(config, ("intermediate_size",), 14336),
        tuple(range(layers)),
    ), None


def _phimoe(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_local_experts",), 16),
        _get(config, ("num_experts_per_tok",), 2),
        _get(config, ("intermediate_size",), 6400),
        tuple(range(layers)),
    ), None


def _qwen_layers(config: Config, layers: int) -> tuple[int, ...]:
    step, dense = _get(config, ("decoder_sparse_step",), 1), set(_layers(config, "mlp_only_layers"))
    return tuple(i for i in range(layers) if i not in dense and (i + 1) % step == 0)


def _qwen2_moe(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_experts", "num_local_experts"), 60),
        _get(config, ("num_experts_per_tok",), 4),
        _get(config, ("moe_intermediate_size",), 1408),
        _qwen_layers(config, layers),
        shared_ffn=_get(config, ("shared_expert_intermediate_size",), 5632),
        shared_gate=True,
    ), None


def _qwen3_moe(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_experts", "num_local_experts"), 128),
        _get(config, ("num_experts_per_tok",), 8),
        _get(config, ("moe_intermediate_size",), 768),
        _qwen_layers(config, layers),
    ), None


def _olmoe(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_experts", "num_local_experts"), 64),
        _get(config, ("num_experts_per_tok",), 8),
        _get(config, ("intermediate_size",), 2048),
        tuple(range(layers)),
    ), None


def _deepseek(
    count: int, top_k: int, ffn: int, shared: int, dense: int
) -> Callable[[Config, int], tuple[Experts, str | None]]:
    """DeepSeek-style experts with a family's defaults: the first layers stay dense, shared experts are one MLP."""

    def read(config: Config, layers: int) -> tuple[Experts, str | None]:
        width = _get(config, ("moe_intermediate_size",), ffn)
        first = _get(config, ("first_k_dense_replace",), dense)
        return Experts(
            _get(config, ("n_routed_experts", "num_local_experts", "num_experts"), count),
            _get(config, ("num_experts_per_tok",), top_k),
            width,
            tuple(range(first, layers)),
            shared_ffn=width * _get(config, ("n_shared_experts",), shared),
        ), None

    return read


def _gpt_oss(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_local_experts", "num_experts"), 128),
        _get(config, ("num_experts_per_tok",), 4),
        _get(config, ("intermediate_size",), 2880),
        tuple(range(layers)),
        bias=True,
        router_bias=True,
    ), None


def _minimax(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_local_experts",), 256),
        _get(config, ("num_experts_per_tok",), 8),
        _get(config, ("intermediate_size",), 1536),
        tuple(range(layers)),
    ), None


def _llama4(config: Config, layers: int) -> tuple[Experts, str | None]:
    width, step = _get(config, ("intermediate_size",), 8192), _get(config, ("interleave_moe_layer_step",), 1)
    chosen = _layers(config, "moe_layers") or range(step - 1, layers, step)
    return Experts(
        _get(config, ("num_local_experts",), 16),
        _get(config, ("num_experts_per_tok",), 1),
        width,
        tuple(chosen),
        shared_ffn=width,
    ), "intermediate_size_mlp"


def _ernie(config: Config, layers: int) -> tuple[Experts, str | None]:
    start, interval = _get(config, ("moe_layer_start_index",), 1), _get(config, ("moe_layer_interval",), 1)
    end = _get(config, ("moe_layer_end_index",), -1)
    last = layers - 1 if end == -1 else min(end, layers - 1)
    width = _get(config, ("moe_intermediate_size",), 1536)
    chosen = tuple(i for i in range(layers) if start <= i <= last and (i + 1) % interval == 0)
    return Experts(
        _get(config, ("moe_num_experts",), 64),
        _get(config, ("moe_k", "num_experts_per_tok"), 6),
        width,
        chosen,
        shared_ffn=width * _get(config, ("moe_num_shared_experts",), 2),
        router_bias=True,
    ), None


def _dbrx(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("moe_num_experts",), 4),
        _get(config, ("moe_top_k",), 1),
        _get(config, ("ffn_hidden_size",), 3584),
        tuple(range(layers)),
    ), None


def _jamba(config: Config, layers: int) -> tuple[Experts, str | None]:
    period, offset = _get(config, ("expert_layer_period",), 2), _get(config, ("expert_layer_offset",), 1)
    return Experts(
        _get(config, ("num_experts", "num_local_experts"), 16),
        _get(config, ("num_experts_per_tok",), 2),
        _get(config, ("intermediate_size",), 14336),
        tuple(i for i in range(layers) if i % period == offset),
    ), None


def _granite_hybrid(config: Config, layers: int) -> tuple[Experts, str | None]:
    """Experts beside a shared MLP in every layer; without experts that MLP is the layer's."""
    count = _get(config, ("num_local_experts",), 8)
    return Experts(
        max(count, 1),
        _get(config, ("num_experts_per_tok",), 2) or 1,
        _get(config, ("intermediate_size",), 11008),
        tuple(range(layers)) if count else (),
        shared_ffn=_get(config, ("shared_intermediate_size",), 1024),
    ), "shared_intermediate_size"


def _qwen3_next(config: Config, layers: int) -> tuple[Experts, str | None]:
    return Experts(
        _get(config, ("num_experts", "num_local_experts"), 512),
        _get(config, ("num_experts_per_tok",), 10),
        _get(config, ("moe_intermediate_size",), 512),
        _qwen_layers(config, layers),
        shared_ffn=_get(config, ("shared_expert_intermediate_size",), 512),
        shared_gate=True,
    ), None


_READERS: dict[str, Callable[[Config, int], tuple[Experts, str | None]]] = {
    "dbrx": _dbrx,
    "deepseek_v2": _deepseek(64, 6, 1407, 2, 0),
    "deepseek_v3": _deepseek(256, 8, 2048, 1, 3),
    "deepseek_v32": _deepseek(256, 8, 2048, 1, 3),
    "dots1": _deepseek(128, 6, 1408, 2, 0),
    "ernie4_5_moe": _ernie,
    "glm4_moe": _deepseek(128, 8, 1408, 1, 1),
    "gpt_oss": _gpt_oss,
    "granitemoe": _mixtral,
    "granitemoehybrid": _granite_hybrid,
    "jamba": _jamba,
    "kimi_k2": _deepseek(384, 8, 2048, 1, 1),
    "llama4_text": _llama4,
    "minimax": _mixtral,
    "minimax_m2": _minimax,
    "mixtral": _mixtral,
    "olmoe": _olmoe,
    "phimoe": _phimoe,
    "qwen2_moe": _qwen2_moe,
    "qwen3_moe": _qwen3_moe,
    "qwen3_next": _qwen3_next,
}
