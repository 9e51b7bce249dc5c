"""The torchtitan peak-memory table as layouts, and the fit of the memory constants on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scale_rows import read
from scipy.optimize import least_squares

from scale.memory import RECIPES
from scale.planner.models.families import model_from_config
from scale.planner.models.model import Architecture
from scale.planner.step import calibration as constants_file
from scale.planner.step.arrays import Array, Grid, Shape
from scale.planner.step.memory import GIB, stage_memory
from scale.planner.step.stages import STAGES, ModelParameters
from scale.planner.step.workload import Layout, Train

PRIOR: dict[str, float] = {
    "working_set_copies": 4.0,
    "working_set_copies_plain": 2.5,
    "logit_bytes_eager": 10.0,
    "logit_bytes_fused": 2.0,
    "fragmentation": 0.03,
    "framework_gib": 1.0,
}
FREE = ("working_set_copies", "logit_bytes_eager", "fragmentation")


@dataclass(frozen=True)
class Peak:
    """One measured peak (GiB reserved by the allocator) with what ran."""

    case: str
    model: Architecture
    layout: Layout
    train: Train
    gib: float


def llama3(hidden: int, ffn: int, layers: int, heads: int) -> Architecture:
    return model_from_config(
        {
            "model_type": "llama",
            "hidden_size": hidden,
            "intermediate_size": ffn,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": 8,
            "vocab_size": 128256,
        },
        name=f"llama-3-{hidden}",
    )


LLAMA3 = {"8B": llama3(4096, 14336, 32, 32), "70B": llama3(8192, 28672, 80, 64), "405B": llama3(16384, 53248, 126, 128)}


def torchtitan() -> list[Peak]:
    """torchtitan's tables: FSDP2, local batch split over as many micro-batches as stages, its default.

    The loss was compiled into the model by June 2025 (the H200 rows), not yet in December 2024.
    """
    peaks = []
    for r in read("torchtitan_memory.csv"):
        pp, local = int(r["pp"]), int(r["local_batch"])
        layout = Layout(
            tp=int(r["tp"]),
            cp=int(r["cp"]),
            pp=pp,
            dp=int(r["fsdp"]),
            zero=3,
            micro_batch=max(1, local // pp),
            recompute=r["ac"],
        )  # type: ignore[arg-type]
        train = Train(int(r["seq"]), int(r["global_batch"]), loss="fused" if r["case"].startswith("H200") else "eager")
        peaks.append(Peak(r["case"], LLAMA3[r["model"]], layout, train, float(r["peak_mem_gib"])))
    return peaks


def predicted_gib(peak: Peak) -> float:
    """GiB on the fullest stage by the constants in force."""
    shape, grid = Shape.of(peak.model, peak.train), Grid.of(peak.layout, peak.train)
    parameters = ModelParameters.of(peak.model)
    stages = STAGES if peak.layout.pp > 1 else STAGES[:1]
    return (
        max(float(stage_memory(parameters, shape, grid, RECIPES[peak.train.recipe], stage).total) for stage in stages)
        / GIB
    )


def memory_errors(peaks: Sequence[Peak], memory: dict[str, float]) -> Array:
    """Relative errors of the peaks under other constants than those in force."""
    in_force = constants_file.calibration()["memory"]
    before = dict(in_force)
    in_force.update(memory)
    try:
        return np.array([predicted_gib(peak) / peak.gib - 1 for peak in peaks])
    finally:
        in_force.update(before)


def fit_memory(peaks: Sequence[Peak]) -> dict[str, float]:
    """Working-set copies, bytes per logit and allocator waste, pulled weakly to their priors."""
    origin = np.log([PRIOR[name] for name in FREE])

    def residuals(x: Array) -> Array:
        trial = {**PRIOR, **dict(zip(FREE, (float(v) for v in np.exp(x))))}
        return np.concatenate([np.log1p(memory_errors(peaks, trial)), 0.02 * (x - origin)])

    solution = least_squares(residuals, origin).x
    return {**PRIOR, **dict(zip(FREE, (float(v) for v in np.exp(solution))))}
