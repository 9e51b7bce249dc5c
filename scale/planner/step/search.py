"""The search: every layout that can be, timed and weighed in one vectorised evaluation, then ranked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from scale.planner.models.model import Architecture
from scale.planner.step.arrays import Array, Flags, Grid, Rates, Shape
from scale.planner.step.calibration import calibration, constants_for, evidence, stack_of
from scale.planner.step.hardware import Cluster
from scale.planner.step.memory import least_bytes, worst_stage
from scale.planner.step.stages import STAGES, ModelParameters, heaviest_stage, reduced_bytes
from scale.planner.step.steptime import StageParameters, step_seconds
from scale.planner.step.workload import RECOMPUTES, SCHEDULES, Layout, Recompute, Train, chunks_divide
from scale.refusal import Refusal, require

MICRO_BATCHES = (1, 2, 4, 8, 16)
MOST_STAGES, MOST_CHUNKS = 64, 64
SHORTEST_CONTEXT_PART = 4096  # tokens: cutting a sequence finer than this only adds communication


@dataclass(frozen=True)
class Limits:
    """What the search may use; None leaves a dimension free. `tp` never exceeds a node unless it is listed."""

    tp: tuple[int, ...] | None = None
    cp: tuple[int, ...] | None = None
    pp: tuple[int, ...] | None = None
    ep: tuple[int, ...] | None = None
    dp: tuple[int, ...] | None = None
    zero: tuple[int, ...] = (0, 1, 2, 3)
    micro_batch: tuple[int, ...] | None = None
    interleave: tuple[int, ...] | None = None
    recompute: tuple[Recompute, ...] = RECOMPUTES
    schedules: tuple[str, ...] = ("1f1b",)

    def __post_init__(self) -> None:
        known = {"zero": (0, 1, 2, 3), "recompute": RECOMPUTES, "schedules": SCHEDULES}
        for bound in fields(self):
            values = getattr(self, bound.name)
            require(values is None or len(values) > 0, f"limits.{bound.name}: is empty; leave it out to search all")
            for value in values or ():
                allowed = value in known[bound.name] if bound.name in known else value >= 1
                choices = ", ".join(map(str, known.get(bound.name, ("whole numbers of at least 1",))))
                require(allowed, f"limits.{bound.name}: {value!r} is not possible; give {choices}")


@dataclass(frozen=True)
class Candidates:
    """Layouts with their times and memory as arrays; `order` ranks those that fit, or where none does those that may,
    fastest first."""

    layouts: Sequence[tuple[int, ...]]
    schedules: Sequence[str]
    seconds: Array
    bytes_per_gpu: Array
    stage: Array
    fits: Flags
    order: NDArray[np.intp] = field(repr=False)

    def layout(self, index: int) -> Layout:
        tp, cp, pp, ep, dp, zero, micro, interleave, recompute, _ = self.layouts[index]
        return Layout(
            tp,
            cp,
            pp,
            ep,
            dp,
            zero,
            micro,
            interleave,
            self.schedules[index],
            RECOMPUTES[recompute],
            sequence_parallel=tp > 1,
        )

    def stage_name(self, index: int) -> str:
        return STAGES[int(self.stage[index])]


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]


def powers_of_two(limit: int) -> list[int]:
    return [1 << bit for bit in range(limit.bit_length()) if 1 << bit <= limit]


def software_limits(train: Train, limits: Limits) -> Limits:
    """The limits narrowed to what the named software does: FSDP shards and has no pipeline, Megatron keeps weights."""
    if train.software == "fsdp":
        zeros = tuple(z for z in limits.zero if z >= 2)
        require(bool(zeros), "limits.zero: fsdp shards at stage 2 or 3; give one of them or other software")
        return replace(limits, pp=limits.pp or (1,), zero=zeros)
    if train.software == "megatron" and limits.zero == Limits().zero:
        return replace(limits, zero=(0, 1))
    return limits


def _splits(model: Architecture, cluster: Cluster, train: Train, limits: Limits) -> Iterator[tuple[int, int, int, int]]:
    """(tp, cp, pp, dp) that use all GPUs and divide heads, sequence, layers and batch."""
    for tp in limits.tp or powers_of_two(min(cluster.gpus_per_node, cluster.gpus)):
        if model.attention.heads % tp or cluster.gpus % tp:
            continue
        most_cp = max(1, train.sequence // SHORTEST_CONTEXT_PART)
        for cp in limits.cp or powers_of_two(most_cp):
            if cluster.gpus % (tp * cp) or (cp > 1 and train.sequence % (2 * cp)):
                continue
            rest = cluster.gpus // (tp * cp)
            for pp in limits.pp or [p for p in range(1, min(model.layers, MOST_STAGES) + 1) if rest % p == 0]:
                if rest % pp or pp > model.layers:
                    continue
                dp = rest // pp
                if train.global_batch % dp == 0 and (not limits.dp or dp in limits.dp):
                    yield tp, cp, pp, dp


def _chunks(model: Architecture, pp: int, limits: Limits) -> list[int]:
    most = -(-model.layers // pp)
    if pp == 1:
        return [1]
    return [
        v
        for v in limits.interleave or range(1, min(most, MOST_CHUNKS) + 1)
        if v == 1 or chunks_divide(model.layers, pp, v)
    ]


def schedule_possible(schedule: str, layers: int, stages: int, interleave: int, micro_batches: int) -> bool:
    """Zero-bubble schedules and DualPipe replace interleaving.

    ZBV needs two chunks a stage and 2p micro-batches to reach zero; DualPipe even stages and 2p micro-batches, half of
    them from either end.
    """
    if schedule == "1f1b" or stages == 1:
        return True
    enough = micro_batches >= 2 * stages
    if schedule == "dualpipe":
        return interleave == 1 and stages % 2 == 0 and micro_batches % 2 == 0 and enough
    return interleave == 1 and (schedule != "zbv" or (layers >= 2 * stages and enough))


def _zeros(train: Train, limits: Limits, replicas: int) -> list[int]:
    """ZeRO stages worth trying: none to choose on one replica; a recipe that always shards starts at 1."""
    least = 1 if train.state.sharded else 0
    if replicas == 1:
        return [min(max(z, least) for z in limits.zero)]
    return sorted({max(z, least) for z in limits.zero})


def _enumerate(
    model: Architecture, cluster: Cluster, train: Train, limits: Limits
) -> tuple[list[tuple[int, ...]], list[str]]:
    """All rows (tp, cp, pp, ep, dp, zero, b, v, recompute, schedule) within the limits, in a fixed order."""
    rows: list[tuple[int, ...]] = []
    experts = model.experts.count if model.experts else 1
    recomputes = [RECOMPUTES.index(name) for name in limits.recompute]
    for tp, cp, pp, dp in _splits(model, cluster, train, limits):
        ways = [e for e in limits.ep or divisors(math.gcd(experts, dp * cp)) if experts % e == 0 and (dp * cp) % e == 0]
        micros = [b for b in limits.micro_batch or MICRO_BATCHES if train.global_batch % (dp * b) == 0]
        zeros = _zeros(train, limits, dp * cp)
        schedules = range(len(limits.schedules)) if pp > 1 else range(1)
        for v, b in product(_chunks(model, pp, limits), micros):
            if v > 1 and (train.global_batch // (dp * b)) % pp:
                continue
            for ep, z, rc, schedule in product(ways, zeros, recomputes, schedules):
                if schedule_possible(limits.schedules[schedule], model.layers, pp, v, train.global_batch // (dp * b)):
                    rows.append((tp, cp, pp, ep, dp, z, b, v, rc, schedule))
    return rows, [limits.schedules[row[-1]] if row[2] > 1 else "1f1b" for row in rows]


def _grid(rows: Array, schedules: Sequence[str], train: Train) -> Grid:
    tp, cp, pp, ep, dp, zero, micro, interleave, recompute, _ = rows.T
    kinds = set(zip(pp.tolist(), schedules))
    share = {kind: Layout(pp=int(kind[0]), schedule=kind[1]).bubble_share for kind in kinds}
    return Grid(
        tp,
        cp,
        pp,
        ep,
        dp,
        zero,
        micro,
        interleave,
        train.global_batch / (dp * micro),
        recompute,
        (tp > 1).astype(np.float64),
        np.array([share[kind] for kind in zip(pp.tolist(), schedules)]),
        np.array([name == "dualpipe" for name in schedules], dtype=np.float64),
    )


def search(model: Architecture, cluster: Cluster, train: Train, limits: Limits | None = None) -> Candidates:
    """Time and weigh every layout within the limits. Raises `Refusal` when there is none at all.

    Ranking: layouts whose fullest stage fits (may fit, where none does); those with evidence on the card before any
    without; by seconds per step, context parallelism by the slow edge of its band; ties go to the simpler one (less
    recomputation, fewer ways), so the order is the same on every run.
    """
    bounds = software_limits(train, limits or Limits())
    require(
        cluster.gpu.runs(train.precision),
        f"precision {train.precision}: {cluster.gpu.name} has no {train.precision}; choose bf16",
    )
    listed, schedules = _enumerate(model, cluster, train, bounds)
    if not listed:
        raise Refusal(_nothing(model, cluster, train))
    rows = np.array(listed, dtype=np.float64)
    grid, shape, parameters = _grid(rows, schedules, train), Shape.of(model, train), ModelParameters.of(model)
    timed = layout_seconds(model, cluster, train, grid)
    total, stage = worst_stage(parameters, shape, grid, train.state)
    fits = total <= cluster.memory_bytes
    # Stable: equal times keep the simpler layout first.
    keys = (rows[:, 7], rows[:, 2], rows[:, 1], rows[:, 0], rows[:, 8], rows[:, 5], np.round(timed.slow, 9))
    order = np.lexsort((*keys, timed.without_evidence, ~fits))
    usable = fits
    if not np.any(fits):  # only then does it matter what may fit
        usable = least_bytes(parameters, shape, grid, train.state) <= cluster.memory_bytes
    return Candidates(listed, schedules, timed.seconds, total, stage, fits, order[usable[order]])


@dataclass(frozen=True)
class Timed:
    """Seconds per step of every layout, their slow edge where no table covers one (context parallelism), and which of
    them rest on constants that have no evidence on the card."""

    seconds: Array
    slow: Array
    without_evidence: Flags


def layout_seconds(model: Architecture, cluster: Cluster, train: Train, grid: Grid) -> Timed:
    """Seconds per step of every row, each with the constants of the software that runs it."""
    shape, rates = Shape.of(model, train), Rates.of(cluster, train.precision)
    heavy = heaviest_stage(ModelParameters.of(model), model.layers, grid)
    reduced = reduced_bytes(train.state, grid.zero)
    sharded = (grid.zero >= 2) & (grid.tp <= 1) & (grid.pp <= 1)
    seconds, unknown = np.empty(len(grid.tp)), np.zeros(len(grid.tp), dtype=bool)
    for rows, layout in ((sharded, Layout(zero=3)), (~sharded, Layout(zero=1))):
        if np.any(rows):
            part = grid.take(rows)
            held = StageParameters(*(getattr(heavy, f.name)[rows] for f in fields(StageParameters)))
            stack = stack_of(train, layout)
            constants = constants_for(stack, cluster.gpu)
            seconds[rows] = step_seconds(shape, part, held, reduced[rows], rates, constants).total
            unknown[rows] = evidence(stack, cluster.gpu) == "none"
    if np.all(unknown):
        unknown[:] = False
    wider = calibration()["bands"]["situations"]["context_parallel"]
    return Timed(seconds, seconds * np.where(grid.cp > 1, 1 + wider, 1.0), unknown)


def _nothing(model: Architecture, cluster: Cluster, train: Train) -> str:
    return (
        f"no layout divides {cluster.gpus} GPUs, a global batch of {train.global_batch} sequences and "
        f"{model.attention.heads} heads of {model.name} within the limits; change the batch to a multiple of the "
        "replicas or loosen the limits"
    )
