"""The calibrated constants: few, physical, in one data file with their provenance."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scale.planner.step.hardware import Gpu
from scale.planner.step.workload import Layout, Train

Array = NDArray[np.float64]
Evidence = Literal["fitted", "carried", "none"]


@dataclass(frozen=True)
class Constants:
    """What the roofline cannot know. Shares are fractions of a peak; bytes are HBM traffic per element."""

    matmul_peak: float
    memory_peak: float
    wave_loss: float
    unfused_attention_peak: float
    flash_attention_peak: float
    replicated_bytes: float
    split_bytes: float
    score_bytes: float
    logit_bytes: float
    launch_seconds: float
    launch_rank_seconds: float
    in_node_peak: float
    network_peak: float
    collective_latency: float
    optimizer_bytes: float
    step_seconds: float
    gradient_overlap: float
    gradient_exposed: float
    tensor_overlap: float
    pipeline_overlap: float
    expert_overlap: float
    straggler: float
    tensor_pair_loss: float
    fp8_gain: float
    fp4_gain: float


@functools.lru_cache(maxsize=1)
def calibration() -> dict[str, Any]:
    """The whole of `scale/data/calibration.json`: constants, measured error bands, provenance."""
    text = resources.files("scale").joinpath("data/calibration.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def stack_of(train: Train, layout: Layout) -> str:
    """The constants that fit the software a layout runs on: `unfused`, `fsdp` or `megatron`.

    Unfused attention is Megatron-LM of 2021-22. Else what `train.software` names, and by default what the layout
    implies: sharded by ZeRO-2/3 alone is FSDP, everything else Megatron-Core.
    """
    if train.attention == "unfused":
        return "unfused"
    plain = layout.zero >= 2 and layout.tp == 1 and layout.pp == 1
    return train.software or ("fsdp" if plain else "megatron")


def constants_for(stack: str, gpu: Gpu, overrides: Mapping[str, float] | None = None) -> Constants:
    """Constants of a software stack on a GPU; a GPU never fitted takes the H100's share of its measured maximum."""
    values: dict[str, float] = dict(calibration()["stacks"][stack])
    for key, by_gpu in calibration()["by_gpu"].items():
        values[key] = gpu_value(by_gpu[stack], gpu, key)
    values.update(calibration()["carried"].get(stack, {}).get(gpu.die, {}))
    values.update(overrides or {})
    return Constants(**{f.name: float(values[f.name]) for f in fields(Constants)})


def gpu_value(by_gpu: Mapping[str, float], gpu: Gpu, key: str) -> float:
    """A per-GPU constant: that of its die, else scaled from the H100 by the matmul maxima."""
    if gpu.die in by_gpu:
        return float(by_gpu[gpu.die])
    h100_maximum, fitted = 0.803, float(by_gpu["H100"])
    if key not in ("matmul_peak", "flash_attention_peak") or gpu.matmul_fraction is None:
        return fitted
    return fitted * gpu.matmul_fraction / h100_maximum


def evidence(stack: str, gpu: Gpu) -> Evidence:
    """Whether the constants of a stack were fitted on the card, carried over from another stack on it, or neither."""
    if gpu.die in calibration()["evidence"][stack]:
        return "fitted"
    return "carried" if gpu.die in calibration()["carried"].get(stack, {}) else "none"


def time_band(stack: str, gpu: Gpu, context_ways: Array, uncovered: bool) -> Array:
    """Relative error of step times, one per layout: 90th percentile of the errors on rows left out of the fit.

    What no table covers widens it (root of the sum of squares): a card on which the stack was not fitted, context
    parallelism, and an `uncovered` model (mixtures of experts, layers without plain attention).
    """
    bands, known = calibration()["bands"], evidence(stack, gpu)
    wider = bands["situations"]
    card = {"fitted": 0.0, "carried": wider["card_carried"], "none": wider["card_unseen"]}[known]
    context = np.where(context_ways > 1, wider["context_parallel"], 0.0)
    sizes = bands["step_time"][stack] ** 2 + card**2 + context**2 + (wider["experts"] ** 2 if uncovered else 0.0)
    return np.asarray(np.sqrt(sizes))
