"""Closed accounting: every byte of the input and every record read is found again in what was written."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq

from curate.decide.survivors import Survivors, lengths
from curate.output.facts import AlarmRow, Dropped, Kept, KeptBy, Stats
from curate.output.written import ShardFacts, TableFacts
from curate.scan.stored import read_bytes
from curate.scan.tasks import Piece, ScanResult, load_run
from curate.sources import is_there, reader
from curate.sources.reader import InputFile
from curate.stage import OPENING

Counted = list[list[Any]]


class AccountsOpen(Exception):
    """Records or bytes are missing or counted twice: a bug, never a property of the input."""


def check_bytes(survivors: Survivors, results: list[ScanResult], limited: bool) -> None:
    """The spans of each file tile it. Bytes are summed from the written rows and compared with the offsets."""
    run = load_run(str(survivors.work))
    by_file: dict[int, list[Piece]] = {}
    sizes: dict[int, int | None] = {}  # that tasks looked up themselves
    for index, (task, result) in enumerate(zip(survivors.tasks, results, strict=True)):
        for number, piece, rows in zip(task.file_numbers, result["pieces"], lengths(survivors, index)):
            written, read = rows + piece["other"], piece["end"] - piece["first"]
            if written != read:
                name = run.files[number].name
                raise AccountsOpen(f"{name}: task {task.index} read {read} bytes but entered {written}")
            by_file.setdefault(number, []).append(piece)
            if task.reads_all:
                sizes[number] = piece["size"]
    for number, pieces in by_file.items() if not limited else ():
        file = run.files[number]
        if number not in sizes:
            sizes[number] = reader(run.config.input[file.source], file).size(file) if is_there(file) else None
        _check_ends(file, pieces, sizes[number])


def _check_ends(file: InputFile, pieces: list[Piece], size: int | None) -> None:
    for before, after in pairwise(pieces):
        if before["end"] != after["first"]:
            raise AccountsOpen(f"{file.name}: nothing entered between {before['end']} and {after['first']}")
    if pieces[0]["first"] != 0 or (size is not None and pieces[-1]["end"] != size):
        raise AccountsOpen(f"{file.name}: entered bytes {pieces[0]['first']} to {pieces[-1]['end']} of {size}")


def check_rows(read: int, shards: Path, parts: Path, documents: int, dropped: int) -> None:
    """read = kept + dropped, with the rows counted in the finished files."""
    ledger = sum(pq.read_metadata(path).num_rows for path in parts.glob("part-*.parquet"))
    if read != documents + ledger or ledger != dropped:
        raise AccountsOpen(f"{shards.parent}: read {read}, but kept {documents} and entered {ledger} dropped")


def stats(
    survivors: Survivors,
    results: list[ScanResult],
    shards: list[ShardFacts],
    parts: list[TableFacts],
    notes: dict[str, dict[str, int]],
    alarms: list[AlarmRow],
) -> Stats:
    """`stats.json`: integers only, for the whole run."""
    run = load_run(str(survivors.work))
    kept = merged((row for shard in shards for row in shard["kept"]), 2)
    dropped = merged((row for part in parts for row in part["dropped"]), 4)
    types, total = read_types(results), totals(kept, 2, 4)
    return {
        "stages": [*OPENING, *(entry.name for entry in run.config.stages)],
        "read": {
            "documents": sum(r["documents"] for r in results),
            "bytes": _read_bytes(survivors, results),
        },
        "records": {kind: {"records": count, "bytes": size} for kind, (count, size) in types.items()},
        "kept": cast(Kept, dict(zip(Kept.__annotations__, (*total, sum(s["rows"] for s in shards)), strict=True))),
        "kept_by": [cast(KeptBy, dict(zip(KeptBy.__annotations__, row, strict=True))) for row in kept],
        "dropped": [cast(Dropped, dict(zip(Dropped.__annotations__, row, strict=True))) for row in dropped],
        "notes": {stage: dict(sorted(counts.items())) for stage, counts in sorted(notes.items())},
        "alarms": alarms,
    }


def _read_bytes(survivors: Survivors, results: list[ScanResult]) -> int:
    run, tasks = load_run(str(survivors.work)), survivors.tasks
    limited = {number for task in tasks if task.limit is not None for number in task.file_numbers}
    files = {number: run.files[number] for number in sorted(limited) if is_there(run.files[number])}
    extents = {number: reader(run.config.input[file.source], file).size(file) for number, file in files.items()}
    read = [[piece["end"] - piece["first"] for piece in result["pieces"]] for result in results]
    return read_bytes(tasks, run.files, read, extents)


def read_types(results: list[ScanResult]) -> dict[str, tuple[int, int]]:
    """Records and bytes by record type over all tasks."""
    records: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for result in results:
        for kind, (count, size) in result["types"].items():
            records[kind] += count
            sizes[kind] += size
    return {kind: (records[kind], sizes[kind]) for kind in sorted(sizes)}


def merged(rows: Iterable[list[Any]], keys: int) -> Counted:
    """Counts with equal keys added up, in order of their keys."""
    sums: dict[tuple[Any, ...], list[int]] = {}
    for row in rows:
        total = sums.setdefault(tuple(row[:keys]), [0] * (len(row) - keys))
        for place, value in enumerate(row[keys:]):
            total[place] += value
    return [[*key, *sums[key]] for key in sorted(sums, key=lambda key: [part or "" for part in key])]


def totals(rows: Counted, keys: int, counts: int) -> list[int]:
    """Sums of all counts, which stand behind the keys."""
    return [sum(row[keys + place] for row in rows) for place in range(counts)]
