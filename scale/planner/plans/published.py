"""What published runs reached, beside what tuned software reaches: the second is a benchmark, the first a budget.

A published run takes longer than the best layout of the model: its layout is not the best, its software is younger, and
it loses time beside the step. How much follows from two numbers, fitted on the runs of `scale/data/published_runs.csv`:
log MFU = a + b·log(tuned MFU) + c·log(FLOPs of the run). An exponent below 1 says that the further a run could go, the
less of it is reached; a positive c that larger runs are tuned with more care.
"""

from __future__ import annotations

import csv
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np

from scale.planner.models.flops import token_flops
from scale.planner.models.model import Architecture
from scale.planner.step.calibration import calibration
from scale.planner.step.hardware import Cluster, Gpu
from scale.planner.step.workload import Train

TYPICAL_MFU, TYPICAL_FLOPS = 0.5, 1e23  # where the intercept is read, so that it is a number one can look at
LARGEST_BUDGET = 6.0  # log(FLOPs/1e23) of the largest and smallest run fitted: beyond them nothing is known
BESIDE_STEP = 1.04
"""Whole run over its steps, failures apart: evaluation, data, stragglers, steps run twice.

Apertus: about 6M GPU-hours for 5.76M by its tokens a second; BLOOM: 1.108 with its failures (1,082,990 GPU-hours for
977,300 by its 105 s a step).
"""


@dataclass(frozen=True)
class PublishedRun:
    """One published run: `mfu` is its share of the bf16 peak over the whole run, counting full attention."""

    name: str
    die: str
    gpus: int
    active: float
    mfu: float
    source: str


@dataclass(frozen=True)
class Reached:
    """What published runs reach of a tuned layout: `factor` times its GPU-hours, between `low` and `high` (90 %).

    `seen` says whether runs on cards of this die were among those fitted; `nearest` are the most similar of them.
    """

    factor: float
    low: float
    high: float
    mfu: float
    seen: bool
    runs: int
    nearest: tuple[PublishedRun, ...]


def log_mfu(tuned_mfu: float, flops: float, constants: Mapping[str, float], shift: float = 0.0) -> float:
    """Log of the MFU a published run reaches where tuned software reaches `tuned_mfu` (fractions, full attention).

    `shift` is that of the software: the constants of FSDP are of runs as they ran, so less is lost to them.
    """
    budget = max(-LARGEST_BUDGET, min(LARGEST_BUDGET, math.log(max(flops, 1.0) / TYPICAL_FLOPS)))
    tuned = constants["tuned"] * math.log(max(tuned_mfu, 1e-9) / TYPICAL_MFU)
    return constants["intercept"] + tuned + constants["budget"] * budget + shift


def reached(model: Architecture, cluster: Cluster, train: Train, tuned_mfu: float, stack: str = "megatron") -> Reached:
    """What runs of this size reach where the best layout reaches `tuned_mfu` with failures; never more than that."""
    constants = calibration()["published"]
    flops = token_flops(model, train.sequence)
    shift = constants["software"].get(stack, 0.0)
    mfu = min(math.exp(log_mfu(tuned_mfu, flops.six_n * train.tokens, constants, shift)), tuned_mfu)
    seen = cluster.gpu.die in constants["dies"]
    band = constants["band"] if seen else constants["band_unseen"]
    factor = tuned_mfu / mfu
    return Reached(
        factor,
        factor * math.exp(-band),
        factor * math.exp(band),
        mfu,
        seen,
        int(constants["runs"]),
        nearest(cluster.gpu, flops.six_n / 6.0),
    )


@functools.lru_cache(maxsize=1)
def published_rows() -> tuple[dict[str, str], ...]:
    """The rows of `scale/data/published_runs.csv`, as text."""
    with resources.files("scale").joinpath("data/published_runs.csv").open(encoding="utf-8") as lines:
        return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))


@functools.lru_cache(maxsize=1)
def published_runs() -> tuple[PublishedRun, ...]:
    """The runs with what they reached."""
    return tuple(_run(row) for row in published_rows())


def shape_of(row: Mapping[str, str]) -> dict[str, Any]:
    """The shape of a row, as a plan file would give it."""
    shape: dict[str, Any] = {key: int(row[key]) for key in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")}
    shape |= {"name": row["run"], "gated": row["gated"] == "1", "tied": row["tied"] == "1"}
    if row["head_dim"]:
        shape["head_dim"] = int(row["head_dim"])
    if row["experts"]:
        count, top_k, width, shared, first, _ = row["experts"].split(":")
        latent = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
        shape |= {"experts": int(count), "top_k": int(top_k), "moe_ffn": int(width), "shared": int(shared)}
        shape |= {"dense_first": int(first), "mla": latent | {"q_lora_rank": 1536}}
    return shape


def _run(row: Mapping[str, str]) -> PublishedRun:
    from scale.planner.models.shape import model_from_shape
    from scale.planner.step.hardware import find_gpu

    model, gpu = model_from_shape(shape_of(row)), find_gpu(row["gpu"])
    flops = token_flops(model, int(row["sequence"]))
    rate = float(row["tokens"]) / (float(row["gpu_hours"]) * 3600)
    mfu = rate * flops.full_attention / (gpu.bf16_tflops * 1e12)
    return PublishedRun(row["run"], gpu.die, int(row["gpus"]), flops.six_n / 6.0, mfu, row["source"])


def nearest(gpu: Gpu, active: float, count: int = 3) -> tuple[PublishedRun, ...]:
    """The runs on a card of the same die (or on all, where there is none) whose active parameters are nearest."""
    same = [run for run in published_runs() if run.die == gpu.die] or list(published_runs())
    return tuple(sorted(same, key=lambda run: (abs(math.log(run.active / active)), run.name))[:count])


def fit(tuned: Sequence[float], flops: Sequence[float], mfu: Sequence[float]) -> dict[str, float]:
    """Least squares of log MFU on the logs of tuned MFU and of the run's FLOPs: intercept, tuned, budget."""
    budget = np.clip(np.log(np.asarray(flops) / TYPICAL_FLOPS), -LARGEST_BUDGET, LARGEST_BUDGET)
    columns = np.stack([np.ones(len(budget)), np.log(np.asarray(tuned) / TYPICAL_MFU), budget], axis=1)
    solution = np.linalg.lstsq(columns, np.log(np.asarray(mfu)), rcond=None)[0]
    return dict(zip(("intercept", "tuned", "budget"), (float(value) for value in solution)))
