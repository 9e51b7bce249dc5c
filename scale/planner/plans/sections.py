"""Sections of a plan: model card, window of the pipeline, memory, data, and what published runs reached."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scale.budget import LAWS, advise, disagreement
from scale.pipeline import bubble_fraction, pipeline_schedule, zero_bubble_fraction
from scale.planner.models.flops import token_flops
from scale.planner.models.model import Architecture
from scale.planner.models.parameters import count_parameters
from scale.planner.plans.data import DataPlan
from scale.planner.plans.published import BESIDE_STEP, Reached
from scale.planner.step.estimate import MemoryEstimate
from scale.planner.step.workload import Layout, Train

GIB, GB = 2.0**30, 1e9


def model_card(model: Architecture, train: Train) -> dict[str, Any]:
    """Parameters, FLOPs, tokens per parameter, and what Chinchilla's rules say of this budget."""
    counts, flops = count_parameters(model), token_flops(model, train.sequence)
    parts = {key: value for key, value in asdict(counts).items() if key not in ("active", "active_matmul")}
    spent = flops.six_n * train.tokens
    rules = advise(spent)
    return {
        "name": model.name,
        "family": model.family,
        "total_params": counts.total,
        "active_params": counts.active,
        "active_matmul_params": counts.active_matmul,
        "parts": parts,
        "embedding_share": counts.embedding_share,
        "flops_per_token": {
            "six_n": flops.six_n,
            "full_attention": flops.full_attention,
            "causal_attention": flops.causal_attention,
        },
        "tokens": train.tokens,
        "tokens_per_parameter": train.tokens / counts.active,
        "training_flops": {
            "six_n": spent,
            "full_attention": flops.full_attention * train.tokens,
            "causal_attention": flops.causal_attention * train.tokens,
        },
        "predicted_loss": {law.name: law.loss(counts.active, train.tokens) for law in LAWS},
        "compute_optimal": [
            {
                "rule": r.rule,
                "parameters": r.parameters,
                "tokens": r.tokens,
                "tokens_per_parameter": r.ratio,
                "loss": r.loss,
            }
            for r in rules
        ],
        "compute_optimal_disagreement": disagreement(rules),
    }


SHOWN_STAGES, SHOWN_MICRO_BATCHES = 8, 8
ALTERNATIVES = ("ZB1P", "ZBV", "V-Half")


def pipeline_section(layout: Layout, train: Train) -> dict[str, Any] | None:
    """Grid under 1F1B of a pipeline of at most 8 stages and 8 micro-batches, and the bubble (a fraction of the total)
    of the chosen depth by 1F1B and the zero-bubble schedules (Qi et al. 2024); None without a pipeline."""
    if layout.pp == 1:
        return None
    m = layout.micro_batches(train)
    stages, shown = min(layout.pp, SHOWN_STAGES), min(m, SHOWN_MICRO_BATCHES)
    bubbles = {name: zero_bubble_fraction(layout.pp, m, name) for name in ALTERNATIVES}
    return {
        "stages": layout.pp,
        "micro_batches": m,
        "grid_stages": stages,
        "grid_micro_batches": shown,
        "grid": pipeline_schedule(stages, shown, "1f1b").tolist(),
        "bubble_fraction_by_schedule": {"1F1B": bubble_fraction(layout.pp, m), **bubbles},
    }


def with_band(value: float, band: float) -> dict[str, float]:
    """A number with the range its measured error leaves."""
    return {"value": value, "low": value * (1 - band), "high": value * (1 + band), "band": band}


def memory_section(memory: MemoryEstimate) -> dict[str, Any]:
    """Bytes per part and stage; the fullest stage in GiB (2^30) and GB (10^9) with the margin left."""
    worst = memory.worst_bytes
    return {
        "stages_bytes": memory.stages,
        "worst_stage": memory.worst,
        "worst_gib": with_band(worst / GIB, memory.band),
        "worst_gb": worst / GB,
        "limit_gib": memory.limit / GIB,
        "limit_gb": memory.limit / GB,
        "verdict": memory.verdict,
        "least_gib": memory.least / GIB,
        "margin_gib": (memory.limit - worst) / GIB,
    }


def data_section(data: DataPlan, tokens: float) -> dict[str, Any]:
    """Epochs and warnings, and the models this data suits."""
    sources = {
        s.name: {
            "tokens": s.tokens,
            "weight": s.weight,
            "epochs": data.epochs[s.name],
            "documents": (data.documents or {}).get(s.name),
        }
        for s in data.sources
    }
    return {
        "training_tokens": tokens,
        "unique_tokens": data.unique_tokens,
        "sources": sources,
        "chinchilla_parameters": data.chinchilla_parameters,
        "chinchilla_parameters_four_epochs": data.chinchilla_parameters_four_epochs,
        "warnings": list(data.warnings),
    }


def published_section(known: Reached) -> dict[str, Any]:
    """What published runs reach of the tuned figure, and by which of them."""
    return {
        "factor": known.factor * BESIDE_STEP,
        "factor_low": known.low * BESIDE_STEP,
        "factor_high": known.high * BESIDE_STEP,
        "beside_step": BESIDE_STEP,
        "mfu_full_attention": known.mfu,
        "runs": known.runs,
        "card_seen": known.seen,
        "nearest": [
            {"run": r.name, "gpu": r.die, "gpus": r.gpus, "active_params": r.active, "mfu": r.mfu, "source": r.source}
            for r in known.nearest
        ],
    }
