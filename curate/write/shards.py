"""The write phase for what is kept: plans the shards, then writes each one as a task of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from curate.config.file import Config
from curate.decide.survivors import Survivors, load_survivors, verdict_table
from curate.decide.verdicts import VerdictTable
from curate.durable import folder_name, folder_names, once
from curate.output.schema import FINEWEB, dump, shard_schema
from curate.output.written import ShardFacts
from curate.scan.tasks import load_run

NOT_KEPT = -1
NO_VALUE = "\0"  # the group of documents without a value; no text holds this character


@dataclass(frozen=True)
class Shard:
    """One output file: its name under `shards/`, its number, and the tasks [first, last] its rows come from."""

    name: str
    number: int
    first_task: int
    last_task: int
    rows: int


def plan_shards(survivors: Survivors, verdicts: VerdictTable, config: Config, work: Path) -> list[Shard]:
    """Assigns every kept document to a shard (stored in `work/shard_of`) and returns the shards in order.

    Crawl order: a shard takes documents until its even share of the bytes is reached. Shuffle: by hash ranges.
    """
    shares = Shares(config, _totals(survivors, verdicts, config))
    rows = np.zeros(shares.count, np.int64)
    first, last = np.full(shares.count, -1), np.full(shares.count, -1)
    with (work / "shard_of.tmp").open("wb") as out:
        for task, start, sizes, groups in _kept(survivors, verdicts, config):
            assigned = shares.assign(start, sizes, groups)
            out.write(assigned.tobytes())
            used, counts = np.unique(assigned[assigned >= 0], return_counts=True)
            rows[used] += counts
            first[used] = np.where(first[used] < 0, task, first[used])
            last[used] = task
    (work / "shard_of.tmp").rename(work / "shard_of")
    return [
        Shard(name, number, int(first[number]), int(last[number]), int(rows[number]))
        for number, name in enumerate(shares.names())
        if rows[number]
    ]


class Shares:
    """How many shards each group gets, and which documents go into each. `totals` are text bytes by group."""

    def __init__(self, config: Config, totals: dict[str, int]) -> None:
        self.config, self.totals = config, totals
        self.of = {group: max(1, -(-size // config.write.shard_bytes)) for group, size in sorted(totals.items())}
        ends = np.cumsum([0, *self.of.values()]).tolist()
        self.first = dict(zip(self.of, ends, strict=False))
        self.count: int = ends[-1]
        self.taken = dict.fromkeys(totals, 0)

    def names(self) -> Iterator[str]:
        """File names of all shards in order."""
        by = self.config.write.by
        folders = folder_names(None if group == NO_VALUE else group for group in self.of)
        for group, count in self.of.items():
            folder = f"{folder_name(by)}={folders[None if group == NO_VALUE else group]}/" if by else ""
            yield from (f"{folder}part-{number:05d}.parquet" for number in range(count))

    def assign(self, start: int, sizes: np.ndarray, groups: list[str]) -> np.ndarray:
        """Shard numbers of documents `start`…, given text bytes (-1 where dropped) and group of each."""
        assigned = np.full(len(sizes), NOT_KEPT, dtype="<i4")
        for group in sorted(set(groups) & set(self.of)):
            members = np.flatnonzero(np.array([g == group for g in groups]) & (sizes >= 0))
            place = self._by_hash if self.config.write.order == "shuffle" else self._by_bytes
            assigned[members] = self.first[group] + place(group, start + members, sizes[members])
        return assigned

    def _by_hash(self, group: str, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        keys = [_shuffle_key(self.config, int(number)) % self.of[group] for number in numbers]
        return np.array(keys, dtype=np.int64)

    def _by_bytes(self, group: str, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        before = self.taken[group] + np.concatenate([[0], np.cumsum(sizes)])
        self.taken[group] = int(before[-1])
        parts: np.ndarray = np.minimum(before[:-1] * self.of[group] // max(1, self.totals[group]), self.of[group] - 1)
        return parts


def _shuffle_key(config: Config, number: int) -> int:
    seed = config.seed if config.write.seed is None else config.write.seed
    return xxhash.xxh3_64_intdigest(number.to_bytes(8, "little"), seed=seed & (2**64 - 1))


def _totals(survivors: Survivors, verdicts: VerdictTable, config: Config) -> dict[str, int]:
    totals: dict[str, int] = {}
    for _, _, sizes, groups in _kept(survivors, verdicts, config):
        for group in sorted(set(groups)):
            members = sizes[np.array([g == group for g in groups])]
            if (members >= 0).any():
                totals[group] = totals.get(group, 0) + int(members[members >= 0].sum())
    return totals


def _kept(
    survivors: Survivors, verdicts: VerdictTable, config: Config
) -> Iterator[tuple[int, int, np.ndarray, list[str]]]:
    """Pieces of survivors: (task, first number, text bytes or -1 where dropped, group of each)."""
    by = config.write.by
    columns = ["bytes"] + ([f"@{by}"] if by and by != "source" else [])
    for task, count in enumerate(survivors.counts):
        if not count:
            continue
        for start, table in survivors.batches(task, columns):
            kept = verdicts.slice(start, start + table.num_rows).stage == 0
            sizes = np.where(kept, table.column("bytes").to_numpy(), NOT_KEPT)
            if by is None:
                groups = [""] * table.num_rows
            elif by == "source":
                groups = [survivors.file(task).source] * table.num_rows
            else:
                groups = [NO_VALUE if v is None else str(v) for v in table.column(f"@{by}").to_pylist()]
            yield task, start, sizes, groups


@dataclass(frozen=True)
class ShardTask:
    """Writes one shard of a run."""

    work: str
    shard: Shard
    shards: str  # folder of the finished shards


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
    config = survivors.config
    temporary = target.with_name(f".{target.name}.tmp")
    target.parent.mkdir(parents=True, exist_ok=True)
    types = load_run(task.work).types
    kept = Counts()
    with pq.ParquetWriter(
        temporary, shard_schema(types), compression="zstd", compression_level=config.write.zstd_level
    ) as writer:
        for group in _row_groups(_rows(survivors, task.shard, kept, types), config):
            writer.write_table(group, row_group_size=max(1, group.num_rows))
    with temporary.open("rb") as file:
        sha256 = file_digest(file, "sha256").hexdigest()
    size = temporary.stat().st_size
    temporary.rename(target)
    return {
        "name": task.shard.name,
        "rows": pq.read_metadata(target).num_rows,
        "bytes": size,
        "sha256": sha256,
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


def _rows(survivors: Survivors, shard: Shard, kept: Counts, types: dict[str, pa.DataType]) -> Iterator[pa.Table]:
    """The shard's rows in their final order, in pieces of shard columns."""
    pieces = _pieces(survivors, shard, kept, types)
    if survivors.config.write.order == "crawl":
        for _, piece in pieces:
            yield piece
        return
    found = list(pieces)
    numbers = np.concatenate([n for n, _ in found])
    keys = np.array([_shuffle_key(survivors.config, int(n)) for n in numbers], dtype=np.uint64)
    order = np.lexsort((numbers, keys))
    yield pa.concat_tables([t for _, t in found]).take(pa.array(order))


def _pieces(
    survivors: Survivors, shard: Shard, kept: Counts, types: dict[str, pa.DataType]
) -> Iterator[tuple[np.ndarray, pa.Table]]:
    verdicts = verdict_table(survivors)
    shard_of = np.memmap(survivors.work / "shard_of", dtype="<i4", mode="r")
    columns = ["text", "id", "url", "date", "offset", "words", "bytes", *(f"@{name}" for name in types)]
    for index in range(shard.first_task, shard.last_task + 1):
        first, end = int(survivors.starts[index]), int(survivors.starts[index + 1])
        if not (shard_of[first:end] == shard.number).any():
            continue
        file = survivors.file(index)
        for start, table in survivors.batches(index, columns):
            mine = np.flatnonzero(shard_of[start : start + table.num_rows] == shard.number)
            if not len(mine):
                continue
            table = table.take(pa.array(mine))
            verdict = verdicts.slice(start, start + int(mine[-1]) + 1)
            added = {name: values[mine] for name, values in verdict.columns.items()}
            rows = _shard_rows(table, file.source, file.name, added, types)
            kept.add(file.source, rows, table.column("words"), table.column("bytes"))
            numbers = start + mine
            if "copies" in added and _repeats_rows(survivors.config):
                again = np.repeat(np.arange(len(mine)), added["copies"])
                rows, numbers = rows.take(pa.array(again)), numbers[again]
            yield numbers, rows


def _repeats_rows(config: Config) -> bool:
    return any(getattr(stage, "repeat", None) == "rows" for _, stage in config.corpus_stages)


def _shard_rows(
    table: pa.Table, source: str, file: str, added: dict[str, Any], types: dict[str, pa.DataType]
) -> pa.Table:
    schema = shard_schema(types)
    count = table.num_rows
    constant = {"file_path": file, "source": source, "dump": dump(file)}
    columns = []
    for field in schema:
        if field.name in constant:
            columns.append(pa.array([constant[field.name]] * count, pa.string()))
        elif field.name in added:
            columns.append(pa.array(added[field.name], field.type))
        elif f"@{field.name}" in table.column_names:
            columns.append(table.column(f"@{field.name}").combine_chunks())
        elif field.name in table.column_names:
            columns.append(table.column(field.name).combine_chunks())
        else:
            columns.append(pa.nulls(count, FINEWEB.get(field.name, field.type)))
    return pa.table(columns, schema=schema)


def _row_groups(pieces: Iterator[pa.Table], config: Config) -> Iterator[pa.Table]:
    """Row groups bounded by bytes of text and by rows; where they are cut depends on the rows alone."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for piece in pieces:
        sizes = pc.binary_length(piece.column("text")).to_numpy()
        start = 0
        for row, length in enumerate(sizes.tolist()):
            if rows and (rows >= config.write.row_group_rows or size + length > config.write.row_group_bytes):
                yield _joined([*waiting, piece.slice(start, row - start)])
                waiting, rows, size, start = [], 0, 0, row
            rows, size = rows + 1, size + length
        waiting.append(piece.slice(start))
    if rows:
        yield _joined(waiting)


def _joined(tables: list[pa.Table]) -> pa.Table:
    """One table with one chunk a column, so that equal rows always give equal bytes."""
    return pa.concat_tables(tables).combine_chunks()
