"""Published runs against the layout the planner chooses: the error of GPU-hours on runs left out of the fit.

    python bench/scale_published.py [--write]

Each run is planned as its plan file would be: the shape, the data, the cluster, and nothing of its layout but full
recomputation where attention was unfused. With --write the constants and bands of what published runs reach are
replaced in `scale/data/calibration.json`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scale_fit import TARGET

from scale.planner import Cluster, Train, count_parameters, find_gpu
from scale.planner.models.flops import token_flops
from scale.planner.models.shape import model_from_shape
from scale.planner.plans.failures import plan_checkpoints
from scale.planner.plans.published import BESIDE_STEP, fit, log_mfu, published_rows, shape_of
from scale.planner.step.arrays import Array
from scale.planner.step.search import Limits, search
from scale.refusal import Refusal

TEAMS = {
    "LLaMA": "Meta 2023",
    "Llama 2": "Meta 2023",
    "Llama 3": "Meta 2024",
    "MPT": "MosaicML",
    "GPT-NeoX": "EleutherAI",
}
TEAMS |= {"Pythia": "EleutherAI", "Falcon": "TII", "StableLM": "Stability AI", "OLMo": "Ai2", "Nemotron": "Nvidia"}
TEAMS |= {"DeepSeek": "DeepSeek"}
COVERAGE = 0.9


@dataclass(frozen=True)
class Chosen:
    """One run: `hours` as published, `tuned` of the chosen layout with failures; both MFU count full attention."""

    name: str
    team: str
    die: str
    experts: bool
    label: str
    hours: float
    tuned: float
    tuned_mfu: float
    mfu: float
    flops: float


def chosen(row: dict[str, str], software: str = "") -> Chosen:
    """A row with the layout that the planner chooses for it, of all or of the named software."""
    model, gpu = model_from_shape(shape_of(row)), find_gpu(row["gpu"])
    cluster = Cluster(gpu, int(row["gpus"]), gpus_per_node=int(row["gpus_per_node"]))
    train = Train(
        int(row["sequence"]),
        int(row["global_batch"]),
        float(row["tokens"]),
        precision=row["precision"],  # type: ignore[arg-type]
        attention=row["attention"],  # type: ignore[arg-type]
        software=software,
    )
    limits = Limits(recompute=(row["recompute"],)) if row["recompute"] else Limits()  # type: ignore[arg-type]
    found = search(model, cluster, train, limits)
    best, layout = int(found.order[0]), found.layout(int(found.order[0]))
    goodput = plan_checkpoints(count_parameters(model).total, cluster, layout.dp).goodput
    steps = train.tokens / train.tokens_per_step
    tuned = steps * float(found.seconds[best]) * cluster.gpus / 3600 / goodput
    hours = float(row["gpu_hours"]) * (BESIDE_STEP / goodput if row["measured"] == "step" else 1.0)
    flops = token_flops(model, train.sequence)
    per_hour = flops.full_attention * train.tokens / (3600 * gpu.bf16_tflops * 1e12)
    team = next((team for start, team in TEAMS.items() if row["run"].startswith(start)), row["run"])
    mfu = per_hour / (tuned * BESIDE_STEP)
    return Chosen(
        row["run"],
        team,
        gpu.die,
        bool(row["experts"]),
        layout.label(),
        hours,
        tuned,
        mfu,
        per_hour / hours,
        flops.six_n * train.tokens,
    )


def fitted(runs: Sequence[Chosen]) -> dict[str, float]:
    return fit([r.tuned_mfu for r in runs], [r.flops for r in runs], [r.mfu for r in runs])


def residual(run: Chosen, constants: dict[str, float]) -> float:
    """log(predicted hours / published hours)."""
    return float(np.log(run.mfu) - log_mfu(run.tuned_mfu, run.flops, constants))


def bounded(run: Chosen, constants: dict[str, float]) -> float:
    """The same as the plan tells it: never fewer hours than those of tuned software."""
    predicted = min(log_mfu(run.tuned_mfu, run.flops, constants), float(np.log(run.tuned_mfu)))
    return float(np.log(run.mfu) - predicted)


def left_out(runs: Sequence[Chosen], groups: Sequence[str]) -> Array:
    """Residuals of each run by constants fitted without its group."""
    found = np.zeros(len(runs))
    for group in sorted(set(groups)):
        constants = fitted([r for r, g in zip(runs, groups) if g != group])
        for index in [i for i, g in enumerate(groups) if g == group]:
            found[index] = bounded(runs[index], constants)
    return found


def conformal(residuals: Array, coverage: float = COVERAGE) -> float:
    """The band that holds `coverage` of exchangeable residuals: the ceil((n+1)·coverage)-th smallest in size."""
    sizes = np.sort(np.abs(residuals))
    return float(sizes[min(len(sizes), int(np.ceil((len(sizes) + 1) * coverage))) - 1])


def one_factor(runs: Sequence[Chosen]) -> Array:
    """Residuals of the tuned figure times one constant factor fitted on the other runs."""
    logs = np.array([np.log(r.tuned / r.hours) for r in runs])
    return np.array([logs[i] - np.mean(np.delete(logs, i)) for i in range(len(logs))])


def inside(runs: Sequence[Chosen], residuals: Array) -> Array:
    """Whether each run lies in a band made without it: of the other runs, each left out in turn as well."""
    found = []
    for index in range(len(runs)):
        others = [r for i, r in enumerate(runs) if i != index]
        band = conformal(left_out(others, [r.name for r in others]))
        found.append(abs(residuals[index]) <= band)
    return np.array(found)


def mape(residuals: Array) -> float:
    return 100 * float(np.mean(np.abs(np.expm1(residuals))))


def bias(residuals: Array) -> float:
    return 100 * float(np.mean(np.expm1(residuals)))


def unseen(runs: Sequence[Chosen]) -> float:
    """The band on a card of which no run was fitted: each die left out in turn."""
    return conformal(left_out(runs, [r.die for r in runs]))


def lines(runs: Sequence[Chosen]) -> list[tuple[str, str, str, str]]:
    """The section "chosen by the planner" of the accuracy table."""
    alone, team = left_out(runs, [r.name for r in runs]), left_out(runs, [r.team for r in runs])
    held = inside(runs, alone)
    factor, raw = one_factor(runs), np.array([np.log(r.tuned / r.hours) for r in runs])
    share = f"{100 * np.mean(held):.0f} % in the band"
    teams, plain = (
        f"MAPE {mape(team):.1f} %, bias {bias(team):+.1f} %",
        f"MAPE {mape(raw):.1f} %, bias {bias(raw):+.1f} %",
    )
    found = [
        (
            f"chosen by the planner: GPU-hours of {len(runs)} published runs, each left out",
            "20 %, bias ± 5 %",
            f"MAPE {mape(alone):.1f} %, bias {bias(alone):+.1f} %, {share}",
            "-",
        ),
        ("the same, each team left out with all its runs", "-", teams, "-"),
        ("the same by one constant factor fitted on the other runs", "-", f"MAPE {mape(factor):.1f} %", "-"),
        ("the same by tuned software alone", "-", plain, "-"),
    ]
    situations = {
        "A100": [r.die == "A100" for r in runs],
        "H100": [r.die == "H100" for r in runs],
        "experts": [r.experts for r in runs],
    }
    shares = ", ".join(
        f"{name} {int(np.sum(held[mask]))} of {int(np.sum(mask))}"
        for name, mask in ((n, np.array(m)) for n, m in situations.items())
    )
    shards = software_residuals(runs, named())
    errors = f"MAPE {mape(shards):.1f} %, bias {bias(shards):+.1f} %"
    found.append((f"{len(shards)} runs that shard alone, planned as fsdp, each team left out", "-", errors, "-"))
    return [*found, ("runs in the band by situation", "90 %", shares, "-")]


def named() -> list[Chosen]:
    """The runs of software that shards alone, planned as that software; those whose GPUs it cannot divide left out."""
    found = []
    for row in published_rows():
        if row["software"]:
            with contextlib.suppress(Refusal):
                found.append(chosen(row, row["software"]))
    return found


def software_residuals(runs: Sequence[Chosen], shards: Sequence[Chosen]) -> Array:
    """Residuals of the named runs, shift and constants from the others: each team left out."""
    found = []
    for one in shards:
        constants = fitted([r for r in runs if r.team != one.team])
        shift = np.mean([residual(r, constants) for r in shards if r.team != one.team])
        predicted = min(log_mfu(one.tuned_mfu, one.flops, constants, float(shift)), float(np.log(one.tuned_mfu)))
        found.append(float(np.log(one.mfu) - predicted))
    return np.array(found)


def all_runs() -> list[Chosen]:
    return [chosen(row) for row in published_rows()]


def main() -> None:
    """Print every run and the section; with --write store the constants and bands."""
    runs = all_runs()
    alone = left_out(runs, [r.name for r in runs])
    print("| run | published | ours, left out | tuned | error | layout chosen |\n| --- | --- | --- | --- | --- | --- |")
    for r, e in zip(runs, alone):
        hours = (r.hours, r.hours * float(np.exp(e)), r.tuned)
        cells = " | ".join(f"{value / 1e3:,.1f}K" for value in hours)
        print(f"| {r.name} | {cells} | {100 * np.expm1(e):+.0f} % | {r.label} |")
    for line in lines(runs):
        print("| " + " | ".join(line) + " |")
    print({k: round(v, 4) for k, v in fitted(runs).items()}, round(conformal(alone), 3), round(unseen(runs), 3))
    if "--write" in sys.argv:
        data = json.loads(TARGET.read_text(encoding="utf-8"))
        constants = {key: round(value, 4) for key, value in fitted(runs).items()}
        bands = {"band": round(conformal(alone), 3), "band_unseen": round(max(unseen(runs), conformal(alone)), 3)}
        shift = float(np.mean([residual(r, fitted(runs)) for r in named()]))
        software = {"software": {"fsdp": round(shift, 4)}}
        data["published"] = {**constants, **bands, **software, "runs": len(runs), "dies": sorted({r.die for r in runs})}
        TARGET.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
