"""The whole path of one page through a finished run: each stage, each measure with its limits, and the verdict."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from curate.belt import SIZES
from curate.inspect.limits import Limit, limits_of
from curate.inspect.lookup import Found, numbers, row_at, rows_at
from curate.inspect.opened import OpenedRun
from curate.output.facts import Options, StoredRow
from curate.output.schema import FINEWEB, PLACE
from curate.stage import CAPS, OPENING, READ

PASSED, DROPPED, MEASURED, ANNOTATED, UNREACHED = "passed", "DROPPED", "measured", "annotated", "not reached"


@dataclass(frozen=True)
class Measure:
    """A measured value and the limits that judge it."""

    name: str
    value: Any
    limits: tuple[Limit, ...] = ()

    @property
    def broken(self) -> tuple[Limit, ...]:
        """The limits that the value breaks."""
        return tuple(limit for limit in self.limits if limit.broken(self.value))


@dataclass(frozen=True)
class Station:
    """One stage on a page's path. `verdict` is one of the five words above; `reason` where it dropped or would have."""

    stage: str
    verdict: str
    reason: str | None = None
    measures: tuple[Measure, ...] = ()


@dataclass(frozen=True)
class Twin:
    """The page that a duplicate is a copy of, and what became of it."""

    file: str
    offset: int
    score: float | None
    url: str | None = None
    fate: str = "kept"  # or the stage and reason that dropped it later


@dataclass(frozen=True)
class CutText:
    """What a stage took out of the page's text, as it saw it: characters, words, the beginning, what holds the same."""

    stage: str
    start: int
    end: int
    words: int
    text: str
    cause: str | None = None
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True)
class PagePath:
    """All that a run recorded of one page. `columns` are the shard's own columns of a kept page."""

    found: Found
    language: str | None
    words: int | None
    bytes: int | None
    stations: tuple[Station, ...]
    twin: Twin | None = None
    copies: tuple[Twin, ...] = ()  # pages dropped as copies of this one, at most MOST_COPIES
    copies_in_all: int = 0
    columns: dict[str, Any] = field(default_factory=dict)
    cuts: tuple[CutText, ...] = ()

    @property
    def kept(self) -> bool:
        return self.found.kind == "shards"


MOST_COPIES = 5


def page_path(run: OpenedRun, found: Found) -> PagePath:
    """Puts together what shards, ledger and measures say of a page."""
    row = found.row
    measures = row_at(run, "measures", found.file, found.offset) if row.get("url") is not None else None
    stations = _stations(run, row, found.kind == "shards", measures or {})
    copies = _copies(run, found)
    columns: dict[str, Any] = {
        name: (measures or {}).get(name) or row.get(name) for name in ("language", "words", "bytes")
    }
    if found.kind == "shards":
        columns |= {"language": row["language"], "words": len(row["text"].split()), "bytes": len(row["text"].encode())}
    return PagePath(
        found,
        columns["language"],
        columns["words"],
        columns["bytes"],
        stations,
        _twin(run, row),
        tuple(copies[:MOST_COPIES]),
        len(copies),
        _columns(row) if found.kind == "shards" else {},
        tuple(_cuts(run, found)),
    )


def _cuts(run: OpenedRun, found: Found) -> Iterator[CutText]:
    for row in rows_at(run, "cuts", found.file, found.offset):
        place = (row["stage"], row["start"], row["end"], row["words"], row["text"])
        yield CutText(*place, row["cause"], row["matched_file"], row["matched_offset"])


def _columns(row: StoredRow) -> StoredRow:
    shown = ("token_count",)
    own = [name for name in row if name not in FINEWEB and name not in PLACE]
    return {name: row[name] for name in (*shown, *own) if row[name] is not None}


def _stations(run: OpenedRun, row: StoredRow, kept: bool, measures: dict[str, Any]) -> tuple[Station, ...]:
    stage, reason = (None, None) if kept else (row["stage"], row["reason"])
    stations = [Station(name, DROPPED, reason) for name in OPENING if name == stage]
    dropped = bool(stations)
    if not dropped:
        stations.append(Station(READ, PASSED))
    left = measures.get("measured") or 0  # rule stages that measured the page
    for name, options in run.options.items():
        measured = _measures(name, options, measures)
        seen = bool(measured) and left > 0
        left -= bool(measured)
        if name == stage:
            stations.append(Station(name, DROPPED, reason, measured if seen else ()))
            dropped = True
        elif dropped and stage != CAPS:
            stations.append(Station(name, MEASURED if seen else UNREACHED, None, measured if seen else ()))
        elif dropped:
            stations.append(Station(name, UNREACHED))
        else:
            note = row.get(f"{name}_reason")
            stations.append(Station(name, ANNOTATED if note else PASSED, note, measured if seen else ()))
    return tuple(stations)


def _measures(stage: str, options: Options, measures: dict[str, Any]) -> tuple[Measure, ...]:
    """A rule stage's measures of the page with their limits, in the stage's order; none for other stages."""
    values = {name.removeprefix(f"{stage}."): value for name, value in measures.items() if name.startswith(f"{stage}.")}
    values = {name: value for name, value in values.items() if name not in SIZES and ":" not in name}
    limits = limits_of(stage, options, values) if values else {}
    return tuple(Measure(name, value, tuple(limits[name])) for name, value in values.items())


def _twin(run: OpenedRun, row: StoredRow) -> Twin | None:
    if row.get("matched_file") is None:
        return None
    file, offset = row["matched_file"], row["matched_offset"]
    for kind in ("shards", "ledger"):
        found = row_at(run, kind, file, offset)
        if found:
            fate = "kept" if kind == "shards" else f"itself dropped by {found['stage']}: {found['reason']}"
            return Twin(file, offset, row["score"], found["url"], fate)
    return Twin(file, offset, row["score"], None, "not found" if file in run.files else "of an earlier run")


def _copies(run: OpenedRun, found: Found) -> list[Twin]:
    """Pages that were dropped as copies of this one, most similar first."""
    copies = []
    columns = ["file_path", "offset", "url", "stage", "matched_file", "matched_offset", "score"]
    for path in run.parts("ledger"):
        mine = np.flatnonzero(numbers(run.read_part(path, ["matched_offset"]).column(0)) == found.offset).tolist()
        table = run.read_part(path, columns) if mine else None
        rows = [table.slice(row, 1).to_pylist()[0] for row in mine] if table else []
        copies += [
            Twin(row["file_path"], row["offset"], row["score"], row["url"], f"dropped by {row['stage']}")
            for row in rows
            if row["matched_file"] == found.file
        ]
    return sorted(copies, key=lambda twin: (-(twin.score or 0), twin.file, twin.offset))
