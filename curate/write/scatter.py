"""Scatter: where a shard's rows lie all over the crawl, one pass over the survivors lays them together by shard.

Without it each shard would read every task that holds one of its rows: sixteen shards would read the texts sixteen
times. A scatter task takes a stretch of tasks, sorts CHUNK_BYTES of rows at a time by shard, and appends the rows of
each shard as one piece to its file. A shard then reads its own pieces alone, in crawl order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.decide.survivors import Survivors, load_survivors
from curate.executors.executor import Executor, results

CHUNK_BYTES = 64 << 20  # of text sorted at once
STRETCH = 1 << 18  # survivors of a scatter task, unless one scan task has more
OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
PIECE = np.dtype([("shard", "<i4"), ("file", "<i4"), ("offset", "<i8"), ("length", "<i8")])
Pieces = npt.NDArray[np.void]
NUMBER = "number"  # the column of survivors' numbers in a piece


@dataclass(frozen=True)
class ScatterTask:
    """Scatters the survivors of the scan tasks first_task ... last_task into the file `number`."""

    work: str
    columns: tuple[str, ...]
    number: int
    first_task: int
    last_task: int


def scatter(executor: Executor, survivors: Survivors, columns: list[str]) -> dict[int, Pieces]:
    """Lays all kept rows together by shard, as `work/shard_of` assigns them; the pieces of each shard in crawl order.

    A pass that was interrupted keeps the files that were whole.
    """
    folder = survivors.work / "scatter"
    folder.mkdir(exist_ok=True)
    tasks = [
        ScatterTask(str(survivors.work), tuple(columns), number, first, last)
        for number, (first, last) in enumerate(_stretches(survivors.counts))
    ]
    paths = results(executor, scatter_task, tasks)
    pieces = np.concatenate([np.fromfile(path, PIECE) for path in paths]) if paths else np.empty(0, PIECE)
    pieces = pieces[np.argsort(pieces["shard"], kind="stable")]
    shards, starts = np.unique(pieces["shard"], return_index=True)
    return dict(zip(shards.tolist(), np.split(pieces, starts[1:])))


def _stretches(counts: list[int]) -> Iterator[tuple[int, int]]:
    """Consecutive tasks (first, last) of about STRETCH survivors."""
    first = held = 0
    for task, count in enumerate(counts):
        held += count
        if held >= STRETCH or task == len(counts) - 1:
            yield first, task
            first, held = task + 1, 0


def scatter_task(task: ScatterTask) -> Path:
    """Writes one scatter file and the list of its pieces, whose path it returns; a finished one is not redone."""
    rows, index = _paths(Path(task.work), task.number)
    if not index.exists():
        temporary = index.with_suffix(".tmp")
        with rows.open("wb") as out:
            pieces = [piece for table, shards in _chunks(task) for piece in _append(out, table, shards, task.number)]
        np.array(pieces, PIECE).tofile(temporary)
        temporary.replace(index)
    return index


def _paths(work: Path, number: int) -> tuple[Path, Path]:
    folder = work / "scatter"
    return folder / f"{number:06d}.arrows", folder / f"{number:06d}.pieces"


def _chunks(task: ScatterTask) -> Iterator[tuple[pa.Table, npt.NDArray[np.int32]]]:
    """Kept rows with their numbers, CHUNK_BYTES of text at a time, and their shards."""
    survivors = load_survivors(task.work)
    shard_of = np.memmap(survivors.work / "shard_of", dtype="<i4", mode="r")
    waiting: list[pa.Table] = []
    size = 0
    for index in range(task.first_task, task.last_task + 1):
        for start, table in survivors.batches(index, list(task.columns)) if survivors.counts[index] else ():
            mine = np.flatnonzero(shard_of[start : start + table.num_rows] >= 0)
            table = table.take(pa.array(mine)).append_column(NUMBER, pa.array(start + mine, pa.int64()))
            waiting.append(table)
            size += table.nbytes
            if size >= CHUNK_BYTES:
                yield _with_shards(waiting, shard_of)
                waiting, size = [], 0
    if waiting:
        yield _with_shards(waiting, shard_of)


def _with_shards(tables: list[pa.Table], shard_of: npt.NDArray[np.int32]) -> tuple[pa.Table, npt.NDArray[np.int32]]:
    table = pa.concat_tables(tables)
    return table, shard_of[table.column(NUMBER).to_numpy()]


def _append(
    out: BinaryIO, table: pa.Table, shards: npt.NDArray[np.int32], file: int
) -> Iterator[tuple[int, int, int, int]]:
    """Writes the rows of each shard as one piece, in their order, and tells where it lies."""
    order = np.argsort(shards, kind="stable")
    used, starts = np.unique(shards[order], return_index=True)
    for shard, rows in zip(used.tolist(), np.split(order, starts[1:])):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=OPTIONS) as stream:
            stream.write_table(table.take(pa.array(rows)))
        piece = sink.getvalue()
        yield shard, file, out.tell(), piece.size
        out.write(piece)


def read_pieces(work: Path, pieces: Pieces) -> Iterator[pa.Table]:
    """The rows of some pieces, with the column `number`."""
    for piece in pieces:
        rows, _ = _paths(work, int(piece["file"]))
        with rows.open("rb") as file:
            file.seek(int(piece["offset"]))
            with pa.ipc.open_stream(file.read(int(piece["length"]))) as stream:
                yield stream.read_all()
