"""The scan phase of a run: plans the slices, sees every task through, whatever dies, and checks that they meet."""

import shutil
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from curate import guard
from curate.config import Config
from curate.errors import UserError
from curate.executor import Executor, Outcome
from curate.processes import without_interrupts
from curate.scan import scan
from curate.source import InputFile, Slice
from curate.sources import find_files, identity, reader
from curate.tasks import ScanTask, load_run, load_tasks, save_tasks

SMALLEST_SLICE, LARGEST_SLICE = 1 << 20, 64 << 20
SLICES_A_WORKER = 8
MOST_TASKS = 100_000
STRIKES = 5  # deaths at one place, none of which accuses a page, before the run gives up
TIMES_ALONE = 3  # that a page is tried alone before it is held to blame for a SIGKILL
PROBE_OUT_OF_MEMORY = 137

Progress = Callable[[dict[str, Any]], None]


def input_files(config: Config) -> list[InputFile]:
    """All files of all sources in config order. Raises UserError when one stands twice."""
    files: list[InputFile] = []
    seen: dict[str, str] = {}
    for source, settings in config.input.items():
        for file in find_files(source, settings):
            place = identity(file.name)
            if place in seen:
                raise UserError(
                    f"input.{source}: '{file.name}' is read twice (also by input.{seen[place]}); name it once"
                )
            seen[place] = source
            files.append(file)
    return files


def slice_size(total: int, workers: int, wanted: int | None = None) -> int:
    """Bytes of a slice: what is wanted, or several a worker, so that all are busy to the end.

    Never so few that there were more than `MOST_TASKS` in all.
    """
    several = total // (workers * SLICES_A_WORKER)
    return max(wanted or max(SMALLEST_SLICE, min(several, LARGEST_SLICE)), total // MOST_TASKS)


def plan(config: Config, files: list[InputFile], work: Path, size: int, limit: int | None) -> list[ScanTask]:
    """The scan tasks. They are fixed when a run starts and read back when it resumes."""
    with suppress(FileNotFoundError):
        return load_tasks(str(work))
    tasks: list[ScanTask] = []
    for index, file in enumerate(files):
        parts = [Slice()] if limit is not None else reader(config.input[file.source], file).slices(file, size)
        tasks += [ScanTask(str(work), len(tasks) + number, index, part, limit) for number, part in enumerate(parts)]
    save_tasks(work, tasks)
    return tasks


def crawl(tasks: list[ScanTask], executor: Executor, progress: Progress) -> list[dict[str, Any]]:
    """The results of all scan tasks, in order."""
    _try_leftovers(tasks)
    done: dict[int, dict[str, Any]] = {}
    if tasks and tasks[0].limit is not None:
        return _up_to_limit(tasks, executor, progress)
    see_through(tasks, executor, progress, done)
    for _ in range(len(tasks)):
        wrong = _gaps(tasks, done)
        if not wrong:
            break
        for task in wrong:
            shutil.rmtree(task.folder, ignore_errors=True)
            done.pop(task.index)
        see_through(wrong, executor, progress, done)
    return [done[task.index] for task in tasks]


def _up_to_limit(tasks: list[ScanTask], executor: Executor, progress: Progress) -> list[dict[str, Any]]:
    """File after file until the limit is reached; the tasks behind it read nothing."""
    done: dict[int, dict[str, Any]] = {}
    left = tasks[0].limit or 0
    for task in tasks:
        limited = ScanTask(task.work, task.index, task.file_index, task.part, left)
        see_through([limited], executor, progress, done)
        left = max(0, left - int(done[task.index]["documents"]))
    return [done[task.index] for task in tasks]


def see_through(tasks: list[ScanTask], executor: Executor, progress: Progress, done: dict[int, dict[str, Any]]) -> None:
    """Runs tasks until each has a result in `done`, whatever dies over them."""
    waiting = list(tasks)
    strikes: Counter[str] = Counter()
    while waiting:
        again: list[ScanTask] = []
        for outcome in executor.map(scan, waiting):
            task = waiting[outcome.task]
            if outcome.died:
                _after_death(task, outcome, strikes)
                again.append(task)
            else:
                done[task.index] = outcome.result
                progress(outcome.result)
        waiting = again


def _after_death(task: ScanTask, outcome: Outcome, strikes: Counter[str]) -> None:
    """Accuses the page under the cursor where the signal proves it; else tries that page alone."""
    offset = guard.cursor_at(task.folder.with_suffix(".tmp") / "cursor")
    reason = guard.accusation(outcome.signal)
    file = load_run(task.work).files[task.file_index]
    if offset != guard.IDLE:
        if reason:
            _accuse(task, offset, reason, f"signal {outcome.signal}")
            return
        if _try_alone(task, offset):
            return
    place = f"{file.name}:{offset}" if offset != guard.IDLE else file.name
    strikes[place] += 1
    if strikes[place] >= STRIKES:
        raise UserError(
            f"{place}: the worker died {STRIKES} times here (signal {outcome.signal}) and no page is to blame; "
            "give it more --memory, or fewer --workers"
        )


def _accuse(task: ScanTask, offset: int, reason: str, cause: str) -> None:
    guard.Verdicts(Path(task.work, "guard")).store(task.file_index, offset, reason, cause)


def _try_leftovers(tasks: list[ScanTask]) -> None:
    """Pages that were on the belt when an earlier run was killed: each is tried alone before it is met again."""
    for task in tasks:
        folder = task.folder.with_suffix(".tmp")
        offset = guard.cursor_at(folder / "cursor") if folder.exists() else guard.IDLE
        if offset != guard.IDLE:
            _try_alone(task, offset)


def _try_alone(task: ScanTask, offset: int) -> bool:
    """Runs one page in a fresh process; when that dies too the page is accused. Returns whether it was.

    A signal that a stranger may have sent counts only when it strikes every time.
    """
    code = 0
    for _ in range(TIMES_ALONE):
        code = _alone(task, offset)
        if code == 0 or (code > 0 and code != PROBE_OUT_OF_MEMORY):
            return False  # innocent, or an error and no death: the task itself will meet and enter it
        if code < 0 and guard.accusation(-code):
            break
    killed = code in (PROBE_OUT_OF_MEMORY, -signal.SIGKILL)
    reason = "out_of_memory" if killed else guard.accusation(-code) or "crashed"
    _accuse(task, offset, reason, f"also alone, signal {-code}" if code < 0 else "also alone")
    return True


def _alone(task: ScanTask, offset: int) -> int:
    """Exit code of a fresh process that had this one page."""
    process = get_context("spawn").Process(target=probe, args=(task.work, task.file_index, offset), daemon=True)
    with without_interrupts():
        process.start()
    try:
        process.join()
    finally:
        process.kill()
    return process.exitcode or 0


def probe(work: str, file_index: int, offset: int) -> None:
    """One page through the belt, under the guard, in a process of its own."""
    run = load_run(work)
    guard.limit_memory(run.memory)
    file = run.files[file_index]
    guard.arm(run.config.cpu_seconds)
    for span in reader(run.config.input[file.source], file).read(file, Slice(offset, offset + 1)):
        if span.document is not None and span.drop is None:
            run.belt.run(span.document)
        return


def _gaps(tasks: list[ScanTask], done: dict[int, dict[str, Any]]) -> list[ScanTask]:
    """Tasks whose first record is not where the task before ended, as tasks that start there exactly.

    A slice finds its start by looking; a crawl file stored inside a page can mislead it, its neighbour can't be.
    """
    wrong = []
    for before, task in pairwise(tasks):
        if task.file_index == before.file_index and done[task.index]["first"] != done[before.index]["end"]:
            part = Slice(done[before.index]["end"], task.part.end, exact=True)
            wrong.append(ScanTask(task.work, task.index, task.file_index, part, task.limit))
            break  # what comes after it is judged when this one is right
    return wrong
