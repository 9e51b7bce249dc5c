"""What a run writes of itself while it works: `live.json` in the work folder, about once a second, for `curate top`.

It holds what finished tasks came to; of the tasks at work their own `state.json` tells. Nothing of it is output.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from heapq import nlargest
from pathlib import Path
from types import TracebackType
from typing import Any, TypedDict

from curate.durable import write_json
from curate.scan.blocks import SLOWEST
from curate.scan.tasks import ScanResult, ScanTask

NAME = "live.json"
Dropped = dict[str, dict[str, int]]  # documents by stage and reason
SECONDS = 1.0  # between two writings


class SlowPage(TypedDict):
    """A page that took long: CPU nanoseconds, the number of its file, its offset."""

    cpu_ns: int
    file: int
    offset: int


class LiveFacts(TypedDict):
    """`live.json`. `before` counts what an earlier call had done; times are seconds since 1970."""

    started: float
    phase: str  # plan, scan, decide or write
    phase_started: float
    workers: int
    limit: int | None
    tasks: int
    tasks_done: int
    bytes: int  # of the input files
    bytes_done: int
    bytes_before: int
    documents: int
    documents_before: int
    survivors: int
    failed: int
    failure: str | None
    dropped: Dropped
    slowest: list[SlowPage]


def added(total: Dropped, some: Mapping[str, Mapping[str, int]], sign: int = 1) -> None:
    """Adds counts by stage and reason to others, or takes them away."""
    for stage, reasons in some.items():
        of_stage = total.setdefault(stage, {})
        for reason, number in reasons.items():
            of_stage[reason] = of_stage.get(reason, 0) + sign * number


class Live:
    """Writes `live.json` while a run works. It is called for each step and passes that on to `watching`."""

    def __init__(self, work: Path, workers: int, watching: Callable[[str, Mapping[str, Any]], None]) -> None:
        self.path, self.watching = work / NAME, watching
        now = time.time()
        self.facts: LiveFacts = {
            "started": now,
            "phase": "plan",
            "phase_started": now,
            "workers": workers,
            "limit": None,
            "tasks": 0,
            "tasks_done": 0,
            "bytes": 0,
            "bytes_done": 0,
            "bytes_before": 0,
            "documents": 0,
            "documents_before": 0,
            "survivors": 0,
            "failed": 0,
            "failure": None,
            "dropped": {},
            "slowest": [],
        }
        self.dropped: dict[int, Dropped] = {}  # of each task that is done
        self.lock, self.stop, self.changed = threading.Lock(), threading.Event(), True

    def __enter__(self) -> "Live":
        self.thread = threading.Thread(target=self._beat, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        self.thread.join()
        self._write()

    def __call__(self, phase: str, about: Mapping[str, Any]) -> None:
        """A phase begins, or goes on."""
        with self.lock:
            now = "scan" if phase == "plan" else phase  # a plan that is told stands
            if now != self.facts["phase"]:
                self.facts["phase"], self.facts["phase_started"] = now, time.time()
            if phase == "plan":
                self.facts["limit"], self.facts["tasks"] = about["limit"], len(about["tasks"])
                self.facts["bytes"] = sum(task.bytes for task in about["tasks"])
            self.changed = True
        self.watching(phase, about)

    def scanned(self, task: ScanTask, result: ScanResult, size: int) -> None:
        """A task is done. One that a trial run lets read further is told again, with what is new of its documents.

        One that is done again since it began at the wrong place counts as it was at first.
        """
        known = self.dropped.get(task.index)
        if known is None or task.limit is not None:
            self._count(result, size, known)
            self.dropped[task.index] = result["dropped"]
        self("scan", {**result, "read": size})

    def _count(self, result: ScanResult, size: int, known: Dropped | None) -> None:
        facts, before = self.facts, result["ended"] < self.facts["started"]
        size = 0 if known else size
        with self.lock:
            facts["tasks_done"] += known is None
            facts["bytes_done"] += size
            facts["bytes_before"] += size if before else 0
            facts["documents"] += result["documents"]
            facts["documents_before"] += result["documents"] if before else 0
            facts["survivors"] += result["survivors"]
            facts["failed"] += result["failed"] if known is None else 0
            facts["failure"] = facts["failure"] or result["failure"]
            added(facts["dropped"], known or {}, -1)
            added(facts["dropped"], result["dropped"])
            facts["slowest"] = slowest([*facts["slowest"], *pages(result["slowest"])])

    def _beat(self) -> None:
        self._write()
        while not self.stop.wait(SECONDS):
            self._write()

    def _write(self) -> None:
        with self.lock, suppress(OSError):  # a full disk stops the run elsewhere, with a sentence
            if self.changed:
                write_json(self.path, self.facts)
                self.changed = False


def pages(slow: list[list[int]]) -> list[SlowPage]:
    """The slow pages that a task names by time, file and offset."""
    return [{"cpu_ns": spent, "file": file, "offset": offset} for spent, file, offset in slow]


def slowest(slow: list[SlowPage]) -> list[SlowPage]:
    """The slowest of some pages, slowest first."""
    return nlargest(SLOWEST, slow, key=lambda page: (page["cpu_ns"], -page["file"], -page["offset"]))
