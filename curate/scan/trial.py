"""A trial run (`--limit`): so many documents, taken from each source in turn, until one has no more."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from curate.executors.executor import Executor
from curate.scan.crawl import ResultSeen, see_through, try_leftovers
from curate.scan.slice import stopped
from curate.scan.tasks import ScanResult, ScanTask
from curate.sources.reader import InputFile


def trial(
    tasks: Sequence[ScanTask], files: Sequence[InputFile], limit: int, executor: Executor, progress: ResultSeen
) -> tuple[list[ScanTask], list[ScanResult]]:
    """The tasks that read something until `limit` documents are read, and their results, in order.

    Each source gives an equal share; what one has not, the others give. Sources are read side by side, the tasks of
    one in turn. Which documents these are depends on the input alone.
    """
    try_leftovers(list(tasks))
    done: dict[int, ScanResult] = {}
    sources = [[task for task in tasks if files[task.file_index].source == name] for name in _names(tasks, files)]
    short: dict[int, int] = {}  # what sources have that have less than their share
    while True:
        wanted = shares(limit, len(sources), short)
        while some := [task for mine, share in zip(sources, wanted) if (task := _next(mine, share, done))]:
            see_through(some, executor, _more(progress, dict(done)), done)
        given = [sum(done[task.index]["documents"] for task in mine if task.index in done) for mine in sources]
        found = {place: count for place, count in enumerate(given) if count < wanted[place]}
        if not found:
            break
        short |= found
    if not done:  # nothing was asked for
        see_through([replace(tasks[0], limit=0)], executor, progress, done)
    read = [task for task in tasks if task.index in done]
    return read, [done[task.index] for task in read]


def _names(tasks: Sequence[ScanTask], files: Sequence[InputFile]) -> list[str]:
    return list(dict.fromkeys(files[task.file_index].source for task in tasks))


def shares(limit: int, sources: int, short: Mapping[int, int]) -> list[int]:
    """How many documents each source gives, if those whose places are in `short` have no more than stands there."""
    able = [place for place in range(sources) if place not in short]
    left = limit - sum(short.values())
    given = dict(short)
    for turn, place in enumerate(able):
        given[place] = left // len(able) + (turn < left % len(able))
    return [given[place] for place in range(sources)]


def _next(tasks: Sequence[ScanTask], share: int, done: Mapping[int, ScanResult]) -> ScanTask | None:
    """The task that a source's share still wants, with what it may read; None where it has the share, or no more."""
    for task in tasks:
        if share <= 0:
            return None
        result = done.get(task.index)
        if result is None or stopped(result, share):
            return replace(task, limit=share)
        share -= result["documents"]
    return None


def _more(progress: ResultSeen, before: Mapping[int, ScanResult]) -> ResultSeen:
    """Tells of a task that read further than before only what is new."""

    def seen(task: ScanTask, result: ScanResult) -> None:
        known = before.get(task.index)
        if known is not None:
            documents, survivors = known["documents"], known["survivors"]
            result = {
                **result,
                "documents": result["documents"] - documents,
                "survivors": result["survivors"] - survivors,
            }
        progress(task, result)

    return seen
