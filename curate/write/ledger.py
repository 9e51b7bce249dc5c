"""The write phase for what is dropped: ledger, measures and samples, in crawl order, cut by rows.

Which rows share a file depends on their order alone, never on slices or workers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curate.decide.joined import twin_address
from curate.decide.survivors import Survivors, load_survivors, verdict_names, verdict_table
from curate.decide.verdicts import VerdictTable
from curate.durable import once
from curate.output.facts import StoredRow
from curate.output.schema import CUTS, LEDGER, SAMPLES, domain, measures_schema
from curate.output.written import TableFacts
from curate.scan.samples import SAMPLE_CHARACTERS, Samples
from curate.scan.tasks import load_run
from curate.write.cut_rows import causes, cut_counts, cuts_of, in_crawl_order, measured_again

PART_ROWS = {"ledger": 200_000, "measures": 100_000, "cuts": 100_000}
GROUP_ROWS = 20_000  # of one row group: what must be read to look up one page
COLUMNS = ["id", "url", "date", "offset", "length", "status", "words", "bytes"]


@dataclass(frozen=True)
class TablePart:
    """One part file: rows [skip, …) of the first task's rows up to `rows` in all, over tasks [first, last]."""

    kind: str  # "ledger" or "measures"
    number: int
    first_task: int
    last_task: int
    skip: int
    rows: int


@dataclass(frozen=True)
class TableTask:
    """Writes one part of a run."""

    work: str
    part: TablePart
    folder: str


def plan_parts(kind: str, counts: list[int], rows: int) -> list[TablePart]:
    """Cuts the tasks' rows (`counts[i]` of task i) into parts of `rows`."""
    ends = np.cumsum([0, *counts])
    parts = []
    for number, start in enumerate(range(0, int(ends[-1]), rows)):
        end = min(start + rows, int(ends[-1]))
        first = int(np.searchsorted(ends, start, side="right")) - 1
        last = int(np.searchsorted(ends, end, side="left")) - 1
        parts.append(TablePart(kind, number, first, last, start - int(ends[first]), end - start))
    return parts


def write_part(task: TableTask) -> TableFacts:
    """Writes one part under a temporary name and renames it; a ledger part returns its counts and samples."""
    target = Path(task.folder, f"part-{task.part.number:05d}.parquet")
    return once(
        Path(task.work, "write", f"{task.part.kind}-{task.part.number:05d}.json"),
        target,
        lambda: _write_part(task, target),
    )


def _write_part(task: TableTask, target: Path) -> TableFacts:
    survivors = load_survivors(task.work)
    config = survivors.config
    verdicts = verdict_table(survivors)
    make: Callable[[Survivors, int, VerdictTable], pa.Table]
    make, schema = {
        "ledger": (_ledger_of, LEDGER),
        "measures": (_measures_of, measures_schema(config)),
        "cuts": (lambda survivors, index, _: cuts_of(survivors, index), CUTS),
    }[task.part.kind]
    table = _cut(
        task.part,
        (make(survivors, index, verdicts) for index in range(task.part.first_task, task.part.last_task + 1)),
        schema,
    )
    temporary = target.with_name(f".{target.name}.tmp")
    target.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, temporary, compression="zstd", compression_level=3, row_group_size=GROUP_ROWS)
    temporary.rename(target)
    if task.part.kind != "ledger":
        return {"rows": table.num_rows}
    corpus = {name for name, _ in config.corpus_stages}
    return {
        "rows": table.num_rows,
        "dropped": _dropped(table),
        "lost": {kind: _lost(table, kind) for kind in ("source", "domain")},
        "samples": _smallest(table, corpus, Samples(config.samples, config.seed)),
    }


def _cut(part: TablePart, tables: Iterator[pa.Table], schema: pa.Schema) -> pa.Table:
    waiting, left, skip = [], part.rows, part.skip
    for table in tables:
        piece = table.slice(skip, left)
        waiting.append(piece)
        left, skip = left - piece.num_rows, 0
    return pa.concat_tables(waiting).combine_chunks() if waiting else schema.empty_table()


def part_counts(kind: str, survivors: Survivors, verdicts: VerdictTable) -> list[int]:
    """Rows of each task in the finished ledger (the corpus stages' drops added) or measures."""
    if kind == "measures":
        return survivors.measures
    if kind == "cuts":
        return cut_counts(survivors)
    starts = survivors.starts
    return [
        own + int(np.count_nonzero(verdicts.slice(int(start), int(end)).stage))
        for own, start, end in zip(survivors.ledger, starts[:-1], starts[1:], strict=True)
    ]


def _ledger_of(survivors: Survivors, index: int, verdicts: VerdictTable) -> pa.Table:
    """All ledger rows of one task, in crawl order: the scan's own and those of the corpus stages."""
    scanned = pq.read_table(survivors.tasks[index].folder / "ledger.parquet", schema=LEDGER)
    dropped = list(_corpus_rows(survivors, index, verdicts))
    if not dropped:
        return scanned
    return in_crawl_order(survivors, index, pa.concat_tables([scanned, *dropped]))


def _corpus_rows(survivors: Survivors, index: int, verdicts: VerdictTable) -> Iterator[pa.Table]:
    names = pq.read_schema(survivors.tasks[index].folder / "survivors.parquet").names
    columns = COLUMNS + [name for name in ("@language",) if name in names]
    begin, noted = int(survivors.starts[index]), causes(survivors, index)
    for start, table in survivors.batches(index, columns) if survivors.counts[index] else ():
        verdict = verdicts.slice(start, start + table.num_rows)
        rows = np.flatnonzero(verdict.stage)
        if not len(rows):
            continue
        table = table.take(pa.array(rows))
        twins = [twin_address(survivors, int(m)) for m in verdict.matched[rows]]
        scores = [None if np.isnan(s) else float(s) for s in verdict.score[rows]]
        stages, reasons = verdict_names(verdicts, verdict, rows)
        empty = [None] * len(rows)
        values = {
            "source": [survivors.source(index)] * len(rows),
            "file_path": survivors.file_paths(start + rows).to_pylist(),
            "record_id": table.column("id"),
            "domain": [domain(url or "") for url in table.column("url").to_pylist()],
            "stage": stages,
            "reason": reasons,
            "language": table.column("@language") if "@language" in names else empty,
            "matched_file": [t.file if t else None for t in twins],
            "matched_offset": [t.offset if t else None for t in twins],
            "score": scores,
            **{name: table.column(name) for name in COLUMNS if name != "id"},
        }
        if noted:
            about = [noted.get(start - begin + row, {}) for row in rows.tolist()]
            values |= {name: [one.get(name) for one in about] for name in ("value", "limit", "cause")}
        yield pa.table(
            [
                pa.chunked_array([pa.array(values.get(f.name, empty), f.type)])
                if isinstance(values.get(f.name, empty), list)
                else values[f.name]
                for f in LEDGER
            ],
            schema=LEDGER,
        )


def _measures_of(survivors: Survivors, index: int, verdicts: VerdictTable) -> pa.Table:
    """The task's measures; the survivors among them (no verdict yet) get that of the corpus stages."""
    table = pq.read_table(survivors.tasks[index].folder / "measures.parquet")
    passed = np.flatnonzero(table.column("stage").is_null().to_numpy())
    start = int(survivors.starts[index])
    verdict = verdicts.slice(start, start + survivors.counts[index])
    table = measured_again(survivors, index, table, passed)
    rows = np.flatnonzero(verdict.stage)
    if not len(rows):
        return table
    stages, reasons = table.column("stage").to_pylist(), table.column("reason").to_pylist()
    for row, stage, reason in zip(rows.tolist(), *verdict_names(verdicts, verdict, rows), strict=True):
        stages[passed[row]], reasons[passed[row]] = stage, reason
    for name, values in (("stage", stages), ("reason", reasons)):
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values, pa.string()))
    return table


def _dropped(table: pa.Table) -> list[list[Any]]:
    """[stage, reason, source, language, documents, words, text bytes, crawl bytes] of the rows."""
    keys = ["stage", "reason", "source", "language"]
    sums = table.group_by(keys).aggregate([([], "count_all"), ("words", "sum"), ("bytes", "sum"), ("length", "sum")])
    return [
        [
            *(row[key] for key in keys),
            *(row[name] or 0 for name in ("count_all", "words_sum", "bytes_sum", "length_sum")),
        ]
        for row in sums.to_pylist()
    ]


def _lost(table: pa.Table, kind: str) -> dict[str, int]:
    """Documents that were dropped for a twin, by source or domain."""
    twins = table.filter(pc.is_valid(table.column("matched_file")))
    counted = twins.group_by(kind).aggregate([([], "count_all")]).to_pylist()
    return {row[kind]: row["count_all"] for row in counted if row[kind]}


def _smallest(table: pa.Table, corpus: set[str], samples: Samples) -> list[list[Any]]:
    """For corpus stages: [stage, reason, hash, source, file, offset] of the rows with the smallest hashes."""
    if not samples.most:
        return []
    found: dict[tuple[str, str], list[list[Any]]] = {}
    columns = ["stage", "reason", "source", "file_path", "offset"]
    for row in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
        if row[0] in corpus:
            found.setdefault((row[0], row[1]), []).append([row[0], row[1], samples.hash(*row[2:]), *row[2:]])
    return [row for _, rows in sorted(found.items()) for row in nsmallest(samples.most, rows, key=lambda r: r[2])]


def write_samples(survivors: Survivors, parts: list[TableFacts], folder: Path) -> None:
    """The sample file: of every stage and reason the texts with the smallest hashes."""
    run = load_run(str(survivors.work))
    found: dict[tuple[str, str], list[StoredRow]] = {}
    for rows in _sampled(survivors, parts):
        for row in rows:
            found.setdefault((row["stage"], row["reason"]), []).append(row)
        for key in {(row["stage"], row["reason"]) for row in rows}:  # cut at once: a crawl has many tasks
            found[key] = nsmallest(
                run.config.samples, found[key], key=lambda r: (r["hash"], r["file_path"], r["offset"])
            )
    chosen = [row for key in sorted(found) for row in found[key]]
    _fill([row for row in chosen if "text" not in row], survivors, [file.name for file in run.files])
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / ".samples.tmp"
    pq.write_table(pa.Table.from_pylist(chosen, schema=SAMPLES).combine_chunks(), temporary, compression="zstd")
    temporary.rename(folder / "samples.parquet")


def _sampled(survivors: Survivors, parts: list[TableFacts]) -> Iterator[list[StoredRow]]:
    """Sample rows of each scan task, then those of each ledger part, which have no text yet."""
    for task in survivors.tasks:
        yield pq.read_table(task.folder / "samples.parquet", schema=SAMPLES).to_pylist()
    names = ("stage", "reason", "hash", "source", "file_path", "offset")
    for part in parts:
        yield [dict(zip(names, row, strict=True)) for row in part["samples"]]


def _fill(rows: list[StoredRow], survivors: Survivors, names: list[str]) -> None:
    """Adds text and URL to the rows of survivors that a corpus stage dropped."""
    index = {name: number for number, name in enumerate(names)}
    starts, files = survivors.pieces
    stretches: dict[int, list[tuple[int, int]]] = {}  # of survivors of each file
    for file, start, end in zip(files.tolist(), starts.tolist(), [*starts[1:].tolist(), survivors.size]):
        stretches.setdefault(file, []).append((start, end))
    numbers = [_number(survivors, stretches[index[row["file_path"]]], row["offset"]) for row in rows]
    texts = survivors.rows(numbers, ["text", "url"])
    for row, number in zip(rows, numbers, strict=True):
        row["text"], row["url"] = texts[number]["text"][:SAMPLE_CHARACTERS], texts[number]["url"]


def _number(survivors: Survivors, stretches: list[tuple[int, int]], offset: int) -> int:
    """The number of the survivor at an offset of the input file that some stretches of survivors are from."""
    for start, end in stretches:
        offsets = survivors.offsets[start:end]
        place = int(np.searchsorted(offsets, offset))
        if place < len(offsets) and offsets[place] == offset:
            return start + place
    raise LookupError(f"file number {survivors.files_of(stretches[0][0])}: no survivor at {offset}")
