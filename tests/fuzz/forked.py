"""Command lines in a process of their own, forked from this one: they may hang, crash or fill the memory."""

import os
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from curate.cli import main

CPU_SECONDS = 60  # no call of these small inputs comes near; what does not end is ended
MEMORY = 8 << 30
UNSAID = 99


class Ended(NamedTuple):
    """How a call ended: exit status, or minus the signal; what it printed."""

    line: list[str]
    status: int
    out: str
    err: str


def forked(lines: list[list[str]], folder: Path) -> list[Ended]:
    """Calls `curate` in `folder` with each of these lines. A call that takes the process along is the last one."""
    said = folder.parent / "said"
    said.mkdir(exist_ok=True)
    for path in said.iterdir():
        path.unlink()
    child = os.fork()
    if child == 0:
        try:
            _calls(lines, folder, said)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    ended = []
    for number, line in enumerate(lines):
        told = [said / f"{number}.{name}" for name in ("out", "err", "status")]
        if not told[0].exists():
            break
        code = int(told[2].read_text()) if told[2].exists() else os.waitstatus_to_exitcode(status) or -UNSAID
        ended.append(Ended(line, code, *(path.read_text("utf-8", "replace") for path in told[:2])))
    return ended


def _calls(lines: list[list[str]], folder: Path, said: Path) -> None:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number, line in enumerate(lines):
        spent = int(sum(os.times()[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (spent + CPU_SECONDS, resource.RLIM_INFINITY))
        with (said / f"{number}.out").open("w") as sys.stdout, (said / f"{number}.err").open("w") as sys.stderr:
            os.dup2(sys.stdout.fileno(), 1)
            os.dup2(sys.stderr.fileno(), 2)
            status = _status(line)
        (said / f"{number}.status").write_text(str(status))


def _status(line: list[str]) -> int:
    try:
        main(line)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        return UNSAID
    return 0
