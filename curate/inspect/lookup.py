"""Finds the rows of one page in a finished run, by URL, record id or address, without reading the rest."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.output.facts import StoredRow
from curate.routed.routed_file import RoutedFile

ID = {"shards": "id", "ledger": "record_id"}


class Found(NamedTuple):
    """A page's row: in `shards` when it was kept, in `ledger` when it was dropped."""

    kind: str
    row: StoredRow

    @property
    def file(self) -> str:
        return str(self.row["file_path"])

    @property
    def offset(self) -> int:
        return int(self.row["offset"])

    @property
    def address(self) -> str:
        return f"{self.file}:{self.offset}"


def find(run: OpenedRun, place: str) -> list[Found]:
    """All pages at a place: a URL (a crawl may hold it more than once), a record id, or FILE:OFFSET.

    Raises UserError where the run read no such page, with what it read instead.
    """
    address = parse_address(run, place)
    if address:
        return [_at(run, *address)]
    value = f"<{place}>" if place.startswith("urn:uuid:") else place
    found: list[Found] = []
    if not value.startswith("<urn:"):
        found = [Found(kind, row) for kind in ("shards", "ledger") for row in matching(run, kind, "url", value)]
    if not found:  # ids of JSONL and Parquet rows may be any word
        found = [Found(kind, row) for kind, column in ID.items() for row in matching(run, kind, column, value)]
    unique = {(page.file, page.offset): page for page in found}
    if not unique:
        raise UserError(f"{run.folder}: read no page '{place}'; {_near(run, place)}")
    order = {name: number for number, name in enumerate(run.files)}
    return sorted(unique.values(), key=lambda page: (order.get(page.file, -1), page.offset))


def parse_address(run: OpenedRun, place: str) -> tuple[str, int] | None:
    """File and offset where a place is an address in the run's input; the file may be named by its last parts."""
    name, colon, offset = place.rpartition(":")
    if not colon or not offset.isdecimal():
        return None
    file = ending_with(list(run.files), name)
    return None if file is None else (file, int(offset))


def ending_with(files: Sequence[str], name: str) -> str | None:
    """The one file with this path, or with these as its last parts. Raises UserError where there are several."""
    if name in files:
        return name
    ending = [file for file in files if file.endswith(f"/{name}")]
    if len(ending) > 1:
        raise UserError(f"'{name}' is the end of {len(ending)} input files (first: {ending[0]}); give more of the path")
    return ending[0] if ending else None


def row_at(run: OpenedRun, kind: str, file: str, offset: int) -> StoredRow | None:
    """The row of one page in shards, ledger or measures; only row groups whose statistics allow it are read."""
    return next(rows_at(run, kind, file, offset), None)


def rows_at(run: OpenedRun, kind: str, file: str, offset: int) -> Iterator[StoredRow]:
    """All rows of one page in a kind of table, such as `cuts`; none where the run wrote no such table."""
    for path in run.parts(kind):
        with run.open_part(path) as part:
            for group in (group for group in range(part.num_row_groups) if may_hold(part, group, file, offset)):
                offsets = numbers(part.read_row_group(group, ["offset"]).column(0))
                candidates = (_row(part, group, row) for row in np.flatnonzero(offsets == offset).tolist())
                yield from (row for row in candidates if row["file_path"] == file)


def matching(run: OpenedRun, kind: str, column: str, value: str) -> Iterator[StoredRow]:
    """All rows of shards or ledger with a text in a column; other columns are read for those alone."""
    for path in run.parts(kind):
        with run.open_part(path) as part:
            values = part.read([column]).column(0)
            for row in pc.indices_nonzero(pc.ends_with(values, value)).to_pylist():
                if values[row].as_py() == value:
                    yield _row(part, *group_of(part, row))


def numbers(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """An int64 column as NumPy; nulls as any number. (`to_numpy`, like every comparison with a Python value, brings
    in pandas where that is installed: half a second of an answer that takes one.)"""
    parts = [
        np.frombuffer(chunk.buffers()[1] or b"", np.int64, len(chunk), chunk.offset * 8) for chunk in column.chunks
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def group_of(part: RoutedFile, row: int) -> tuple[int, int]:
    """Row group of a row, and its place in there."""
    for group in range(part.num_row_groups):
        rows = part.metadata.row_group(group).num_rows
        if row < rows:
            return group, row
        row -= rows
    raise IndexError(row)


def _row(part: RoutedFile, group: int, row: int) -> StoredRow:
    values: StoredRow = part.read_row_group(group).slice(row, 1).to_pylist()[0]
    return values


def may_hold(part: RoutedFile, group: int, file: str, offset: int) -> bool:
    """Whether the statistics of a row group allow a place."""
    names, about = part.stored_names, part.metadata.row_group(group)
    places = [(names.index("file_path"), file), (names.index("offset"), offset)]
    statistics = [(about.column(index).statistics, value) for index, value in places]
    return all(s is None or not s.has_min_max or s.min <= value <= s.max for s, value in statistics)


def _at(run: OpenedRun, file: str, offset: int) -> Found:
    for kind in ("shards", "ledger"):
        row = row_at(run, kind, file, offset)
        if row:
            return Found(kind, row)
    around = _holding(run, file, offset)
    if around:
        return around
    raise UserError(f"{file}:{offset}: no page and no damage starts here; {_offsets_near(run, file, offset)}")


def _holding(run: OpenedRun, file: str, offset: int) -> Found | None:
    """The dropped page or the damage that an offset lies in."""
    for path in run.parts("ledger"):
        table = run.read_part(path, ["file_path", "offset", "length"])
        start, length = numbers(table.column("offset")), numbers(table.column("length"))
        inside = np.flatnonzero((start <= offset) & (offset < start + length))
        for row in inside.tolist():
            if table.column("file_path")[row].as_py() == file:
                found = row_at(run, "ledger", file, int(start[row]))
                return Found("ledger", found) if found else None
    return None


def _offsets_near(run: OpenedRun, file: str, offset: int) -> str:
    before, after = -1, None
    for kind in ("shards", "ledger"):
        for path in run.parts(kind):
            table = run.read_part(path, ["file_path", "offset"])
            offsets = table.filter(pc.equal(table.column("file_path"), file)).column("offset").to_numpy()
            before = max(before, int(offsets[offsets < offset].max(initial=-1)))
            later = offsets[offsets > offset]
            if len(later):
                after = int(later.min()) if after is None else min(after, int(later.min()))
    near = [str(value) for value in (before, after) if value is not None and value >= 0]
    return f"the nearest are at {' and '.join(near)}" if near else "the run read no page of this file"


def _near(run: OpenedRun, url: str) -> str:
    """Some URLs of the run that a mistaken one may mean."""
    bare = url.partition("://")[2] or url
    for wanted in (bare.rstrip("/"), bare.partition("/")[0]):
        near: list[str] = []
        for kind in ("shards", "ledger"):
            for path in run.parts(kind):
                urls = run.read_part(path, ["url"]).column("url").combine_chunks()
                near += urls.filter(pc.fill_null(pc.match_substring(urls, wanted), False))[:3].to_pylist()
        if wanted and near:
            return "it read " + ", ".join(sorted(set(near))[:3])
    return f"give a URL or FILE:OFFSET as the ledger has them (files: {', '.join(list(run.files)[:2])}, …)"
