"""Random pages of a finished run to read: chosen by a hash of seed and address, their texts from wherever they are."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path
from typing import Any

from curate.errors import UserError
from curate.inspect.lookup import Found, group_of, row_at
from curate.inspect.opened import OpenedRun
from curate.inspect.reopen import Gone, Reopened, text_by_belt
from curate.output.facts import StoredRow
from curate.scan.samples import SAMPLE_CHARACTERS, Samples
from curate.stage import GUARD, READ

PLACE = ["source", "file_path", "offset"]
WITHOUT_TEXT = (READ, GUARD)  # verdicts before there was a text


@dataclass(frozen=True)
class Chosen:
    """A page to read. `origin` is where its text comes from: shards, samples, input, or None with `missing` as why."""

    source: str
    file_path: str
    offset: int
    url: str | None
    stage: str | None
    reason: str | None
    value: float | None
    limit: float | None
    text: str | None
    origin: str | None
    missing: str | None = None


def sampled_text(run: OpenedRun, found: Found) -> str | None:
    """The text of a dropped page where it is among the run's samples."""
    row = row_at(run, "samples", found.file, found.offset)
    return str(row["text"]) if row else None


def choose(run: OpenedRun, most: int, seed: int, kept: bool, stages: list[str], reasons: list[str]) -> list[Chosen]:
    """The `most` pages with the smallest hash(seed, address) among those kept, or dropped by stages and for reasons.

    Raises UserError for a stage or reason that dropped nothing.
    """
    _check(run, stages, reasons)
    rows = _kept(run, most, seed) if kept else _dropped(run, most, seed, stages, reasons)
    inputs = Reopened(run)
    return [_chosen(run, inputs, row) for row in rows]


def _check(run: OpenedRun, stages: list[str], reasons: list[str]) -> None:
    dropped = run.stats["dropped"]
    places = {row["stage"] for row in dropped}, {row["reason"] for row in dropped}
    for name, given, known in (("stage", stages, sorted(places[0])), ("reason", reasons, sorted(places[1]))):
        for value in given:
            if value not in known:
                raise UserError(
                    f"{run.folder}: no page was dropped with {name} '{value}'; there are {', '.join(known)}"
                )


def _kept(run: OpenedRun, most: int, seed: int) -> list[StoredRow]:
    places = (
        {"place": place, "part": path, "row": number}
        for path in run.parts("shards")
        for number, place in enumerate(_places(run.read_part(path, PLACE)))
    )
    chosen: list[StoredRow] = []
    seen: set[tuple[Any, ...]] = set()
    for one in _smallest(places, seed, most * 8 if _repeats(run) else most):
        if one["place"] not in seen and len(chosen) < most:  # a document may be written more than once
            seen.add(one["place"])
            chosen.append(_row(run, one["part"], one["row"]))
    return chosen


def _repeats(run: OpenedRun) -> bool:
    return bool(run.stats["kept"]["rows"] != run.stats["kept"]["documents"])


def _dropped(run: OpenedRun, most: int, seed: int, stages: list[str], reasons: list[str]) -> list[StoredRow]:
    def matching() -> Iterator[StoredRow]:
        for path in run.parts("ledger"):
            table = run.read_part(path, [*PLACE, "stage", "reason"])
            for name, wanted in (("stage", stages), ("reason", reasons)):
                if wanted:
                    encoded = table[name].combine_chunks().dictionary_encode()
                    among = [value in wanted for value in encoded.dictionary.to_pylist()]
                    rows = [row for row, code in enumerate(encoded.indices.to_pylist()) if among[code]]
                    table = table.take(rows)
            yield from ({"place": place} for place in _places(table))

    found = (row_at(run, "ledger", one["place"][1], one["place"][2]) for one in _smallest(matching(), seed, most))
    return [row for row in found if row]


def _places(table: Any) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in PLACE), strict=True)


def _smallest(rows: Iterator[StoredRow], seed: int, most: int) -> list[StoredRow]:
    hashed = Samples(0, seed).hash
    return nsmallest(most, rows, key=lambda row: (hashed(*row["place"]), row["place"]))


def _row(run: OpenedRun, path: Path, row: int) -> StoredRow:
    with run.open_part(path) as part:
        group, place = group_of(part, row)
        values: StoredRow = part.read_row_group(group, [*PLACE, "url", "text"]).slice(place, 1).to_pylist()[0]
        return values


def _chosen(run: OpenedRun, inputs: Reopened, row: StoredRow) -> Chosen:
    stage = row.get("stage")
    text, origin, missing = row.get("text"), "shards" if "text" in row else None, None
    if text is None:
        text = sampled_text(run, Found("ledger", row))
        origin = "samples" if text is not None else None
    if text is not None and origin == "samples" and len(text) >= SAMPLE_CHARACTERS:
        missing = f"cut to {SAMPLE_CHARACTERS:,} characters"
    if text is None and (stage in WITHOUT_TEXT or not row["words"]):
        missing = "it had no text yet"
    elif text is None:
        try:
            text = text_by_belt(run, inputs.document(row["file_path"], row["offset"]), stage)
            origin = "input"
        except Gone as error:
            missing = str(error)
    return Chosen(
        row["source"],
        row["file_path"],
        row["offset"],
        row.get("url"),
        stage,
        row.get("reason"),
        row.get("value"),
        row.get("limit"),
        text,
        origin,
        missing,
    )
