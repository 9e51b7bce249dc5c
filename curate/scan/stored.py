"""Bytes of the input as its files lie on the disk, whatever unit a reader counts its offsets in.

Offsets are bytes in a plain file or one compressed record by record, inflated bytes in one that is compressed as a
whole, and rows in Parquet; what a person sees of them is always a share of the file's own size.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from curate.scan.tasks import ScanTask
from curate.sources.reader import InputFile


class Expected(NamedTuple):
    """What a task will read: `bytes` of its file, and `units` of offsets from `start` on, as far as that is known."""

    bytes: int
    start: int
    units: int

    def at(self, offset: int) -> int:
        """About how many of the bytes are read when the reader stands at an offset."""
        return self.bytes * min(max(0, offset - self.start), self.units) // max(1, self.units)


def expected(tasks: Sequence[ScanTask], files: Sequence[InputFile]) -> list[Expected]:
    """What each task will read; the bytes of a file's tasks add up to its size."""
    return [
        Expected(size, task.part.start, size if task.part.end is None else task.part.end - task.part.start)
        for mine in _by_file(tasks)
        for task, size in zip(mine, _shares(mine, _size(mine[0], files)), strict=True)
    ]


def _by_file(tasks: Sequence[ScanTask]) -> Iterator[list[ScanTask]]:
    """The tasks that read the same file, or the same small files."""
    for _, mine in groupby(tasks, key=lambda task: task.file_index):
        yield list(mine)


def _size(task: ScanTask, files: Sequence[InputFile]) -> int:
    return sum(files[number].size for number in task.file_numbers)


def _shares(tasks: list[ScanTask], size: int) -> list[int]:
    if len(tasks) == 1:
        return [size]
    extent = tasks[-1].part.end or size  # the last one's end, where the reader knows it, is in its own unit
    ends = [*(size * task.part.start // max(1, extent) for task in tasks), size]
    return [after - before for before, after in pairwise(ends)]


def read_bytes(
    tasks: Sequence[ScanTask],
    files: Sequence[InputFile],
    read: Sequence[Sequence[int]],
    extents: Mapping[int, int | None],
) -> int:
    """Bytes of the files that were read. `read` tells of each task's files how far, `extents` of each file its length.

    A whole run reads every file to its end. A trial run (`limit`) stops in the middle, and of a file that is compressed
    as a whole nobody knows where (no extent): there it is what was inflated, at most the file.
    """
    if not tasks or tasks[0].limit is None:
        return sum(_size(mine[0], files) for mine in _by_file(tasks))
    total = 0
    for task, of_files in zip(tasks, read, strict=True):
        for number, units in zip(task.file_numbers, of_files):
            size, extent = files[number].size, extents.get(number)
            total += min(size, size * units // extent if extent else units)
    return total
