"""Checkpoints and failures: bytes, pause, interval, and what a run loses to saving, losing and restarting."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scale.checkpoint import daly_checkpoint_interval, optimal_checkpoint_interval, wasted_fraction
from scale.planner.step.hardware import Cluster

MINUTES_PER_DAY = 24 * 60
BYTES_PER_PARAMETER = 14  # fp32 master weights 4, moments 8, and the 16-bit copy 2; 12 without the copy


@dataclass(frozen=True)
class CheckpointPlan:
    """Interval and waste of a run that restarts from checkpoints. Waste parts are fractions of wall-clock time, lost
    at `interval_minutes`.

    `drop_replica_waste` is the other way to live with failures (torchft): the failed replica is left out until
    repaired, which costs 1/replicas of the throughput for `repair_hours`.
    """

    bytes: float
    write_minutes: float
    mean_minutes_between_failures: float
    young_minutes: float
    daly_minutes: float
    interval_minutes: float
    saving: float
    losing: float
    restarting: float
    drop_replica_waste: float
    repair_hours: float

    @property
    def waste(self) -> float:
        return min(self.saving + self.losing + self.restarting, 1.0)

    @property
    def goodput(self) -> float:
        """Share of wall-clock time that moves training forward."""
        return 1 - self.waste

    def days(self, days_without_failures: float) -> float:
        """Wall-clock days with failures: days/(1 - waste); infinite when nothing gets done."""
        return days_without_failures / self.goodput if self.goodput > 0 else math.inf

    def failures(self, wall_clock_days: float) -> float:
        """Expected number of failures in that time."""
        return wall_clock_days * MINUTES_PER_DAY / self.mean_minutes_between_failures


def plan_checkpoints(
    parameters: float,
    cluster: Cluster,
    replicas: int = 1,
    interval_minutes: float | None = None,
    bytes_per_parameter: float = BYTES_PER_PARAMETER,
    repair_hours: float = 4.0,
) -> CheckpointPlan:
    """Checkpoint bytes, pause, Young's and Daly's interval, and the waste at Young's (or at a given interval).

    The pause is the whole write at the cluster's storage bandwidth (GB/s, 10^9 bytes); an asynchronous writer
    pauses less, so the waste is an upper bound.
    """
    size = parameters * bytes_per_parameter
    write = size / (cluster.storage_gb_per_s * 1e9) / 60
    between = cluster.mean_minutes_between_failures
    if math.isinf(between):
        return CheckpointPlan(
            size, write, between, math.inf, math.inf, interval_minutes or math.inf, 0.0, 0.0, 0.0, 0.0, repair_hours
        )
    young = optimal_checkpoint_interval(write, between)
    interval = interval_minutes or young
    total = wasted_fraction(interval, write, between, cluster.restart_minutes)
    saving, restarting = write / interval, cluster.restart_minutes / between
    down = min(1.0, repair_hours * 60 / between / max(replicas, 1))
    return CheckpointPlan(
        size,
        write,
        between,
        young,
        daly_checkpoint_interval(write, between),
        interval,
        saving,
        total - saving - restarting,
        restarting,
        down,
        repair_hours,
    )
