"""The model card of a plan: exact parameters by part, FLOPs per token by three counts, budget and loss."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from scale.planner.flops import token_flops
from scale.planner.laws import LAWS, advise, disagreement
from scale.planner.model import Model, count_parameters
from scale.planner.workload import Train


def model_card(model: Model, train: Train) -> dict[str, Any]:
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
