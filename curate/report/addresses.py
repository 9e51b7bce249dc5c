"""Rows of a run's tables by address, many at a time and without reading what can't hold them."""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curate.inspect.lookup import may_hold
from curate.inspect.opened import OpenedRun

Place = tuple[str, int]  # file and offset


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


def kept_texts(run: OpenedRun, addresses: Iterable[Place], most: int) -> dict[Place, str]:
    """Texts of kept pages, as far as at most so many row groups hold them.

    Shards in crawl order tell by their statistics where an offset lies; where too many row groups might hold one
    (a shuffled order), the rest goes without.
    """
    wanted = sorted(set(addresses))
    found: dict[Place, str] = {}
    for path in run.parts("shards") if wanted else ():
        with run.open_part(path) as file:
            for group in range(file.num_row_groups):
                here = [address for address in wanted if may_hold(file, group, *address)]
                most -= bool(here)
                if most < 0:
                    return found
                found.update(_texts(file, group, set(here)) if here else ())
    return found


def _texts(file: pq.ParquetFile, group: int, addresses: set[Place]) -> Iterator[tuple[Place, str]]:
    places = file.read_row_group(group, ["file_path", "offset"])
    rows = [
        (row, address)
        for row, address in enumerate(zip(places.column("file_path").to_pylist(), places.column("offset").to_pylist()))
        if address in addresses
    ]
    if rows:
        texts = file.read_row_group(group, ["text"]).column("text")
        yield from ((address, texts[row].as_py()) for row, address in rows)
