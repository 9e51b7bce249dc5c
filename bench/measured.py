"""What a command costs, over its whole process tree: CPU seconds, wall seconds, peak memory. Linux only.

CPU is what the kernel booked on every process below this one (also on orphans, which are adopted and waited for).
Memory is sampled every 0.1 s: the sum of PSS, in which pages that processes share count once, and the largest
anonymous memory of any one process.
"""

import ctypes
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.1
KILL_AFTER = 3_600


@dataclass(frozen=True)
class Cost:
    """One run. `printed` is the JSON object on the last line that the command printed, {} where there is none."""

    cpu: float
    wall: float
    tree_mb: float
    process_mb: float
    printed: dict[str, Any]


class Failed(Exception):
    """The command ended with another status than 0; says what it printed last."""


class _Memory(threading.Thread):
    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.over = root, threading.Event()
        self.tree = self.process = 0

    def run(self) -> None:
        while not self.over.wait(SAMPLE_SECONDS):
            pss = 0
            for pid in tree_of(self.root):
                held_bytes = held(pid)
                pss += held_bytes.get("Pss", 0)
                self.process = max(self.process, held_bytes.get("Anonymous", 0))
            self.tree = max(self.tree, pss)


def tree_of(root: int) -> list[int]:
    """The root and all below it."""
    found = [root]
    for pid in found:
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def held(pid: int) -> dict[str, int]:
    """Bytes by kind, from smaps_rollup; {} for a process that is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    return {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines)}


def measure(command: Sequence[str | Path], environment: dict[str, str] | None = None, status: int = 0) -> Cost:
    """Runs a command to its end. Raises Failed when its exit status is not `status`."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        memory = _Memory(process.pid)
        memory.start()
        ended, cpu = _wait_for(process.pid)
        wall = time.monotonic() - start
        memory.over.set()
        memory.join()
        process.returncode = ended
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    if ended != status:
        raise Failed(f"{' '.join(map(str, command))}: exit status {ended}\n" + "\n".join(lines[-15:]))
    return Cost(cpu, wall, memory.tree / 1e6, memory.process / 1e6, _last_object(lines))


def _wait_for(root: int) -> tuple[int, float]:
    """The exit status of the root, and the CPU seconds of it and of everything that it left behind."""
    pid, state, used = os.wait4(root, 0)
    cpu = used.ru_utime + used.ru_stime
    end = time.monotonic() + KILL_AFTER
    while True:
        try:
            pid, _, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return os.waitstatus_to_exitcode(state), cpu
        if pid:
            cpu += used.ru_utime + used.ru_stime
        elif time.monotonic() < end:
            end = min(end, time.monotonic() + 5)  # orphans, such as a fork server, end with their pipes
            time.sleep(0.05)
        else:
            for orphan in tree_of(os.getpid())[1:]:
                os.kill(orphan, signal.SIGKILL)


def _last_object(lines: list[str]) -> dict[str, Any]:
    for line in reversed(lines):
        if line.startswith("{"):
            content: dict[str, Any] = json.loads(line)
            return content
    return {}


def side_by_side(work: dict[str, Callable[[], Cost]], times: int, say: Callable[[str], None]) -> dict[str, list[Cost]]:
    """Each piece of work `times` times, taking turns, so that a busy minute on the machine hits all of them."""
    costs: dict[str, list[Cost]] = {name: [] for name in work}
    for turn in range(times):
        for name, run in work.items():
            cost = run()
            costs[name].append(cost)
            say(f"  {turn + 1}/{times} {name}: {cost.cpu:.1f} s CPU, {cost.wall:.1f} s")
    return costs


def middle(costs: list[Cost], field: str) -> float:
    """The median of one field."""
    return float(median(getattr(cost, field) for cost in costs))
