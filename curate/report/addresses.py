"""Rows of a run's tables by address, many at a time and without reading what can't hold them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curate.inspect.lookup import may_hold
from curate.inspect.opened import OpenedRun
from curate.routed.routed_file import RoutedFile

Place = tuple[str, int]  # file and offset
SPREAD_GROUPS = 16  # most row groups that rows from all over a table come from


def rows_at(run: OpenedRun, kind: str, addresses: Iterable[Place], columns: list[str]) -> list[dict[str, Any]]:
    """The rows of some addresses in a kind of table, with `file_path`, `offset` and the columns asked for."""
    known = set(addresses)
    offsets = pa.array(sorted({offset for _, offset in known}), pa.int64())
    found: list[dict[str, Any]] = []
    for path in run.parts(kind) if known else ():
        table = run.read_part(path, ["file_path", "offset", *columns])
        near = table.filter(pc.is_in(table.column("offset"), offsets)).to_pylist()
        found += (row for row in near if (row["file_path"], row["offset"]) in known)
    return found


class KeptText(NamedTuple):
    """URL and text of a kept page."""

    url: str | None
    text: str


def kept_texts(run: OpenedRun, addresses: Iterable[Place], most: int) -> dict[Place, KeptText]:
    """URLs and texts of kept pages, as far as at most so many row groups hold them.

    Shards in crawl order tell by their statistics where an offset lies; where too many row groups might hold one
    (a shuffled order), the rest goes without.
    """
    wanted = sorted(set(addresses))
    found: dict[Place, KeptText] = {}
    for path in run.parts("shards") if wanted else ():
        with run.open_part(path) as file:
            for group in range(file.num_row_groups):
                here = [address for address in wanted if may_hold(file, group, *address)]
                most -= bool(here)
                if most < 0:
                    return found
                found.update(_texts(file, group, set(here)) if here else ())
    return found


def _texts(file: RoutedFile, group: int, addresses: set[Place]) -> Iterator[tuple[Place, KeptText]]:
    places = file.read_row_group(group, ["file_path", "offset"])
    rows = [
        (row, address)
        for row, address in enumerate(zip(places.column("file_path").to_pylist(), places.column("offset").to_pylist()))
        if address in addresses
    ]
    if rows:
        table = file.read_row_group(group, ["url", "text"])
        urls, texts = table.column("url"), table.column("text")
        yield from ((address, KeptText(urls[row].as_py(), texts[row].as_py())) for row, address in rows)


class RowGroup(NamedTuple):
    """A row group of one part of a table."""

    path: Path
    number: int
    rows: int


def groups(run: OpenedRun, kind: str, most: int) -> list[RowGroup]:
    """At most so many row groups that hold rows, evenly from all of a kind of table."""
    found: list[RowGroup] = []
    for path in run.parts(kind):
        with run.open_part(path) as file:
            sizes = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        found += [RowGroup(path, number, rows) for number, rows in enumerate(sizes) if rows]
    return [found[place] for place in _evenly(len(found), most)]


def rows_of(run: OpenedRun, group: RowGroup, columns: list[str]) -> pa.Table:
    """Some columns of a row group."""
    with run.open_part(group.path) as file:
        return file.read_row_group(group.number, columns)


def spread(run: OpenedRun, kind: str, columns: list[str], most: int) -> Iterator[dict[str, Any]]:
    """At most so many rows of a kind of table, evenly from a few row groups; a document that repeats stands once."""
    chosen, seen = groups(run, kind, SPREAD_GROUPS), set[Place]()
    total, before = sum(group.rows for group in chosen), 0
    places = np.array(_evenly(total, most), np.int64)
    for group in chosen:
        own = places[(places >= before) & (places < before + group.rows)] - before
        before += group.rows
        for row in rows_of(run, group, ["file_path", "offset", *columns]).take(own).to_pylist():
            if (row["file_path"], row["offset"]) not in seen:
                seen.add((row["file_path"], row["offset"]))
                yield row


def _evenly(size: int, most: int) -> list[int]:
    """At most so many places of `size`, evenly apart."""
    number = min(size, most)
    return [place * size // number for place in range(number)]
