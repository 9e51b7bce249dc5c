"""Rows of a run's tables by address, many at a time and without reading what can't hold them."""

from collections.abc import Iterable
from typing import Any

import pyarrow.dataset as ds

Address = tuple[str, int]  # file and offset


def rows_at(table: ds.Dataset, addresses: Iterable[Address], columns: list[str]) -> list[dict[str, Any]]:
    """The rows of some addresses, with `file_path`, `offset` and the columns asked for."""
    if "offset" not in table.schema.names:
        return []
    known = set(addresses)
    offsets = sorted({offset for _, offset in known})
    rows = table.to_table(columns=["file_path", "offset", *columns], filter=ds.field("offset").isin(offsets))
    return [row for row in rows.to_pylist() if (row["file_path"], row["offset"]) in known]


def kept_texts(shards: ds.Dataset, addresses: Iterable[Address], most: int) -> dict[Address, str]:
    """Texts of kept pages, as far as at most so many row groups hold them.

    Shards in crawl order tell by their statistics where an offset lies; where too many row groups might hold one
    (a shuffled order), the rest goes without.
    """
    if "offset" not in shards.schema.names:
        return {}
    found: dict[Address, str] = {}
    for file, offset in addresses:
        here = (ds.field("file_path") == file) & (ds.field("offset") == offset)
        pieces = [piece for fragment in shards.get_fragments(here) for piece in fragment.split_by_row_group(here)]
        most -= len(pieces)
        if most < 0:
            break
        for piece in pieces:
            for row in piece.to_table(columns=["text"], filter=here, schema=shards.schema).to_pylist():
                found[file, offset] = row["text"]
    return found
