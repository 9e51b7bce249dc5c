"""Parameters that one GPU holds, stage by stage: what tensor, pipeline and expert parallelism split and what not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scale.memory import StateRecipe
from scale.planner.arrays import Array, Grid, array
from scale.planner.model import NORM_VECTORS, Model, layer_parameters
from scale.planner.steptime import StageParameters, stage_layers

STAGES = ("first", "middle", "last")


@dataclass(frozen=True)
class ModelParameters:
    """Parameters per mean layer and at both ends, apart by what tensor parallelism splits (elements)."""

    layer_split: float
    layer_replicated: float
    layer_experts: float
    embedding: int
    head: int
    embedding_replicated: int
    head_replicated: int
    tied: bool

    @classmethod
    def of(cls, model: Model) -> ModelParameters:
        split = replicated = experts = 0.0
        for moe, count in ((False, model.dense_layers), (True, model.moe_layers)):
            if count:
                layer, share = layer_parameters(model, moe), count / model.layers
                split += share * (layer.attention_matmul + layer.mlp_matmul)
                replicated += share * (layer.attention_other + layer.mlp_other + layer.norms + layer.router)
                experts += share * layer.experts
        embed = model.embed_dim or model.hidden
        norm = NORM_VECTORS[model.norm]
        return cls(
            split,
            replicated,
            experts,
            model.vocab * embed,
            model.vocab * embed,
            model.positions * model.hidden + (norm * embed if model.embed_norm else 0),
            (norm * model.hidden if model.final_norm else 0) + (model.vocab if model.head_bias else 0),
            model.tied,
        )


def stage_parameters(p: ModelParameters, layers: int, g: Grid, stage: str) -> StageParameters:
    """Parameters on one GPU of the `first`, a `middle` or the `last` stage.

    Tied embeddings live on both the first and the last stage of a pipeline (Megatron-LM), once where one stage holds
    both ends: without a pipeline, and in one that is folded (ZBV).
    """
    count, both = stage_layers(array(layers), g, stage), (g.pp <= 1) | g.folded
    per_layer = p.layer_split / g.tp + p.layer_replicated
    ends = np.zeros_like(count)
    if stage == "first":
        ends = ends + p.embedding / g.tp + p.embedding_replicated
        ends = ends + np.where(both, (0.0 if p.tied else p.head / g.tp) + p.head_replicated, 0.0)
    if stage == "last":
        ends = ends + np.where(g.folded, 0.0, p.head / g.tp + p.head_replicated)
    return StageParameters(count * per_layer + ends, count * p.layer_experts / (g.tp * g.ep))


def heaviest_stage(p: ModelParameters, layers: int, g: Grid) -> StageParameters:
    """The stage with the most parameters: what gradients and the optimiser step wait for."""
    options = [stage_parameters(p, layers, g, stage) for stage in STAGES]
    options[2] = StageParameters(np.where(g.pp > 1, options[2].dense, 0), np.where(g.pp > 1, options[2].experts, 0))
    totals = np.stack(np.broadcast_arrays(*(o.dense + o.experts for o in options)))
    best = np.argmax(totals, axis=0)
    return StageParameters(
        *(
            np.take_along_axis(
                np.stack(np.broadcast_arrays(*(getattr(o, part) for o in options))), best[None, ...], axis=0
            )[0]
            for part in ("dense", "experts")
        )
    )


def reduced_bytes(recipe: StateRecipe, zero: Array) -> Array:
    """Bytes per parameter that data parallelism reduces: fp32 where the recipe accumulates in fp32, but ZeRO-2 and 3
    reduce 16-bit gradients where fp32 is only their copy."""
    return np.where(zero < 2, float(recipe.gradients_fp32 or recipe.gradients), 4.0 if recipe.gradients == 4 else 2.0)
