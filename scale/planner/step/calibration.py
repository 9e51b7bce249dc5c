"""The calibrated constants: few, physical, in one data file with their provenance."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from scale.planner.step.hardware import Gpu


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
    fp8_gain: float


@functools.lru_cache(maxsize=1)
def calibration() -> dict[str, Any]:
    """The whole of `scale/data/calibration.json`: constants, measured error bands, provenance."""
    text = resources.files("scale").joinpath("data/calibration.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def stack_of(attention: str, zero: int, tensor_ways: int = 1, stages: int = 1) -> str:
    """The software a run is like: `unfused` (Megatron-LM 2021-22), `fsdp` (sharded by ZeRO-2/3), else `megatron`."""
    if attention == "unfused":
        return "unfused"
    return "fsdp" if zero >= 2 and tensor_ways == 1 and stages == 1 else "megatron"


def constants_for(stack: str, gpu: Gpu, overrides: Mapping[str, float] | None = None) -> Constants:
    """Constants of a software stack on a GPU; a GPU never fitted takes the H100's share of its measured maximum."""
    values: dict[str, float] = dict(calibration()["stacks"][stack])
    for key, by_gpu in calibration()["by_gpu"].items():
        values[key] = gpu_value(by_gpu[stack], gpu, key)
    values.update(overrides or {})
    return Constants(**{f.name: float(values[f.name]) for f in fields(Constants)})


def gpu_value(by_gpu: Mapping[str, float], gpu: Gpu, key: str) -> float:
    """A per-GPU constant: by the longest matching name, else scaled from the H100 by the matmul maxima."""
    names = [name for name in by_gpu if gpu.name.upper().startswith(name.upper())]
    if names:
        return float(by_gpu[max(names, key=len)])
    h100_maximum, fitted = 0.803, float(by_gpu["H100"])
    if key not in ("matmul_peak", "flash_attention_peak") or gpu.matmul_fraction is None:
        return fitted
    return fitted * gpu.matmul_fraction / h100_maximum
