"""The scan phase of a run: plans the slices, sees every task through, whatever dies, and checks that they meet."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from curate.config.file import Config
from curate.errors import UserError
from curate.executors.executor import Executor, Outcome
from curate.scan import alone, guard
from curate.scan.slice import scan
from curate.scan.tasks import ScanResult, ScanTask, load_run, load_tasks, save_tasks
from curate.sources import find_files, hold_to_names, identity, indirect, reader
from curate.sources.reader import InputFile, Slice

SMALLEST_SLICE, LARGEST_SLICE = 1 << 20, 64 << 20
SLICES_A_WORKER = 8
MOST_TASKS = 100_000
GROUP_BYTES, GROUP_FILES = SMALLEST_SLICE, 64  # of small files that are one task, unless there were too many tasks
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
    for first, count in groups(config, files, size):
        file = files[first]
        parts = [Slice()]
        if count == 1 and limit is None:
            parts = reader(config.input[file.source], file).slices(file, size)
        tasks += [ScanTask(str(work), len(tasks) + n, first, part, limit, count) for n, part in enumerate(parts)]
    save_tasks(work, tasks)
    return tasks


def groups(config: Config, files: list[InputFile], size: int) -> Iterator[tuple[int, int]]:
    """Files that stand together in a task, as the number of the first and how many: small ones of one source.

    Which ones they are follows from their order and sizes. A file over `size` bytes is by itself, since it may be cut.
    """
    most_bytes = max(GROUP_BYTES, sum(file.size for file in files) // MOST_TASKS)
    most_files = max(GROUP_FILES, len(files) // MOST_TASKS)
    first = held = 0
    for index, file in enumerate(files):
        small = file.size <= min(size, most_bytes) and not indirect(config.input[file.source], file)
        fits = small and file.source == files[first].source and held + file.size <= most_bytes
        if index > first and not (fits and index - first < most_files):
            yield first, index - first
            first, held = index, 0
        held += file.size if small else most_bytes + 1
    if files:
        yield first, len(files) - first


def crawl(tasks: list[ScanTask], executor: Executor, progress: ResultSeen) -> tuple[list[ScanTask], list[ScanResult]]:
    """All scan tasks and their results, in order."""
    try_leftovers(tasks)
    done: dict[int, ScanResult] = {}
    see_through(tasks, executor, progress, done)
    for _ in range(len(tasks)):
        wrong = _gaps(tasks, done)
        if not wrong:
            break
        for task in wrong:
            shutil.rmtree(task.folder, ignore_errors=True)
            done.pop(task.index)
        see_through(wrong, executor, progress, done)
    return tasks, [done[task.index] for task in tasks]


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
    place, offset = page = guard.cursor_at(task.folder.with_suffix(".tmp") / "cursor")
    verdicts = guard.Accusations(Path(task.work, "guard"))
    if offset == guard.TOGETHER and not verdicts.are_apart(task.index):
        verdicts.set_apart(task.index)  # one by one, the same pages tell which it was
        return
    reason = guard.accusation(outcome.signal)
    if offset >= 0 and _accused(task, page, (reason, outcome.death) if reason else None):
        return
    run = load_run(task.work)
    name = run.files[task.file_index + max(0, place)].name
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


def _accused(task: ScanTask, page: guard.Mark, proved: tuple[str, str] | None = None) -> bool:
    """Stores the verdict against a page, where one is proved or that page does harm alone, too; returns whether so."""
    file_index = task.file_index + page.file
    verdict = proved or alone.verdict(task.work, file_index, page.offset)
    if verdict is not None:
        guard.Accusations(Path(task.work, "guard")).store(file_index, page.offset, *verdict)
    return verdict is not None


def try_leftovers(tasks: list[ScanTask]) -> None:
    """Pages that were on the belt when an earlier run was killed: each is tried alone before it is met again."""
    for task in tasks:
        folder = task.folder.with_suffix(".tmp")
        page = guard.cursor_at(folder / "cursor")
        if page.offset == guard.TOGETHER:
            guard.Accusations(Path(task.work, "guard")).set_apart(task.index)
        if page.offset >= 0:
            _accused(task, page)


def _gaps(tasks: list[ScanTask], done: dict[int, ScanResult]) -> list[ScanTask]:
    """Tasks whose first record is not where the task before ended, as tasks that start there exactly.

    A slice finds its start by looking; a crawl file stored inside a page can mislead it, its neighbour can't be.
    """
    wrong = []
    for before, task in pairwise(tasks):
        end = done[before.index]["pieces"][-1]["end"]
        if task.file_index == before.file_index and done[task.index]["pieces"][0]["first"] != end:
            part = Slice(end, task.part.end, exact=True)
            wrong.append(ScanTask(task.work, task.index, task.file_index, part, task.limit))
            break  # what comes after it is judged when this one is right
    return wrong
