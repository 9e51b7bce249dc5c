"""Parameters that one GPU holds, stage by stage: what tensor, pipeline and expert parallelism split and what not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scale.planner.arrays import Array, Grid, array
from scale.planner.model import NORM_VECTORS, Model, layer_parameters
from scale.planner.steptime import StageParameters, layers_of_stages

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

    Tied embeddings live on both the first and the last stage of a pipeline (Megatron-LM), once without one.
    """
    count = dict(zip(STAGES, layers_of_stages(array(layers), g.pp)))[stage]
    per_layer = p.layer_split / g.tp + p.layer_replicated
    ends = np.zeros_like(count)
    if stage == "first":
        ends = ends + p.embedding / g.tp + p.embedding_replicated
    if stage == "last":
        ends = ends + p.head / g.tp + p.head_replicated
    if stage == "first":
        single = (0.0 if p.tied else p.head / g.tp) + p.head_replicated
        ends = ends + np.where(g.pp > 1, 0.0, single)
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


def gradient_bytes_of(recipe_gradients: int, recipe_fp32: int) -> Array:
    """Bytes per parameter that data parallelism reduces: the fp32 copy where the recipe keeps one."""
    return array(recipe_fp32 or recipe_gradients)
