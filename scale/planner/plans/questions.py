"""Questions about memory and machines: how many GPUs, and what would make a model fit that does not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from scale.planner.models.model import Architecture
from scale.planner.models.parameters import count_parameters
from scale.planner.plans.failures import plan_checkpoints
from scale.planner.plans.plan_input import PlanInput
from scale.planner.plans.published import BESIDE_STEP, reached
from scale.planner.step.estimate import estimate_memory, estimate_step
from scale.planner.step.hardware import Cluster
from scale.planner.step.search import Limits, search
from scale.planner.step.workload import Layout, Train
from scale.refusal import Refusal

MOST_NODES = 4096
STEPS_BETWEEN = 16  # node counts tried between one that is too few and the next that is enough
MOST_SEQUENCES = 1 << 20


@dataclass(frozen=True)
class Fleet:
    """A number of GPUs with the best layout on them; `days` are those of published runs, failures included."""

    gpus: int
    layout: Layout
    verdict: str
    days: float


def days_of(inputs: PlanInput, layout: Layout) -> float:
    """Days that published runs need where tuned software runs this layout, failures included."""
    step = estimate_step(inputs.model, inputs.cluster, layout, inputs.train)
    settings = inputs.checkpoint
    losses = plan_checkpoints(
        count_parameters(inputs.model).total,
        inputs.cluster,
        layout.dp,
        settings.interval_minutes,
        settings.bytes_per_parameter,
        settings.repair_hours,
    )
    if not losses.goodput:
        return math.inf
    known = reached(
        inputs.model, inputs.cluster, inputs.train, step.mfu_full * losses.goodput / BESIDE_STEP, step.stack
    )
    return losses.days(inputs.train.tokens / step.tokens_per_second / 86400) * BESIDE_STEP * known.factor


def on(inputs: PlanInput, gpus: int) -> PlanInput:
    """The same plan on another number of GPUs, the storage with it."""
    given = inputs.cluster
    per_node = min(given.gpus_per_node, gpus)
    storage = max(2.0, 2.0 * (gpus // per_node)) * given.storage_gb_per_s / max(2.0, 2.0 * given.nodes)
    return replace(inputs, cluster=replace(given, gpus=gpus, gpus_per_node=per_node, storage_gb_per_s=storage))


def fleet(inputs: PlanInput, gpus: int) -> Fleet | None:
    """The best layout on so many GPUs, None where none fits or none is possible."""
    asked = on(inputs, gpus)
    try:
        found = search(asked.model, asked.cluster, asked.train, asked.limits)
    except Refusal:
        return None
    if not len(found.order):
        return None
    layout = found.layout(int(found.order[0]))
    memory = estimate_memory(asked.model, asked.cluster, layout, asked.train)
    return Fleet(gpus, layout, memory.verdict, days_of(asked, layout))


def fewest(inputs: PlanInput, days: float | None = None) -> Fleet | None:
    """The fewest GPUs, whole nodes beyond one, on which a layout fits and the run ends within `days` (None: ever)."""

    def enough(found: Fleet | None) -> bool:
        return found is not None and (days is None or found.days <= days)

    last = 0
    for gpus in _counts(inputs.cluster.gpus_per_node):
        found = fleet(inputs, gpus)
        if enough(found):
            better = (fleet(inputs, count) for count in _between(last, gpus, inputs.cluster.gpus_per_node))
            return next((other for other in better if enough(other)), found)
        last = gpus
    return None


def _counts(per_node: int) -> Iterator[int]:
    """1, 2, 4 … within a node, then 1, 2, 4 … nodes."""
    count = 1
    while count < per_node:
        yield count
        count *= 2
    nodes = 1
    while nodes <= MOST_NODES:
        yield nodes * per_node
        nodes *= 2


def _between(low: int, high: int, per_node: int) -> Iterator[int]:
    """Counts of whole nodes between one that is too few and one that is enough, at most `STEPS_BETWEEN` of them."""
    first, last = low // per_node + 1, high // per_node
    step = max(1, -(-(last - first) // STEPS_BETWEEN))
    yield from (nodes * per_node for nodes in range(first, last, step))


def changes_that_fit(inputs: PlanInput) -> list[str]:
    """Single changes, none of them already made, with which a layout fits."""
    train, limits = inputs.train, inputs.limits
    trials: dict[str, PlanInput] = {}
    if "full" not in limits.recompute:
        trials["limits.recompute: full"] = replace(inputs, limits=replace(limits, recompute=("full",)))
    if 3 not in limits.zero:
        trials["limits.zero: 3"] = replace(inputs, limits=replace(limits, zero=(3,)))
    if limits.micro_batch and 1 not in limits.micro_batch:
        trials["limits.micro_batch: 1"] = replace(inputs, limits=replace(limits, micro_batch=(1,)))
    if any(getattr(limits, name) for name in ("tp", "pp", "cp", "ep", "dp")):
        free = Limits(recompute=limits.recompute, zero=limits.zero, schedules=limits.schedules)
        trials["no limits on tp, cp, pp, ep and dp"] = replace(inputs, limits=free)
    if train.loss == "eager":
        trials["train.loss: fused"] = replace(inputs, train=replace(train, loss="fused"))
    if train.recipe not in ("adam8bit", "sgd"):
        trials["train.recipe: adam8bit"] = replace(inputs, train=replace(train, recipe="adam8bit"))
    if train.offload == "none":
        trials["train.offload: optimizer"] = replace(inputs, train=replace(train, offload="optimizer"))
    if not train.lora_rank:
        trials["train.lora_rank: 16 (adapters alone)"] = replace(inputs, train=replace(train, lora_rank=16))
    return [name for name, trial in trials.items() if fleet(trial, trial.cluster.gpus) is not None]


def largest_micro_batch(model: Architecture, cluster: Cluster, layout: Layout, train: Train) -> dict[str, int]:
    """Largest micro-batch (sequences) of a layout that fits, and that may fit; 0 where not even one does."""
    found = {}
    for name, verdicts in (("fits", ("fits",)), ("may_fit", ("fits", "may fit"))):
        low, high = 0, 1
        while high <= MOST_SEQUENCES and _verdict(model, cluster, layout, train, high) in verdicts:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            inside = _verdict(model, cluster, layout, train, middle) in verdicts
            low, high = (middle, high) if inside else (low, middle)
        found[name] = low
    return found


def _verdict(model: Architecture, cluster: Cluster, layout: Layout, train: Train, micro_batch: int) -> str:
    count = max(1, train.global_batch // (layout.dp * layout.micro_batch))
    batch = replace(train, global_batch=count * layout.dp * micro_batch)
    return estimate_memory(model, cluster, replace(layout, micro_batch=micro_batch), batch).verdict


def gpus_answer(inputs: PlanInput, days: float | None) -> dict[str, Any]:
    """The fewest GPUs on which the plan fits and, with `days`, the fewest that are done in time; null for none."""
    asked = {"fewest_that_fit": None} | ({} if days is None else {"fewest_for_days": days})
    card = inputs.cluster.gpu.name
    found = {key: fewest(inputs, limit) for key, limit in asked.items()}
    return {
        "name": inputs.name,
        "gpu": card,
        "days": days,
        **{key: _fleet_facts(value) for key, value in found.items()},
    }


def _fleet_facts(found: Fleet | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"gpus": found.gpus, "layout": found.layout.label(), "verdict": found.verdict, "days": found.days}
