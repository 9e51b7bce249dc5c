"""Whether a stranger's model file can be loaded at all: a child process tries it first.

fastText believes what a file says of its own sizes: one that is cut hangs or divides by zero, one that is made up
fills the memory. In a child, each of these is one sentence.
"""

import signal
import subprocess
import sys
from functools import lru_cache
from multiprocessing import parent_process
from pathlib import Path

from stages.models import load_alone

PROGRAM = Path(load_alone.__file__)
SPACE, SPACE_PER_BYTE = 3 << 30, 12  # address space: library and stacks, and what a loaded file unfolds to
CPU_SECONDS, BYTES_PER_SECOND = 10, 20_000_000  # far below what a slow disk and an old core read
PATIENCE = 6  # times the CPU time that it may take by the clock


def check_loads(kind: str, path: str) -> None:
    """Raises ValueError, with the cause in a few words, where a file can't be loaded as `kind`
    (`stages.models.load_alone.LOADERS` has them).

    A worker's parent has read the same config and so tried the same files: workers try none.
    """
    if parent_process() is None:
        status = Path(path).stat()
        fault = _fault(kind, path, status.st_size, status.st_mtime_ns)
        if fault:
            raise ValueError(fault)


@lru_cache(maxsize=16)
def _fault(kind: str, path: str, size: int, _mtime: int) -> str:
    """What goes wrong when the file is loaded, "" for nothing; asked once as long as the file is the same."""
    space, seconds = SPACE + SPACE_PER_BYTE * size, CPU_SECONDS + size // BYTES_PER_SECOND
    command = [sys.executable, "-P", str(PROGRAM), kind, path, str(space), str(seconds)]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=PATIENCE * seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"loading it did not end in {PATIENCE * seconds} seconds"
    complaint = ended.stderr.decode("utf-8", "replace").strip()
    if ended.returncode == load_alone.TOO_LARGE:
        return f"its {size:,} bytes ask for more than {space >> 20:,} MiB of memory"
    if ended.returncode == load_alone.REFUSED:
        return complaint or "the library refuses it"
    if ended.returncode == -signal.SIGXCPU:
        return f"loading it did not end in {seconds} seconds of CPU time"
    if ended.returncode < 0:
        return f"whoever loads it is ended by {signal.Signals(-ended.returncode).name}"
    return (
        (complaint.splitlines() or [f"loading it ended with status {ended.returncode}"])[-1] if ended.returncode else ""
    )
