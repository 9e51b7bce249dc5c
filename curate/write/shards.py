"""Writes the shards, each as a task of its own: rows in their final order, into a writer."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.decide.survivors import Survivors, load_survivors, verdict_table
from curate.durable import once
from curate.executors.executor import Executor, results
from curate.output.schema import FINEWEB, dump, shard_schema
from curate.output.written import ShardFacts
from curate.scan.tasks import load_run
from curate.stage import CorpusStage, declared
from curate.write.parquet import ParquetShard
from curate.write.plan import Shard, shuffle_key
from curate.write.scatter import NUMBER, Pieces, read_pieces, scatter
from curate.write.shard_writer import Opener

OPENER: Opener = ParquetShard


@dataclass(frozen=True)
class ShardTask:
    """Writes one shard of a run. `pieces` say where its rows lie; None where they lie in its tasks in order."""

    work: str
    shard: Shard
    shards: str  # folder of the finished shards
    pieces: Pieces | None = None


def write_shards(executor: Executor, survivors: Survivors, shards: list[Shard], folder: Path) -> list[ShardFacts]:
    """Writes the shards into a folder; rows that lie all over the crawl are laid together first, in one pass."""
    if not shards:  # nothing was kept
        return []
    write, work = survivors.config.write, str(survivors.work)
    if write.order == "crawl" and write.by is None:
        return results(executor, write_shard, [ShardTask(work, shard, str(folder)) for shard in shards])
    pieces = scatter(executor, survivors, _columns(load_run(work).types))
    tasks = [ShardTask(work, shard, str(folder), pieces[shard.number]) for shard in shards]
    return results(executor, write_shard, tasks)


def write_shard(task: ShardTask) -> ShardFacts:
    """Writes a shard under a temporary name and renames it; returns its facts. A finished one is not redone."""
    target = Path(task.shards, task.shard.name)
    return once(
        Path(task.work, "write", f"shard-{task.shard.number:06d}.json"),
        target,
        lambda: _write_shard(task, target),
    )


def _write_shard(task: ShardTask, target: Path) -> ShardFacts:
    survivors = load_survivors(task.work)
    temporary = target.with_name(f".{target.name}.tmp")
    target.parent.mkdir(parents=True, exist_ok=True)
    types = load_run(task.work).types
    kept, left_out = Counts(), task.shard.left_out
    schema = shard_schema(types)
    with OPENER(temporary, left_out.schema(schema) if left_out else schema, survivors.config.write) as writer:
        for rows in _rows(survivors, task, kept, types):
            writer.write(left_out.cut(rows) if left_out else rows)
        facts = writer.close()
    temporary.rename(target)
    return {
        "name": task.shard.name,
        "rows": facts.rows,
        "bytes": facts.bytes,
        "sha256": facts.sha256,
        "documents": task.shard.rows,
        "kept": kept.as_list(),
    }


class Counts:
    """Kept documents, words, bytes and tokens by source and language."""

    def __init__(self) -> None:
        self.by: dict[tuple[str, str | None], list[int]] = {}

    def add(self, source: str, table: pa.Table, words: pa.ChunkedArray, sizes: pa.ChunkedArray) -> None:
        grouped = (
            pa.table(
                {
                    "language": table.column("language"),
                    "words": words,
                    "bytes": sizes,
                    "tokens": table.column("token_count"),
                }
            )
            .group_by("language")
            .aggregate([([], "count_all"), ("words", "sum"), ("bytes", "sum"), ("tokens", "sum")])
        )
        for row in grouped.to_pylist():
            total = self.by.setdefault((source, row["language"]), [0, 0, 0, 0])
            for place, name in enumerate(("count_all", "words_sum", "bytes_sum", "tokens_sum")):
                total[place] += row[name] or 0

    def as_list(self) -> list[list[Any]]:
        return [
            [*key, *values] for key, values in sorted(self.by.items(), key=lambda item: (item[0][0], item[0][1] or ""))
        ]


def _rows(survivors: Survivors, task: ShardTask, kept: Counts, types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
    """The shard's rows in their final order, in pieces of shard columns."""
    pieces = _pieces(survivors, task, kept, types)
    if survivors.config.write.order == "crawl":
        for _, piece in pieces:
            yield piece
        return
    found = list(pieces)
    numbers = np.concatenate([n for n, _ in found])
    keys = np.array([shuffle_key(survivors.config, int(n)) for n in numbers], dtype=np.uint64)
    order = np.lexsort((numbers, keys))
    yield pa.concat_tables([t for _, t in found]).take(pa.array(order))


def _columns(types: dict[str, pa.DataType]) -> list[str]:
    return ["text", "id", "url", "date", "offset", "words", "bytes", *(f"@{name}" for name in types)]


def _stored(
    survivors: Survivors, task: ShardTask, types: dict[str, pa.DataType]
) -> Iterator[tuple[int, npt.NDArray[np.int64], pa.Table]]:
    """The shard's rows as the scan stored them, in crawl order: scan task, survivors' numbers, columns."""
    if task.pieces is not None:
        for table in read_pieces(survivors.work, task.pieces):
            yield from _by_task(survivors, table)
        return
    shard, shard_of = task.shard, np.memmap(survivors.work / "shard_of", dtype="<i4", mode="r")
    for index in range(shard.first_task, shard.last_task + 1):
        first, end = int(survivors.starts[index]), int(survivors.starts[index + 1])
        if not (shard_of[first:end] == shard.number).any():
            continue
        for start, table in survivors.batches(index, _columns(types)):
            mine = np.flatnonzero(shard_of[start : start + table.num_rows] == shard.number)
            if len(mine):
                yield index, start + mine, table.take(pa.array(mine))


def _by_task(survivors: Survivors, table: pa.Table) -> Iterator[tuple[int, npt.NDArray[np.int64], pa.Table]]:
    numbers = table.column(NUMBER).to_numpy()
    ends = np.searchsorted(numbers, survivors.starts).tolist()
    for index, (start, end) in enumerate(pairwise(ends)):
        if start < end:
            yield index, numbers[start:end], table.slice(start, end - start)


def _pieces(
    survivors: Survivors, task: ShardTask, kept: Counts, types: dict[str, pa.DataType]
) -> Iterator[tuple[npt.NDArray[np.int64], pa.Table]]:
    verdicts = verdict_table(survivors)
    for index, numbers, table in _stored(survivors, task, types):
        source, added = survivors.source(index), verdicts.added(numbers)
        rows = _shard_rows(table, source, survivors.file_paths(numbers), added, types)
        kept.add(source, rows, table.column("words"), table.column("bytes"))
        for _, stage in survivors.config.corpus_stages:
            rows, numbers, added = _spread(stage, rows, numbers, added)
        yield numbers, rows


def _spread(
    stage: CorpusStage, rows: pa.Table, numbers: npt.NDArray[np.int64], added: dict[str, Any]
) -> tuple[pa.Table, npt.NDArray[np.int64], dict[str, Any]]:
    """Rows as often as a stage wants them written, with what it says of each."""
    spread = declared(stage).spread
    repeats = spread(added) if spread else None
    if repeats is None:
        return rows, numbers, added
    again, columns = repeats
    rows = rows.take(pa.array(again))
    for name, values in columns.items():
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, rows.schema.field(place), pa.array(values, rows.schema.field(place).type))
    return rows, numbers[again], {name: columns.get(name, values[again]) for name, values in added.items()}


def _shard_rows(
    table: pa.Table, source: str, files: pa.Array, added: dict[str, Any], types: dict[str, pa.DataType]
) -> pa.Table:
    schema = shard_schema(types)
    count = table.num_rows
    names = files.dictionary_encode()
    dumps = pa.array([dump(name) for name in names.dictionary.to_pylist()], pa.string())
    place = {"file_path": files, "source": pa.repeat(source, count), "dump": dumps.take(names.indices)}
    columns = []
    for field in schema:
        if field.name in place:
            columns.append(place[field.name])
        elif field.name in added:
            columns.append(pa.array(added[field.name], field.type))
        elif f"@{field.name}" in table.column_names:
            columns.append(table.column(f"@{field.name}").combine_chunks())
        elif field.name in table.column_names:
            columns.append(table.column(field.name).combine_chunks())
        else:
            columns.append(pa.nulls(count, FINEWEB.get(field.name, field.type)))
    return pa.table(columns, schema=schema)
