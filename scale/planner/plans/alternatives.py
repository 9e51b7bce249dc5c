"""Beside the best layout: why not another one, and what one changed input would do to the days of the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scale.planner.plans.plan_input import PlanInput
from scale.planner.plans.questions import days_of
from scale.planner.step.arrays import Flags
from scale.planner.step.calibration import evidence, stack_of
from scale.planner.step.estimate import estimate_step
from scale.planner.step.hardware import Cluster
from scale.planner.step.search import Candidates, search
from scale.planner.step.workload import Layout
from scale.units import measure

GIB = 2.0**30
Columns = NDArray[np.int64]

# Question a reader would ask → which rows (tp, cp, pp, ep, dp, zero, b, v, recompute, schedule) answer it.
ALTERNATIVES: tuple[tuple[str, Callable[[Columns, tuple[int, ...]], Flags]], ...] = (
    ("no tensor parallelism", lambda r, best: (r[0] == 1) & (best[0] > 1)),
    ("more tensor parallelism", lambda r, best: r[0] > best[0]),
    ("no pipeline", lambda r, best: (r[2] == 1) & (best[2] > 1)),
    ("half the pipeline stages", lambda r, best: (r[2] * 2 == best[2]) & (r[2] > 1)),
    ("a pipeline", lambda r, best: (r[2] > 1) & (best[2] == 1)),
    ("no interleaving", lambda r, best: (r[7] == 1) & (best[7] > 1) & (r[2] == best[2])),
    ("no context parallelism", lambda r, best: (r[1] == 1) & (best[1] > 1)),
    ("no expert parallelism", lambda r, best: (r[3] == 1) & (best[3] > 1)),
    ("no recomputation", lambda r, best: (r[8] == 0) & (best[8] > 0)),
    ("full recomputation", lambda r, best: (r[8] == 2) & (best[8] < 2)),
    ("ZeRO-3", lambda r, best: (r[5] == 3) & (best[5] < 3)),
    (
        "plain FSDP (ZeRO-3 alone)",
        lambda r, best: (r[0] * r[1] * r[2] == 1) & (r[5] == 3) & (best[0] * best[1] * best[2] > 1),
    ),
    (
        "twice the micro-batch",
        lambda r, best: (r[6] == 2 * best[6]) & (r[0] == best[0]) & (r[1] == best[1]) & (r[2] == best[2]),
    ),
)


def rejected_layouts(inputs: PlanInput, found: Candidates, best: int) -> list[dict[str, Any]]:
    """For each alternative its fastest layout: memory it lacks, or how much slower it is and why."""
    chosen, answers = found.layouts[best], []
    columns = np.array(found.layouts, dtype=np.int64).T
    for question, belongs in ALTERNATIVES:
        rows = np.flatnonzero(belongs(columns, chosen))
        if not len(rows):
            continue
        fitting = rows[found.fits[rows]]
        pool = fitting if len(fitting) else rows
        index = int(
            pool[np.argmin(found.seconds[pool])] if len(fitting) else pool[np.argmin(found.bytes_per_gpu[pool])]
        )
        answers.append(
            {
                "alternative": question,
                "label": found.layout(index).label(),
                "fits": bool(len(fitting)),
                "reason": _reason(inputs, found, index, best),
            }
        )
    return answers


def _reason(inputs: PlanInput, found: Candidates, index: int, best: int) -> str:
    limit = inputs.cluster.memory_bytes / GIB
    if not found.fits[index]:
        return (
            f"does not fit even at its leanest: {measure(found.bytes_per_gpu[index] / GIB, 1)} GiB on the "
            f"{found.stage_name(index)} stage, {measure(limit, 1)} GiB usable"
        )
    slower = found.seconds[index] / found.seconds[best] - 1
    other, mine = (estimate_step(inputs.model, inputs.cluster, found.layout(i), inputs.train) for i in (index, best))
    differences = {cause: other.causes[cause] - mine.causes[cause] for cause in mine.causes}
    cause = max(differences, key=lambda name: differences[name])
    if slower < -0.0005:
        return f"{-100 * slower:.1f} % faster by constants that {_doubt(inputs, found.layout(index))}"
    if slower < 0.0005:
        need = (found.bytes_per_gpu[index] - found.bytes_per_gpu[best]) / GIB
        return f"as fast, {measure(abs(need), 1)} GiB {'more' if need > 0 else 'less'} memory: a matter of taste"
    measured = "" if other.stack == mine.stack else f", by the constants measured on {other.stack} runs"
    return (
        f"{100 * slower:.1f} % slower: {cause.replace('_', ' ')} takes {differences[cause]:.3g} s more "
        f"({other.causes[cause]:.3g} against {mine.causes[cause]:.3g} s per step{measured})"
    )


def _doubt(inputs: PlanInput, layout: Layout) -> str:
    """Why a layout that is timed faster ranks after the best."""
    if evidence(stack_of(inputs.train, layout), inputs.cluster.gpu) == "none":
        return "were never measured on this card"
    return "no table has for context parallelism"


WORTH_MENTIONING = 0.005


def largest_levers(inputs: PlanInput, best: Layout, days: float, count: int = 4) -> list[dict[str, Any]]:
    """Changed inputs with the change in days (a fraction, negative is faster), largest saving first."""
    found = []
    for name, changed, searched in _changes(inputs):
        new = _days(changed, None if searched else best)
        if new is not None and new < days * (1 - WORTH_MENTIONING):
            found.append({"lever": name, "days": new, "change": new / days - 1})
    return sorted(found, key=lambda lever: (lever["change"], lever["lever"]))[:count]


def _changes(inputs: PlanInput) -> list[tuple[str, PlanInput, bool]]:
    """(name, changed inputs, whether the layout is searched anew)."""
    cluster, train = inputs.cluster, inputs.train
    gpu, failures = cluster.gpu, cluster.failures_per_1000_node_days
    wires: dict[str, Cluster] = {
        "twice the network bandwidth": replace(cluster, network_gb_per_s=2 * cluster.network_gb_per_s),
        "twice the in-node bandwidth": replace(cluster, in_node_gb_per_s=2 * cluster.in_node_gb_per_s),
        "half as many failures": replace(cluster, failures_per_1000_node_days=failures / 2),
        "ten times the storage bandwidth": replace(cluster, storage_gb_per_s=10 * cluster.storage_gb_per_s),
    }
    roomy = replace(inputs, cluster=replace(cluster, gpu=replace(gpu, memory_gb=2 * gpu.memory_gb)))
    larger = replace(inputs, train=replace(train, global_batch=2 * train.global_batch))
    searched = {"twice the GPU memory": roomy, "twice the global batch": larger}
    if gpu.fp8_tflops and train.precision != "fp8":
        searched["fp8 matmuls"] = replace(inputs, train=replace(train, precision="fp8"))
    kept = [(name, replace(inputs, cluster=changed), False) for name, changed in wires.items()]
    return kept + [(f"{name} (layout searched anew)", changed, True) for name, changed in searched.items()]


def _days(inputs: PlanInput, layout: Layout | None) -> float | None:
    """Days that published runs need, failures included; None when nothing fits."""
    if layout is None:
        found = search(inputs.model, inputs.cluster, inputs.train, inputs.limits)
        if not len(found.order):
            return None
        layout = found.layout(int(found.order[0]))
    return days_of(inputs, layout)
