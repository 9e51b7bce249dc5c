"""Executors: one function, `map(function, tasks)`. Stages and tasks never see which one runs them.

Functions are module level, tasks and results small and picklable; data goes through files.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from curate.errors import UserError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one task ended: `result`, or the death of the worker that had it, by a signal or by leaving on its own."""

    task: int  # index in the sequence given to map
    result: Any = None
    died: bool = False
    signal: int = 0  # 0 where there was none, or where it is not known
    status: int | None = None  # exit status of a worker that left on its own

    @property
    def death(self) -> str:
        """What ended the worker, in words."""
        return death(-self.signal if self.signal else self.status)


def death(code: int | None) -> str:
    """How a process ended, in words, by its exit code (negative for a signal; None where it is not known)."""
    if code is None:
        return "lost"
    return f"signal {-code}" if code < 0 else f"exit status {code}"


class Executor(Protocol):
    """Runs tasks somewhere. An exception inside a task is raised by `map`; a dead worker is an outcome.

    Pickled, it is a recipe for another one of its kind, in another process.
    """

    @property
    def workers(self) -> int:
        """How many tasks run at once."""

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        """Outcomes as they come, in any order, one for each task."""

    def close(self) -> None:
        """Ends what it started; it maps no more."""


@dataclass(frozen=True)
class Serial:
    """One task after the other in this process."""

    workers: int = 1

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        for index, task in enumerate(tasks):
            yield Outcome(index, function(task))

    def close(self) -> None:
        """Nothing to end."""


def results(executor: Executor, function: Callable[[T], R], tasks: Sequence[T], tries: int = 3) -> list[R]:
    """All results in task order; tasks whose worker died are tried again.

    Raises UserError when a worker died `tries` times over the same task.
    """
    done: dict[int, R] = {}
    for _ in range(tries):
        waiting = [index for index in range(len(tasks)) if index not in done]
        if not waiting:
            break
        for outcome in executor.map(function, [tasks[index] for index in waiting]):
            if not outcome.died:
                done[waiting[outcome.task]] = outcome.result
    if len(done) < len(tasks):
        lost = next(index for index in range(len(tasks)) if index not in done)
        name = getattr(function, "__name__", "task")
        raise UserError(
            f"{name}: the worker died {tries} times over {tasks[lost]}; see its memory and the disk, then run again"
        )
    return [done[index] for index in range(len(tasks))]
