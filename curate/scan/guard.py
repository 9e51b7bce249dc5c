"""The guard for pages that slip past the caps: a cursor that says which page is on the belt, a CPU timer that the
kernel enforces even inside C code, a memory limit, and the verdicts on pages that killed their worker.

Who may be accused: SIGPROF, SEGV, BUS, ILL, FPE and ABRT speak against the page under the cursor. After any other
death that page is tried alone in a fresh process (`alone`), and only a second death there is held against it.
"""

import json
import mmap
import os
import resource
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from curate.document import Drop
from curate.durable import write_json

ACCUSING: dict[int, str] = {
    signal.SIGPROF: "hung",
    signal.SIGSEGV: "crashed",
    signal.SIGBUS: "crashed",
    signal.SIGILL: "crashed",
    signal.SIGFPE: "crashed",
    signal.SIGABRT: "crashed",
}
IDLE = -1


TOGETHER = -(1 << 40)  # the cursor's word for "a stage has many pages at once"


def sketching(number: int) -> int:
    """The cursor's word for "corpus stage `number` sketches", below all offsets and IDLE; its own inverse."""
    return IDLE - 1 - number


class Mark(NamedTuple):
    """What a cursor says: the offset of the page on the belt, and the place of its file among those of the task."""

    file: int
    offset: int


CURSOR, WORD = struct.Struct("<qq"), struct.Struct("<q")  # a Mark, and each of the two


class Cursor:
    """A `Mark` in a mapped file, where a word of `sketching`, TOGETHER or IDLE may stand for the offset.

    It survives the process.
    """

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        os.pwrite(descriptor, bytes(CURSOR.size), 0)  # takes its block now: a full disk is an error, no SIGBUS later
        self.map = mmap.mmap(descriptor, CURSOR.size)
        os.close(descriptor)
        self.set(IDLE)

    def set(self, offset: int, file: int = 0) -> None:
        if offset >= 0:
            WORD.pack_into(self.map, 0, file)  # first, and only then: a kill in between accuses nobody
        WORD.pack_into(self.map, WORD.size, offset)

    def close(self) -> None:
        self.set(IDLE)
        self.map.close()


def cursor_at(path: Path) -> Mark:
    """What a dead worker left in its cursor file; IDLE where there is none."""
    try:
        data = path.read_bytes()
    except OSError:
        return Mark(0, IDLE)
    return Mark(*CURSOR.unpack(data)) if len(data) == CURSOR.size else Mark(0, IDLE)


def arm(cpu_seconds: float | None) -> None:
    """Lets the kernel end this process after so much CPU time; None disarms."""
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds or 0)


@contextmanager
def strangers(memory: int | None) -> Iterator[None]:
    """Caps private memory while pages are at work here; whatever happens, neither that nor a timer is left behind."""
    limit_memory(memory)
    try:
        yield
    finally:
        arm(None)
        limit_memory(None)


def limit_memory(limit_bytes: int | None) -> None:
    """Caps the private memory of this process, so that a page that wants more gets a MemoryError; None lifts it.

    What allocators hold in reserve (Arrow's takes a GiB of addresses at once) is added, since the kernel counts it.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if limit_bytes is None else limit_bytes + reserved_bytes()
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def reserved_bytes() -> int:
    """Private memory of this process that was never touched; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    if not {"VmData", "RssAnon"} <= set(status):
        return 0
    return max(0, int(status["VmData"][0]) - int(status["RssAnon"][0])) << 10


def accusation(signal_number: int) -> str | None:
    """The reason that a worker's death by this signal proves against the page under its cursor."""
    return ACCUSING.get(signal_number)


class Accusations:
    """Accusations on pages that killed a worker: one file each, stored once and replayed on every resume."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def store(self, file_index: int, offset: int, reason: str, cause: str) -> None:
        write_json(self.folder / f"{file_index:06d}-{offset}.json", {"reason": reason, "cause": cause})

    def set_apart(self, task: int) -> None:
        """Lets the pages of a task pass one by one from now on: a worker died while a stage had many at once."""
        (self.folder / f"apart-{task:06d}").touch()

    def are_apart(self, task: int) -> bool:
        """Whether a task's pages pass one by one."""
        return (self.folder / f"apart-{task:06d}").exists()

    def of_files(self, numbers: range) -> dict[Mark, Drop]:
        """The verdicts on pages of some input files, by the file's place among them and the page's offset."""
        found = {}
        for path in self.folder.glob("[0-9]*-*.json"):
            file, _, offset = path.stem.partition("-")
            if int(file) in numbers:
                verdict = json.loads(path.read_text())
                page = Mark(int(file) - numbers.start, int(offset))
                found[page] = Drop(verdict["reason"], cause=verdict["cause"])
        return found
