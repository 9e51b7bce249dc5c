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
        for number, mine in _by_file(tasks)
        for task, size in zip(mine, _shares(mine, files[number].size), strict=True)
    ]


def _by_file(tasks: Sequence[ScanTask]) -> Iterator[tuple[int, list[ScanTask]]]:
    for number, mine in groupby(tasks, key=lambda task: task.file_index):
        yield number, list(mine)


def _shares(tasks: list[ScanTask], size: int) -> list[int]:
    if len(tasks) == 1:
        return [size]
    extent = tasks[-1].part.end or size  # the last one's end, where the reader knows it, is in its own unit
    ends = [*(size * task.part.start // max(1, extent) for task in tasks), size]
    return [after - before for before, after in pairwise(ends)]


def read_bytes(
    tasks: Sequence[ScanTask], files: Sequence[InputFile], read: Sequence[int], extents: Mapping[int, int | None]
) -> int:
    """Bytes of the files that were read. `read` tells of each task how far, `extents` of each file its length.

    A whole run reads every file to its end. A trial run (`limit`) stops in the middle, and of a file that is compressed
    as a whole nobody knows where (no extent): there it is what was inflated, at most the file.
    """
    if not tasks or tasks[0].limit is None:
        return sum(files[number].size for number, _ in _by_file(tasks))
    total = 0
    for task, units in zip(tasks, read, strict=True):
        size, extent = files[task.file_index].size, extents.get(task.file_index)
        total += min(size, size * units // extent if extent else units)
    return total
