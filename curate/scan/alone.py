"""A page tried alone in a fresh process: is it to blame for the death of the worker that had it?"""

import os
import signal
from multiprocessing import get_context
from multiprocessing.connection import Connection

from curate.executors.executor import death
from curate.executors.processes import settle, without_interrupts
from curate.scan import guard
from curate.scan.tasks import load_run
from curate.sources import reader
from curate.sources.reader import Slice

TIMES = 3  # that a page is tried before it is held to blame for a signal that a stranger may have sent
MET, PASSED = "met", "passed"  # what the process says: the page is on the belt; it, or an error of it, came off


def verdict(work: str, file_index: int, offset: int) -> tuple[str, str] | None:
    """Reason and cause against the page at `offset` of a run's file, or None where it is innocent.

    It is guilty when its process dies, too: of a signal that accuses, or by leaving while the page is on the belt;
    of a signal that a stranger may have sent only when that strikes every time.
    """
    code = 0
    for _ in range(TIMES):
        code, word = _alone(work, file_index, offset)
        if word == PASSED or (code >= 0 and word != MET):
            return None  # an error, too, is no death: the task itself will meet and enter it
        if code >= 0 or guard.accusation(-code):
            break
    reason = "out_of_memory" if code == -signal.SIGKILL else guard.accusation(-code) or "crashed"
    return reason, f"also alone, {death(code)}"


def _alone(work: str, file_index: int, offset: int) -> tuple[int, str]:
    """Exit code of a fresh process that had this one page, and its last word."""
    context = get_context("spawn")
    report, theirs = context.Pipe(duplex=False)
    arguments = (theirs, os.getpid(), work, file_index, offset)
    process = context.Process(target=_probe, args=arguments, daemon=True)
    with without_interrupts():
        process.start()
    theirs.close()
    try:
        process.join()
    finally:
        process.kill()
    with report:
        return process.exitcode or 0, _last(report)


def _last(report: Connection) -> str:
    word = ""
    try:
        while report.poll():
            word = str(report.recv())
    except EOFError:
        pass
    return word


def _probe(report: Connection, parent: int, work: str, file_index: int, offset: int) -> None:
    """One page through the belt, under the guard."""
    settle(parent)
    try:
        run = load_run(work)
        guard.limit_memory(run.memory)
        file = run.files[file_index]
        guard.arm(run.config.cpu_seconds)
        span = next(iter(reader(run.config.input[file.source], file).read(file, Slice(offset, offset + 1))))
        if span.document is not None and span.drop is None:
            report.send(MET)
            span = span.settled()
            if span.document is not None and span.drop is None:
                run.belt.run(span.document)
    finally:
        report.send(PASSED)
        os._exit(0)  # whatever it raised, the run will meet and tell it
