"""The largest levers: what one changed input would do to the days of the run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scale.planner.estimate import step_time
from scale.planner.failures import plan_checkpoints
from scale.planner.hardware import Cluster
from scale.planner.layouts import search
from scale.planner.model import count_parameters
from scale.planner.plan_input import PlanInput
from scale.planner.workload import Layout

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
    """Wall-clock days with failures; None when nothing fits."""
    if layout is None:
        found = search(inputs.model, inputs.cluster, inputs.train, inputs.limits)
        if not len(found.order):
            return None
        layout = found.layout(int(found.order[0]))
    seconds = float(step_time(inputs.model, inputs.cluster, layout, inputs.train).total.ravel()[0])
    days = inputs.train.tokens / inputs.train.tokens_per_step * seconds / 86400
    losses = plan_checkpoints(
        count_parameters(inputs.model).total,
        inputs.cluster,
        layout.dp,
        inputs.checkpoint.interval_minutes,
        inputs.checkpoint.bytes_per_parameter,
    )
    return losses.days(days)
