"""From a token of an export back to the page that it is from."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from curate.errors import UserError
from curate.export.export import NAME, opened
from curate.export.facts import ExportFacts
from curate.inspect.lookup import numbers
from curate.inspect.opened import OpenedRun
from curate.output.folder import EXPORT
from curate.output.manifest import shards_digest


class TokenPlace(NamedTuple):
    """A token's page, and where in the piece of the page the token stands, counted from 0."""

    address: str
    token: int
    of: int


def token_place(run: OpenedRun, place: str) -> TokenPlace | None:
    """What FILE:TOKEN names where FILE belongs to an export of the run; None where it does not.

    Raises UserError where the export is another run's, or the token is none of a page's.
    """
    name, colon, token = place.rpartition(":")
    found = next(_exported(run, name), None) if colon and token.isdecimal() else None
    if found is None:
        return None
    folder, file = found
    exported = opened(folder)
    if exported["from"] != shards_digest(run.manifest["shards"]):
        raise UserError(f"{folder}: is the export of another run; give its output folder")
    return _within(folder, exported, file, int(token))


def _exported(run: OpenedRun, name: str) -> Iterator[tuple[Path, str]]:
    """The export folders that hold a file of this name, and what it is called in there."""
    for path in (Path(name), run.folder / name, run.folder / EXPORT / name):
        if path.is_file():
            for folder in list(path.parents)[:2]:
                if (folder / NAME).exists():
                    yield folder, path.relative_to(folder).as_posix()


def _within(folder: Path, exported: ExportFacts, file: str, token: int) -> TokenPlace:
    parts = [part for part in exported["parts"] if part["file"] == file]
    if not parts:
        raise UserError(f"{folder / file}: holds no tokens; give one of the files that it names")
    for part in parts:
        if part["base"] <= token < part["base"] + part["tokens"]:
            return _page(folder / part["index"], token - part["base"], f"{file}:{token}")
    total = parts[-1]["base"] + parts[-1]["tokens"]
    raise UserError(f"{folder / file}: has {total} tokens, from 0 to {total - 1}; there is none at {token}")


def _page(index: Path, token: int, place: str) -> TokenPlace:
    with pq.ParquetFile(index) as rows:
        starts = numbers(rows.read(["start"]).column(0))
        row = int(np.searchsorted(starts, token, "right")) - 1
        for group in range(rows.num_row_groups):
            count = rows.metadata.row_group(group).num_rows
            if row < count:
                document = rows.read_row_group(group).slice(row, 1).to_pylist()[0]
                break
            row -= count
    if token >= document["end"]:
        raise UserError(f"{place}: fills a row, and is of no page")
    return TokenPlace(
        f"{document['file_path']}:{document['offset']}", token - document["start"], document["end"] - document["start"]
    )
