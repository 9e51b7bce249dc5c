"""Parameters that one GPU holds, stage by stage: what tensor, pipeline and expert parallelism split and what not."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from scale.memory import StateRecipe
from scale.planner.models.model import NORM_VECTORS, Architecture
from scale.planner.models.parameters import layer_parameters
from scale.planner.step.arrays import Array, Grid, array
from scale.planner.step.steptime import StageParameters, stage_layers

STAGES = ("first", "middle", "last")


@dataclass(frozen=True)
class Layer:
    """Parameters of one layer: what tensor parallelism splits, what it does not, and the routed experts (elements)."""

    split: float
    replicated: float
    experts: float

    @classmethod
    def of(cls, model: Architecture, moe: bool) -> Layer:
        """The mean layer of the kind, over what mixes its tokens."""
        counts = {mixed: count for (experts, mixed), count in model.kinds().items() if experts == moe} or {False: 1}
        total = cls(0.0, 0.0, 0.0)
        for mixed, count in counts.items():
            layer, share = layer_parameters(model, moe, mixed), count / sum(counts.values())
            split = layer.attention_matmul + layer.mlp_matmul
            total = cls(
                total.split + share * split,
                total.replicated + share * (layer.dense - split),
                total.experts + share * layer.experts,
            )
        return total


@dataclass(frozen=True)
class ModelParameters:
    """Parameters of the layers and at both ends (elements).

    The first `leading` layers are `lead` layers, all others `body` layers: dense layers before mixtures of experts, as
    in DeepSeek-V3. Where the two kinds alternate nothing leads, and `body` is the mean layer.
    """

    leading: int
    lead: Layer
    body: Layer
    embedding: int
    head: int
    embedding_replicated: int
    head_replicated: int
    tied: bool

    @classmethod
    def of(cls, model: Architecture) -> ModelParameters:
        dense, leading = Layer.of(model, moe=False), leading_dense(model)
        body = Layer.of(model, moe=True) if leading or not model.dense_layers else _mean_layer(model)
        embed = model.embed_dim or model.hidden
        norm = NORM_VECTORS[model.norm]
        return cls(
            leading,
            dense,
            body,
            model.vocab * embed + model.extra_embedding + model.extra_projection,
            model.vocab * embed,
            model.positions * model.hidden + (norm * embed if model.embed_norm else 0),
            (norm * model.hidden if model.final_norm else 0) + (model.vocab if model.head_bias else 0),
            model.tied,
        )


def leading_dense(model: Architecture) -> int:
    """Dense layers before the first mixture of experts, 0 where the kinds alternate or all layers are of one kind."""
    first = model.dense_layers
    return first if model.experts and model.experts.layers == tuple(range(first, model.layers)) else 0


def _mean_layer(model: Architecture) -> Layer:
    dense, moe, share = Layer.of(model, moe=False), Layer.of(model, moe=True), model.moe_layers / model.layers
    return Layer(
        *((1 - share) * getattr(dense, f.name) + share * getattr(moe, f.name) for f in fields(Layer)),
    )


def leading_layers(p: ModelParameters, count: Array, g: Grid, stage: str) -> Array:
    """How many of a stage's `count` layers are leading ones: those of the first stage's first chunk at most."""
    chunks = np.where(g.folded, 2.0, g.interleave)
    return np.minimum(p.leading, np.floor(count / chunks)) if stage == "first" else np.zeros_like(count)


def stage_parameters(p: ModelParameters, layers: int, g: Grid, stage: str) -> StageParameters:
    """Parameters on one GPU of the `first`, a `middle` or the `last` stage.

    Tied embeddings live on both the first and the last stage of a pipeline (Megatron-LM), once where one stage holds
    both ends: without a pipeline, and in one that is folded (ZBV).
    """
    count, both = stage_layers(array(layers), g, stage), (g.pp <= 1) | g.folded
    leads = leading_layers(p, count, g, stage)
    dense = leads * (p.lead.split / g.tp + p.lead.replicated) + (count - leads) * (
        p.body.split / g.tp + p.body.replicated
    )
    ends = np.zeros_like(count)
    if stage == "first":
        ends = ends + p.embedding / g.tp + p.embedding_replicated
        ends = ends + np.where(both, (0.0 if p.tied else p.head / g.tp) + p.head_replicated, 0.0)
    if stage == "last":
        ends = ends + np.where(g.folded, 0.0, p.head / g.tp + p.head_replicated)
    return StageParameters(dense + ends, (count - leads) * p.body.experts / (g.tp * g.ep))


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
