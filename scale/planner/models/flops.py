"""FLOPs of one token, exactly: 2 per weight met, plus attention; and the two utilisations they define."""

from __future__ import annotations

from dataclasses import dataclass

from scale.planner.models.model import Architecture
from scale.planner.models.parameters import count_parameters


@dataclass(frozen=True)
class TokenFlops:
    """FLOPs per token, forward and backward (3 × forward), by three ways of counting.

    `six_n` is 6·(active parameters); `full_attention` counts every query against the whole sequence (Narayanan et
    al. 2021 eq 3, PaLM appendix B), `causal_attention` only against what it may see. The lookup of the input
    embedding costs nothing, the output head does.
    """

    six_n: float
    full_attention: float
    causal_attention: float
    forward: float
    attention_forward_full: float


def attention_context(model: Architecture, sequence: int, causal: bool) -> float:
    """Mean number of keys a query is multiplied with, over the layers that attend: s (full) or about s/2 (causal), less
    in a window."""
    a = model.attention
    if not model.attending_layers:
        return 0.0
    full = sequence / 2 if causal else float(sequence)
    if not a.window or not a.windowed_layers:
        return full
    window = min(float(a.window), float(sequence))
    # Query i may see min(i, w) keys when attention is causal: w - w²/2s in the mean.
    narrow = window * (1 - window / (2 * sequence)) if causal else window
    windowed = min(a.windowed_layers, model.attending_layers)
    return (windowed * narrow + (model.attending_layers - windowed) * full) / model.attending_layers


def token_flops(model: Architecture, sequence: int) -> TokenFlops:
    """FLOPs per token of training `model` on sequences of `sequence` tokens (recomputation not included)."""
    counts = count_parameters(model)
    scans = len(model.mixer.layers) * model.mixer.scan_flops if model.mixer else 0.0
    matmul = 2.0 * counts.active_matmul + scans
    per_key = 4.0 * model.attending_layers * model.attention.heads * model.attention.score_dim
    full = per_key * attention_context(model, sequence, causal=False)
    causal = per_key * attention_context(model, sequence, causal=True)
    return TokenFlops(6.0 * counts.active, 3 * (matmul + full), 3 * (matmul + causal), matmul + full, full)


def adapter_parameters(model: Architecture, rank: int) -> int:
    """Parameters of adapters of that rank beside every linear layer: r·(inputs + outputs) each (Hu et al. 2021).

    Experts have one each; 0 for rank 0.
    """
    a, h = model.attention, model.hidden
    query, key_value = a.heads * a.head_dim, a.kv_heads * a.head_dim
    attention = 2 * (h + query) + 2 * (h + key_value)
    matrices = 3 if model.gated else 2
    dense = model.dense_layers * matrices * (h + model.ffn)
    experts = model.experts
    routed = len(experts.layers) * (experts.count * matrices * (h + experts.ffn)) if experts else 0
    return rank * (model.layers * attention + dense + routed)


def trained_share(model: Architecture, rank: int) -> float:
    """Share of the parameters that is trained: 1, or that of the adapters where there are any."""
    return adapter_parameters(model, rank) / count_parameters(model).total if rank else 1.0


def utilisation(tokens_per_second: float, flops_per_token: float, gpus: int, peak_tflops: float) -> float:
    """Share of the dense peak, as a fraction: tokens/s · FLOPs/token / (GPUs · peak).

    Model FLOPs give MFU (Chowdhery et al. 2022 appendix B); FLOPs with the recomputed ones give HFU.
    """
    return tokens_per_second * flops_per_token / (gpus * peak_tflops * 1e12)


def megatron_parameters(layers: int, hidden: int, vocab: int, sequence: int) -> float:
    """Parameters by Narayanan et al. 2021 eq 2: 12·l·h²·(1 + 13/(12h) + (V+s)/(12·l·h))."""
    return 12.0 * layers * hidden**2 * (1 + 13 / (12 * hidden) + (vocab + sequence) / (12 * layers * hidden))


def megatron_flops(batch: int, sequence: int, layers: int, hidden: int, vocab: int) -> float:
    """FLOPs per iteration with full recomputation, Narayanan et al. 2021 eq 3: 96·B·s·l·h²·(1 + s/6h + V/16lh)."""
    return 96.0 * batch * sequence * layers * hidden**2 * (1 + sequence / (6 * hidden) + vocab / (16 * layers * hidden))


def training_days(tokens: float, parameters: float, gpus: int, achieved_tflops: float) -> float:
    """Days of training with full recomputation, Narayanan et al. 2021 eq 4: 8·T·P/(n·X)."""
    return 8.0 * tokens * parameters / (gpus * achieved_tflops * 1e12) / 86400


def training_days_exact(
    tokens: float, layers: int, hidden: int, vocab: int, sequence: int, gpus: int, achieved_tflops: float
) -> float:
    """Days of training with full recomputation by the FLOPs of equation 3, where attention and head count."""
    flops = megatron_flops(1, sequence, layers, hidden, vocab) / sequence * tokens
    return flops / (gpus * achieved_tflops * 1e12) / 86400


def palm_mfu(
    tokens_per_second: float,
    parameters: float,
    layers: int,
    heads: int,
    head_dim: int,
    sequence: int,
    chips: int,
    peak_tflops: float,
) -> float:
    """MFU by PaLM appendix B, a fraction: R·(6N + 12·L·H·Q·T)/(chips·peak), full attention, no recomputation."""
    per_token = 6.0 * parameters + 12.0 * layers * heads * head_dim * sequence
    return utilisation(tokens_per_second, per_token, chips, peak_tflops)
