"""The plan: model card, ranked layouts, memory, checkpoints, data, levers, warnings, as one stable mapping.

The mapping is what `--json` prints (schema `scale-plan/1`, described in docs/scale.md); the text is made from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from scale.pipeline import bubble_fraction, interleaved_bubble_fraction, interleaved_bubble_ratio
from scale.planner.models.parameters import count_parameters
from scale.planner.plans.alternatives import largest_levers, rejected_layouts
from scale.planner.plans.data import DataPlan, Source, plan_data, sources_of_run
from scale.planner.plans.failures import CheckpointPlan, plan_checkpoints
from scale.planner.plans.plan_input import PlanInput
from scale.planner.plans.published import BESIDE_STEP, Reached, reached
from scale.planner.plans.questions import changes_that_fit, fewest
from scale.planner.plans.sections import (
    GB,
    GIB,
    data_section,
    memory_section,
    model_card,
    pipeline_section,
    published_section,
    with_band,
)
from scale.planner.step.calibration import evidence
from scale.planner.step.estimate import StepEstimate, estimate_memory, estimate_step
from scale.planner.step.hardware import Gpu
from scale.planner.step.search import Candidates, search
from scale.planner.step.workload import Layout, remarks
from scale.refusal import Refusal
from scale.units import duration, measure, money, round_numbers

SCHEMA = "scale-plan/1"


def make_plan(inputs: PlanInput, top: int = 3, documents: dict[str, int] | None = None) -> dict[str, Any]:
    """Everything about the run. Raises `Refusal` when no layout exists or none fits in memory."""
    found = search(inputs.model, inputs.cluster, inputs.train, inputs.limits)
    if not len(found.order):
        raise Refusal(nothing_fits(inputs, found))
    chosen = distinct(found, top)
    ranked = [ranked_layout(inputs, found.layout(index), rank) for rank, index in enumerate(chosen, start=1)]
    best = found.layout(chosen[0])
    data = plan_data(inputs.sources, inputs.train.tokens, documents) if inputs.sources else None
    plan: dict[str, Any] = {
        "schema": SCHEMA,
        "name": inputs.name,
        "inputs": given(inputs),
        "model": model_card(inputs.model, inputs.train),
        "searched": {"layouts": len(found.seconds), "fit": int(found.fits.sum())},
        "layouts": ranked,
        "rejected": rejected_layouts(inputs, found, chosen[0]),
        "pipeline": pipeline_section(best, inputs.train),
        "checkpoint": checkpoint_section(inputs, ranked[0]),
        "data": None if data is None else data_section(data, inputs.train.tokens),
        "levers": largest_levers(inputs, best, ranked[0]["days_with_failures"]["value"]),
        "warnings": warnings(inputs, best, ranked[0], data),
    }
    rounded: dict[str, Any] = round_numbers(plan)
    return rounded


def distinct(found: Candidates, top: int) -> list[int]:
    """The best layouts that differ in more than their ZeRO stage, schedule or recomputation."""
    seen, chosen = set(), []
    for index in found.order:
        tp, cp, pp, ep, dp, _, micro, *_ = found.layouts[index]
        if (tp, cp, pp, ep, dp, micro) not in seen:
            seen.add((tp, cp, pp, ep, dp, micro))
            chosen.append(int(index))
        if len(chosen) == top:
            break
    return chosen


def given(inputs: PlanInput) -> dict[str, Any]:
    """Every input with its default filled in."""
    return {
        "train": {**asdict(inputs.train), "tokens_per_step": inputs.train.tokens_per_step},
        "cluster": asdict(inputs.cluster),
        "limits": asdict(inputs.limits),
        "target": asdict(inputs.target),
        "checkpoint": asdict(inputs.checkpoint),
        "sources": {n: asdict(s) for n, s in inputs.sources.items()},
    }


def ranked_layout(inputs: PlanInput, layout: Layout, rank: int) -> dict[str, Any]:
    """One layout with its times, utilisation, memory, days, GPU-hours, money and energy."""
    step = estimate_step(inputs.model, inputs.cluster, layout, inputs.train)
    memory = estimate_memory(inputs.model, inputs.cluster, layout, inputs.train)
    return {
        "rank": rank,
        "label": layout.label(),
        "layout": asdict(layout),
        "micro_batches": layout.micro_batches(inputs.train),
        "stack": step.stack,
        "evidence": evidence(step.stack, inputs.cluster.gpu),
        "step_seconds": with_band(step.seconds, step.band),
        "causes_seconds": step.causes,
        "mfu_full_attention": step.mfu_full,
        "mfu_causal_attention": step.mfu_causal,
        "hfu_full_attention": step.hfu_full,
        "model_tflops_per_gpu": step.model_tflops_per_gpu,
        "tokens_per_second": step.tokens_per_second,
        "tokens_per_day": step.tokens_per_day,
        "bubble": bubble(layout, inputs),
        "memory": memory_section(memory),
        **spent(inputs, layout, step),
        "remarks": remarks(inputs.model, inputs.cluster, layout),
    }


def spent(inputs: PlanInput, layout: Layout, step: StepEstimate) -> dict[str, Any]:
    """Days, GPU-hours, money and energy as published runs need them, and under `tuned` as tuned software does.

    Raises `Refusal` when failures eat all time.
    """
    losses = checkpoint_plan(inputs, layout.dp)
    days = inputs.train.tokens / step.tokens_per_second / 86400
    actual = losses.days(days)
    if math.isinf(actual):
        raise Refusal(no_progress(inputs, losses))
    amounts = _amounts(inputs, actual)
    known = reached(
        inputs.model, inputs.cluster, inputs.train, step.mfu_full * losses.goodput / BESIDE_STEP, step.stack
    )
    return {
        "days": _ranged(actual, known),
        **{key: _ranged(value, known) for key, value in amounts.items()},
        "days_without_failures": _ranged(days, known),
        "published": published_section(known),
        "tuned": {
            "days_without_failures": with_band(days, step.band),
            **{key: with_band(value, step.band) for key, value in amounts.items()},
        },
        "energy_mwh": amounts["gpu_hours"] * BESIDE_STEP * known.factor * inputs.cluster.gpu.watts / 1e6,
    }


def _amounts(inputs: PlanInput, days: float) -> dict[str, float]:
    """Days with failures as GPU-hours and money."""
    cluster = inputs.cluster
    hours = days * 24 * cluster.gpus
    return {
        "days_with_failures": days,
        "gpu_hours": hours,
        "cost": hours * cluster.price_per_gpu_hour,
    }


def _ranged(tuned: float, known: Reached) -> dict[str, float]:
    """A tuned figure as published runs need it; the range holds 90 % of runs left out of the fit."""
    factors = {"value": known.factor, "low": known.low, "high": known.high}
    return {key: tuned * BESIDE_STEP * factor for key, factor in factors.items()} | {
        "band": known.high / known.factor - 1
    }


def checkpoint_plan(inputs: PlanInput, replicas: int) -> CheckpointPlan:
    """Checkpoints and failures of the plan's model on its cluster."""
    settings = inputs.checkpoint
    return plan_checkpoints(
        count_parameters(inputs.model).total,
        inputs.cluster,
        replicas,
        settings.interval_minutes,
        settings.bytes_per_parameter,
        settings.repair_hours,
    )


def no_progress(inputs: PlanInput, losses: CheckpointPlan) -> str:
    """Why a run with these failures never ends."""
    return (
        f"the run makes no progress: a failure every {losses.mean_minutes_between_failures:.3g} min, "
        f"{losses.write_minutes:.3g} min to write a checkpoint and {inputs.cluster.restart_minutes:.3g} min to "
        f"restart lose "
        "all of the time; write faster, restart faster, or save at another interval"
    )


def bubble(layout: Layout, inputs: PlanInput) -> dict[str, float]:
    """The ideal bubble as a fraction of the total and as a ratio to the ideal time."""
    m = layout.micro_batches(inputs.train)
    if layout.interleave > 1:
        return {
            "fraction_of_total": interleaved_bubble_fraction(layout.pp, m, layout.interleave),
            "ratio_to_ideal": interleaved_bubble_ratio(layout.pp, m, layout.interleave),
        }
    fraction = bubble_fraction(layout.pp, m)
    share = layout.bubble_share
    return {"fraction_of_total": fraction * share, "ratio_to_ideal": fraction * share / (1 - fraction * share)}


def checkpoint_section(inputs: PlanInput, best: Mapping[str, Any]) -> dict[str, Any]:
    """Checkpoint size, pause, intervals and waste of the best layout."""
    made = checkpoint_plan(inputs, best["layout"]["dp"])
    return {
        **asdict(made),
        "waste": made.waste,
        "goodput": made.goodput,
        "expected_failures": made.failures(best["days_with_failures"]["value"]),
        "gb": made.bytes / GB,
        "gib": made.bytes / GIB,
    }


def nothing_fits(inputs: PlanInput, found: Candidates) -> str:
    """Which layout came closest, and by how much it misses."""
    index = int(found.bytes_per_gpu.argmin())
    need, limit = found.bytes_per_gpu[index] / GIB, inputs.cluster.memory_bytes / GIB
    return (
        f"none of {len(found.seconds)} layouts fits: the leanest, {found.layout(index).label()}, needs "
        f"{measure(need, 1)} GiB on its {found.stage_name(index)} stage and {measure(limit, 1)} GiB of "
        f"{inputs.cluster.gpu.name} are usable; "
        f"{way_out(inputs)}"
    )


def way_out(inputs: PlanInput) -> str:
    """What would make it fit: how many GPUs, and which single changes."""
    more, changes = fewest(inputs), changes_that_fit(inputs)
    ways = [f"{more.gpus:,} of these GPUs ({more.verdict} as {more.layout.label()})"] if more else []
    ways += changes
    return f"it would with {' or '.join(ways)}" if ways else "no single change is enough; take GPUs with more memory"


def warnings(inputs: PlanInput, best: Layout, ranked: Mapping[str, Any], data: DataPlan | None) -> list[str]:
    """What a reader should know before believing or starting."""
    found = list(inputs.model.notes) + list(data.warnings if data else ())
    limit = inputs.model.max_sequence
    if limit and inputs.train.sequence > limit:
        found.append(f"the sequence of {inputs.train.sequence} is longer than the model's {limit} positions")
    days, cost = ranked["days_with_failures"]["value"], ranked["cost"]["value"]
    if inputs.target.days and days > inputs.target.days:
        found.append(
            f"target {inputs.target.days:g} days is not met: {duration(days)}; at this efficiency it takes "
            f"{inputs.cluster.gpus * days / inputs.target.days:,.0f} GPUs, or "
            f"{inputs.train.tokens * inputs.target.days / days:.3g} tokens"
        )
    if inputs.target.cost and cost > inputs.target.cost:
        found.append(f"target cost {money(inputs.target.cost)} is not met: {money(cost)}")
    found += borrowed(inputs.cluster.gpu) + narrow_batch(inputs)
    memory = ranked["memory"]
    if memory["worst_gib"]["high"] > memory["limit_gib"]:
        found.append(
            f"memory is within its error band of the limit: {measure(memory['worst_gib']['value'], 1)} GiB ± "
            f"{100 * memory['worst_gib']['band']:.0f} % of {measure(memory['limit_gib'], 1)} GiB"
        )
    if inputs.train.tokens < inputs.train.tokens_per_step:
        found.append("the tokens are fewer than one optimiser step")
    return found


def narrow_batch(inputs: PlanInput) -> list[str]:
    """A batch that divides into far fewer replicas than there are GPUs, and the next one that does not."""
    batch, gpus = inputs.train.global_batch, inputs.cluster.gpus
    ways = max(d for d in range(1, min(batch, gpus) + 1) if batch % d == 0 and gpus % d == 0)
    if ways * 2 > min(batch, gpus):
        return []
    better = -(-batch // min(batch, gpus)) * min(batch, gpus)
    return [
        f"a global batch of {batch:,} sequences divides into at most {ways:,} replicas of these {gpus:,} GPUs; "
        f"{better:,} sequences would divide into {min(batch, gpus):,}"
    ]


def borrowed(gpu: Gpu) -> list[str]:
    """Which numbers of a card given by numbers are another card's."""
    return (
        [f"numbers of {gpu.name} that were not given are borrowed: {', '.join(gpu.borrowed)}"] if gpu.borrowed else []
    )


def plan_with_run(
    inputs: PlanInput, tokens: Mapping[str, int], documents: dict[str, int] | None, top: int = 3
) -> dict[str, Any]:
    """A plan whose data is a curation run's: weights of the plan file where given, else by tokens."""
    weights = {name: source.weight for name, source in inputs.sources.items()} or None
    sources: dict[str, Source] = sources_of_run(tokens, weights)
    return make_plan(replace(inputs, sources=sources), top, documents)


__all__ = ["SCHEMA", "StepEstimate", "make_plan", "plan_with_run"]
