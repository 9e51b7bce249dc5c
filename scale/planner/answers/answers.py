"""The single questions: memory, budget, checkpoint, precision, schedule, fits. Each answer is a mapping for --json."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scale.budget import LAWS, advise, chinchilla_tokens, disagreement, gpu_hours, training_flops
from scale.checkpoint import daly_checkpoint_interval, optimal_checkpoint_interval, wasted_fraction
from scale.floats import FORMATS, FloatFormat, quantize
from scale.memory import RECIPES
from scale.pipeline import bubble_fraction, bubble_ratio, interleaved_bubble_ratio, pipeline_schedule
from scale.planner.answers.fits import fit_law, fit_mixture
from scale.planner.models.model import Architecture
from scale.planner.models.parameters import count_parameters
from scale.planner.step.estimate import estimate_memory
from scale.planner.step.hardware import Cluster
from scale.planner.step.workload import Layout, Train
from scale.refusal import Refusal, require, unusable
from scale.units import read_number

GIB, GB = 2.0**30, 1e9
MOST_CELLS = 1_000_000
LEAST_FLOPS = 1e3
LAW_COLUMNS = {"n": "N", "params": "N", "parameters": "N", "d": "D", "tokens": "D"}


def memory_answer(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> dict[str, Any]:
    """Exact parameters, training state under each recipe, and the bytes of one layout by part and stage."""
    counts = count_parameters(model)
    memory = estimate_memory(model, cluster, layout, train)
    recipes = {
        name: {
            "bytes_per_parameter": r.total,
            "total_gb": r.total * counts.total / GB,
            "total_gib": r.total * counts.total / GIB,
        }
        for name, r in RECIPES.items()
    }
    return {
        "model": model.name,
        "family": model.family,
        "total_params": counts.total,
        "active_params": counts.active,
        "parts": {k: v for k, v in asdict(counts).items() if not k.startswith("active")},
        "state_by_recipe": recipes,
        "inference_bf16_gb": 2 * counts.total / GB,
        "layout": asdict(layout),
        "train": asdict(train),
        "stages_bytes": memory.stages,
        "worst_stage": memory.worst,
        "worst_gib": memory.worst_bytes / GIB,
        "worst_gb": memory.worst_bytes / GB,
        "limit_gib": memory.limit / GIB,
        "fits": memory.fits,
        "verdict": memory.verdict,
        "least_gib": memory.least / GIB,
        "error_band": memory.band,
        "notes": list(model.notes),
    }


def budget_answer(
    params: float | None, tokens: float | None, flops: float | None, tflops_per_gpu: float, price: float
) -> dict[str, Any]:
    """Tokens, FLOPs, GPU-hours and money from any sufficient two of parameters, tokens and FLOPs."""
    for name, given in (("params", params), ("tokens", tokens), ("flops", flops), ("tflops-per-gpu", tflops_per_gpu)):
        require(given is None or given > 0, f"budget: --{name} {given} is not above zero")
    require(price >= 0, f"budget: --price {price:g} is below zero")
    require(not flops or flops >= LEAST_FLOPS, f"budget: --flops {flops or 0:g} trains nothing; give 1e3 or more")
    if params and not tokens:
        tokens = flops / (6 * params) if flops else chinchilla_tokens(params)
    elif tokens and not params and flops:
        params = flops / (6 * tokens)
    elif flops and not params and not tokens:
        best = advise(flops)[0]
        params, tokens = best.parameters, best.tokens
    if not params or not tokens:
        raise Refusal("budget: give --params, or --flops, or --tokens with one of them")
    spent = training_flops(params, tokens)
    require(
        not flops or abs(spent / flops - 1) < 0.01,
        f"budget: 6 × {params:.4g} parameters × {tokens:.4g} tokens is {spent:.4g} FLOPs, not {flops or 0:.4g}; give "
        f"two "
        "of the three",
    )
    hours, rules = gpu_hours(spent, tflops_per_gpu * 1e12), advise(spent)
    return {
        "parameters": params,
        "tokens": tokens,
        "tokens_per_parameter": tokens / params,
        "training_flops_6nd": spent,
        "tflops_per_gpu": tflops_per_gpu,
        "gpu_hours": hours,
        "cost": hours * price,
        "predicted_loss": {law.name: law.loss(params, tokens) for law in LAWS},
        "compute_optimal": [
            {"rule": r.rule, "parameters": r.parameters, "tokens": r.tokens, "loss": r.loss} for r in rules
        ],
        "compute_optimal_disagreement": disagreement(rules),
    }


def checkpoint_answer(
    save_minutes: float, failure_minutes: float, restart_minutes: float, interval_minutes: float | None
) -> dict[str, Any]:
    """Young's and Daly's interval, the waste at Young's, and at a given interval when there is one."""
    require(
        save_minutes > 0 and failure_minutes > 0,
        "checkpoint: the save and the time between failures must be above zero",
    )
    young = optimal_checkpoint_interval(save_minutes, failure_minutes)
    answer = {
        "save_minutes": save_minutes,
        "mean_minutes_between_failures": failure_minutes,
        "restart_minutes": restart_minutes,
        "young_minutes": young,
        "daly_minutes": daly_checkpoint_interval(save_minutes, failure_minutes),
        "waste_fraction_at_young": wasted_fraction(young, save_minutes, failure_minutes, restart_minutes),
    }
    if interval_minutes is not None:
        require(interval_minutes > 0, "checkpoint: the interval must be above zero")
        answer["interval_minutes"] = interval_minutes
        answer["waste_fraction_at_interval"] = wasted_fraction(
            interval_minutes, save_minutes, failure_minutes, restart_minutes
        )
    return answer


def precision_answer(values: list[float], overflow: str) -> dict[str, Any]:
    """Each float format's range and step, what becomes of the given values in it, and the recipes' bytes."""
    formats: Mapping[str, FloatFormat] = dict(FORMATS)
    table = {
        name: {"bits": f.bits, "max": f.max, "min_normal": f.min_normal, "min_subnormal": f.min_subnormal, "eps": f.eps}
        for name, f in formats.items()
    }
    rounded = {repr(v): {name: quantize(v, f, overflow) for name, f in formats.items()} for v in values}
    recipes = {name: {"bytes_per_parameter": r.total, "source": r.source} for name, r in RECIPES.items()}
    return {"formats": table, "overflow": overflow, "values": rounded, "recipes": recipes}


def every_digit(value: Any) -> Any:
    """Floats as they are, since rounding them is what the answer is about; what JSON has no number for is a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return {key: every_digit(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def schedule_answer(stages: int, micro: int, schedule: str, chunks: int) -> dict[str, Any]:
    """The grid of a pipeline and its bubble, as a fraction of the total and as a ratio to the ideal."""
    require(stages >= 1 and micro >= 1 and chunks >= 1, "schedule: stages, micro-batches and chunks must be at least 1")
    cells = 2 * stages * (micro + stages - 1)
    require(cells <= MOST_CELLS, f"schedule: a grid of {cells:,} cells is beyond {MOST_CELLS:,}; ask for a smaller one")
    grid = pipeline_schedule(stages, micro, schedule)
    return {
        "stages": stages,
        "micro_batches": micro,
        "schedule": schedule,
        "grid": grid.tolist(),
        "bubble_fraction_of_total": bubble_fraction(stages, micro),
        "bubble_ratio_to_ideal": bubble_ratio(stages, micro),
        "interleaved_chunks": chunks,
        "interleaved_bubble_ratio_to_ideal": interleaved_bubble_ratio(stages, micro, chunks),
    }


def grid_text(grid: list[list[int]]) -> list[str]:
    """One line a stage: forward micro-batches plain, backward ones in brackets, idle slots as dots."""
    width = len(str(max((abs(cell) for row in grid for cell in row), default=1))) + 2
    cells = [["·" if not c else str(c) if c > 0 else f"[{-c}]" for c in row] for row in grid]
    return [f"stage {stage:<3}" + " ".join(f"{cell:>{width}}" for cell in row) for stage, row in enumerate(cells)]


def fit_answer(path: Path) -> dict[str, Any]:
    """Fit a table: columns N, D and loss make a scaling law; any other columns next to loss are mixture weights."""
    header, rows = _table(path)
    names = {LAW_COLUMNS[name.lower()]: name for name in header if name.lower() in LAW_COLUMNS}
    losses = [read_number(row["loss"], f"{path}: loss of row {i}") for i, row in enumerate(rows, start=1)]
    if set(names) == {"N", "D"}:
        columns = {
            k: [read_number(row[name], f"{path}: {name} of row {i}") for i, row in enumerate(rows, start=1)]
            for k, name in names.items()
        }
        law = fit_law(columns["N"], columns["D"], losses)
        values = {"E": law.law.floor, "A": law.law.a, "B": law.law.b, "alpha": law.law.alpha, "beta": law.law.beta}
        return {
            "kind": "law",
            "points": law.points,
            "constants": values,
            "intervals_95": law.intervals,
            "rmse_log_loss": law.rmse,
            "optimum": {f"{c:g}": dict(zip(("parameters", "tokens"), law.law.optimum(c))) for c in (1e20, 1e22, 1e24)},
        }
    sources = [name for name in header if name != "loss"]
    weights = {
        name: [read_number(row[name], f"{path}: {name} of row {i}") for i, row in enumerate(rows, start=1)]
        for name in sources
    }
    return {"kind": "mixture", **asdict(fit_mixture(weights, losses))}


def _table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            rows, header = list(reader), [name.strip() for name in reader.fieldnames or []]
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(path, "read", error, "give a CSV table") from None
    except csv.Error as error:
        raise Refusal(f"{path}: is not a CSV table ({error}); give one with a line of column names") from None
    require("loss" in header, f"{path}: has no column `loss`; columns are {', '.join(header) or 'none'}")
    clean = [{(k or "").strip(): v for k, v in row.items() if k is not None} for row in rows]
    for place, row in enumerate(clean, start=1):
        require(
            all(row.get(name) not in (None, "") for name in header),
            f"{path}: row {place} has fewer values than columns",
        )
    return header, clean
