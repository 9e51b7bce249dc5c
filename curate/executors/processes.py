"""The process executor: spawned workers that take one task at a time; a dead one is replaced and reported."""

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from curate.errors import UserError
from curate.executors.executor import Outcome

ORPHAN_CHECK_SECONDS = 0.5
COLLECT_AFTER = (20_000, 50, 100)  # pages leave no cycles: at Python's 700 objects the collector takes 8 % of a scan
OUT_OF_MEMORY = 137  # exit status of a worker that ran out of memory outside any page


class Processes:
    """`workers` processes on this machine. They start once and live as long as the executor is open.

    `nested`: their tasks may start processes, too.
    """

    def __init__(self, workers: int, nested: bool = False) -> None:
        self.workers = workers
        self.nested = nested
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return Processes, (self.workers, self.nested)

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        waiting = deque(enumerate(tasks))
        busy = self._busy
        try:
            while waiting or busy:
                while waiting and len(busy) < self.workers:
                    worker = self._idle.pop() if self._idle else _Worker(self.nested)
                    index, task = waiting.popleft()
                    if worker.give(index, function, task):
                        busy.append(worker)
                    else:
                        waiting.appendleft((index, task))  # it died while idle; the next one takes the task
                for worker in _ready(busy):
                    busy.remove(worker)
                    outcome = worker.outcome()
                    if worker.alive:
                        self._idle.append(worker)  # before the yield, from which the caller may not come back
                    yield outcome
        finally:
            self._stop(busy)

    def close(self) -> None:
        """Ends all workers, also those in the middle of a task (the run was interrupted)."""
        self._stop(self._idle)
        self._stop(self._busy)

    def _stop(self, workers: list["_Worker"]) -> None:
        while workers:
            workers.pop().stop()


def _ready(busy: list["_Worker"]) -> list["_Worker"]:
    signalled = connection.wait([w.pipe for w in busy] + [w.process.sentinel for w in busy])
    return [worker for worker in busy if worker.pipe in signalled or worker.process.sentinel in signalled]


class _Worker:
    def __init__(self, nested: bool = False) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=not nested)
        with without_interrupts():
            self.process.start()
        theirs.close()
        self.task = -1
        self.alive = True

    def give(self, index: int, function: Callable[[Any], Any], task: Any) -> bool:
        self.task = index
        try:
            self.pipe.send((function, task))
        except (BrokenPipeError, ConnectionResetError):
            self.stop()
            return False
        return True

    def outcome(self) -> Outcome:
        """The result or the death that ended the wait for this worker; raises what the task raised."""
        try:
            result, error = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self.process.join()
            self.alive = False
            self.pipe.close()
            code = self.process.exitcode or 0
            return Outcome(self.task, died=True, signal=max(0, -code), status=code if code >= 0 else None)
        if error is not None:
            self.stop()
            raise error
        return Outcome(self.task, result)

    def stop(self) -> None:
        self.alive = False
        self.process.kill()
        self.process.join()
        self.pipe.close()


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Ctrl-C waits; a process started meanwhile is born deaf to it, since it is the driver's to handle."""
    resource_tracker.ensure_running()  # its own start would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def settle(parent: int) -> None:
    """Makes this process one of a driver's: deaf to Ctrl-C, which is the driver's to handle, and ending with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _serve(pipe: Connection, parent: int) -> None:
    settle(parent)
    gc.set_threshold(*COLLECT_AFTER)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the driver is gone
        while True:
            function, task = pipe.recv()
            _answer(pipe, function, task)


def _answer(pipe: Connection, function: Callable[[Any], Any], task: Any) -> None:
    """Sends the result, or what the task raised, and in that case ends the process."""
    answer: tuple[Any, BaseException | None] = (None, None)
    try:
        answer = (function(task), None)
    finally:  # the driver raises the error again: this carries it over and swallows nothing
        error = sys.exception()
        if isinstance(error, MemoryError):
            os._exit(OUT_OF_MEMORY)
        if error is not None:
            plain = isinstance(error, UserError | OSError)
            with suppress(BrokenPipeError, ConnectionResetError):
                pipe.send((None, error if plain else RuntimeError(traceback.format_exc())))
            os._exit(1)
    pipe.send(answer)


def _end_with(parent: int) -> None:
    """Ends an orphan: a worker whose driver was killed must not go on writing."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_CHECK_SECONDS)
    os._exit(1)
