"""The scan phase of a run: plans the slices, sees every task through, whatever dies, and checks that they meet."""

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from curate.config.file import Config
from curate.errors import UserError
from curate.executors.executor import Executor, Outcome
from curate.scan import alone, guard
from curate.scan.slice import scan
from curate.scan.tasks import ScanResult, ScanTask, load_run, load_tasks, save_tasks
from curate.sources import find_files, hold_to_names, identity, reader
from curate.sources.reader import InputFile, Slice

SMALLEST_SLICE, LARGEST_SLICE = 1 << 20, 64 << 20
SLICES_A_WORKER = 8
MOST_TASKS = 100_000
STRIKES = 5  # deaths at one place, none of which accuses a page, before the run gives up

ResultSeen = Callable[[ScanTask, ScanResult], None]


def input_files(config: Config) -> list[InputFile]:
    """All files of all sources in config order. Raises UserError when one stands twice."""
    files: list[InputFile] = []
    seen: dict[str, str] = {}
    for source, settings in config.input.items():
        found = find_files(source, settings)
        hold_to_names(found, settings)
        for file in found:
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


def crawl(tasks: list[ScanTask], executor: Executor, progress: ResultSeen) -> list[ScanResult]:
    """The results of all scan tasks, in order."""
    _try_leftovers(tasks)
    done: dict[int, ScanResult] = {}
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


def _up_to_limit(tasks: list[ScanTask], executor: Executor, progress: ResultSeen) -> list[ScanResult]:
    """File after file until the limit is reached; the tasks behind it read nothing."""
    done: dict[int, ScanResult] = {}
    left = tasks[0].limit or 0
    for task in tasks:
        limited = ScanTask(task.work, task.index, task.file_index, task.part, left)
        see_through([limited], executor, progress, done)
        left = max(0, left - int(done[task.index]["documents"]))
    return [done[task.index] for task in tasks]


def see_through(tasks: list[ScanTask], executor: Executor, progress: ResultSeen, done: dict[int, ScanResult]) -> None:
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
                progress(task, outcome.result)
        waiting = again


def _after_death(task: ScanTask, outcome: Outcome, strikes: Counter[str]) -> None:
    """Accuses the page under the cursor where the signal proves it; else tries that page alone."""
    offset = guard.cursor_at(task.folder.with_suffix(".tmp") / "cursor")
    verdicts = guard.Accusations(Path(task.work, "guard"))
    if offset == guard.TOGETHER and not verdicts.are_apart(task.index):
        verdicts.set_apart(task.index)  # one by one, the same pages tell which it was
        return
    reason = guard.accusation(outcome.signal)
    if offset >= 0 and _accused(task, offset, (reason, outcome.death) if reason else alone.verdict(task, offset)):
        return
    run = load_run(task.work)
    name = run.files[task.file_index].name
    died = f"the worker died {STRIKES} times"
    message = f"{name}: {died} ({outcome.death}); give it more --memory, or fewer --workers"
    if offset >= 0:
        name += f":{offset}"
        message = f"{name}: {died} here ({outcome.death}), but alone the page does no harm; give it more --memory"
    elif offset != guard.IDLE:
        stage, _ = run.config.corpus_stages[guard.sketching(offset)]
        message = f"stage '{stage}': {died} in sketch() over {name} ({outcome.death}); mend the stage and run again"
    strikes[name] += 1
    if strikes[name] >= STRIKES:
        raise UserError(message)


def _accused(task: ScanTask, offset: int, verdict: tuple[str, str] | None) -> bool:
    """Stores a verdict against a page, if there is one; returns whether there is."""
    if verdict is not None:
        guard.Accusations(Path(task.work, "guard")).store(task.file_index, offset, *verdict)
    return verdict is not None


def _try_leftovers(tasks: list[ScanTask]) -> None:
    """Pages that were on the belt when an earlier run was killed: each is tried alone before it is met again."""
    for task in tasks:
        folder = task.folder.with_suffix(".tmp")
        offset = guard.cursor_at(folder / "cursor") if folder.exists() else guard.IDLE
        if offset == guard.TOGETHER:
            guard.Accusations(Path(task.work, "guard")).set_apart(task.index)
        if offset >= 0:
            _accused(task, offset, alone.verdict(task, offset))


def _gaps(tasks: list[ScanTask], done: dict[int, ScanResult]) -> list[ScanTask]:
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
