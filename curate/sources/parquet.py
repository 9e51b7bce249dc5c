"""Parquet files: one document a row; offsets count rows, parts are row groups."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq

from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.sources.cells import BadCell, held, is_words, stored_type, values
from curate.sources.dates import given_date, given_date_column, utc
from curate.sources.members.window import BytesFile
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.reading import open_input, unreadable
from curate.sources.settings import SourceConfig
from curate.text import clean

BATCH_ROWS = 256


@dataclass(frozen=True)
class ParquetReader:
    """Reads one Parquet file; its columns keep their Arrow types."""

    config: SourceConfig
    file: InputFile

    suffixes: ClassVar[tuple[str, ...]] = (".parquet",)
    pages: ClassVar[bool] = False
    records: ClassVar[bool] = False

    @cached_property
    def columns(self) -> Mapping[str, pa.DataType]:
        """The carried columns with their types, from the file's schema. Raises UserError for one that is missing."""
        try:
            with self._open() as opened:
                schema = opened.schema_arrow
        except (OSError, pa.ArrowException):
            return {}  # the file is entered as damaged when it is read
        config, place = self.config, self.file.name
        named = [name for name in (config.text, config.id, config.url, config.date) if name]
        if isinstance(config.columns, dict):
            raise UserError(f"{place}: a Parquet file has its own types; give columns as a list of names or 'all'")
        wanted = schema.names if config.columns == "all" else config.columns
        for name in (*named, *wanted):
            if name not in schema.names:
                raise UserError(f"{place}: has no column '{name}'; it has {', '.join(schema.names) or 'none'}")
        if twice := next((name for name in (*config.own.values(), *wanted) if schema.names.count(name) > 1), None):
            raise UserError(f"{place}: has more than one column '{twice}'; rename one of them")
        if not is_words(schema.field(config.text).type):
            kind = schema.field(config.text).type
            raise UserError(f"{place}: the column '{config.text}' is {kind}, no text; name another with `text`")
        carried = (name for name in wanted if config.columns != "all" or config.is_carried(name))
        types = {name: stored_type(schema.field(name).type) for name in carried}
        return {**types, **given_date_column(config)}

    def _open(self) -> pq.ParquetFile:
        return pq.ParquetFile(BytesFile(open_input(self.file.path, self.config)), page_checksum_verification=True)

    def slices(self, file: InputFile, slice_bytes: int) -> list[Slice]:
        """Row groups gathered until their compressed size reaches `slice_bytes`."""
        try:
            with self._open() as opened:
                metadata = opened.metadata
        except (OSError, pa.ArrowException):
            return [Slice()]
        parts: list[Slice] = []
        start = row = size = 0
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            row += group.num_rows
            size += sum(group.column(i).total_compressed_size for i in range(group.num_columns))
            if size >= slice_bytes and row > start:
                parts.append(Slice(start, row))
                start, size = row, 0
        if row > start or not parts:
            parts.append(Slice(start, max(row, start)))
        return parts

    def size(self, file: InputFile) -> int | None:
        """Rows of the file; of one that can't be read, its bytes."""
        try:
            with self._open() as opened:
                return int(opened.metadata.num_rows)
        except (OSError, pa.ArrowException):
            return file.size

    def read(self, file: InputFile, part: Slice) -> Iterator[Span]:
        """One span of length 1 a row. A row group that can't be decoded is one damaged span."""
        try:
            opened = self._open()
        except (OSError, pa.ArrowException) as error:
            yield unreadable(file, part, error)
            return
        with opened:
            rows = opened.metadata.num_rows
            end = rows if part.end is None else min(part.end, rows)
            first = 0
            none = True
            for number in range(opened.metadata.num_row_groups):
                last = first + opened.metadata.row_group(number).num_rows
                if last > part.start and first < end:
                    for span in self._group(opened, number, first, last):
                        if part.start <= span.offset < end:
                            none = False
                            yield span
                first = last
            if none:
                yield Span(part.start, 0, "padding")

    def _group(self, opened: pq.ParquetFile, number: int, first: int, last: int) -> Iterator[Span]:
        row = first
        own = self.config.own.values()
        wanted = [name for name in opened.schema_arrow.names if name in own or name in self.columns]
        try:
            for batch in opened.iter_batches(BATCH_ROWS, row_groups=[number], columns=wanted):
                columns = [
                    values(batch.column(name), as_words=name in own and name not in self.columns) for name in wanted
                ]
                for cells in zip(*columns, strict=True):
                    yield self._span(row, dict(zip(wanted, cells, strict=True)))
                    row += 1
        except (OSError, pa.ArrowException, ValueError) as error:
            if row < last:
                yield Span(row, last - row, "damaged", drop=Drop("damaged", cause=str(error)))

    def _span(self, row: int, value: dict[str, Any]) -> Span:
        file, config = self.file, self.config
        if bad := next((cell for cell in value.values() if isinstance(cell, BadCell)), None):
            return Span(row, 1, "damaged", drop=Drop("damaged", cause=str(bad)))
        text = value.get(config.text)
        given = _words(value, config.own["date"])
        document = Document(
            address=Address(file.source, file.name, row),
            id=_words(value, config.own["id"]) or f"{file.name}#{row}",
            url=_words(value, config.own["url"]),
            date=utc(given),
            attributes={
                **{name: held(value.get(name), kind) for name, kind in self.columns.items()},
                **given_date(config, given),
            },
        )
        if not isinstance(text, str | bytes):
            drop = Drop("not_text", cause=f"no text in column '{config.text}'")
            return Span(row, 1, "row", document=document, drop=drop)
        if len(text) > config.max_record_bytes:
            drop = Drop("too_large", len(text), config.max_record_bytes)
            return Span(row, 1, "row", document=document, drop=drop)
        return Span(row, 1, "row", document=document, settle=lambda: _with_text(row, document, text))


def _with_text(row: int, document: Document, text: str | bytes) -> Span:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            drop = Drop("undecodable", cause=f"not UTF-8 at byte {error.start}")
            return Span(row, 1, "row", document=document, drop=drop)
    return Span(row, 1, "row", document=document.with_text(clean(text)))


def _words(value: dict[str, Any], name: str) -> str:
    """A column as text; a date or time in ISO form; "" where there is none."""
    found = value.get(name)
    if found is None:
        return ""
    if isinstance(found, bytes):
        return clean(found.decode("utf-8", "replace"))
    isoformat = getattr(found, "isoformat", None)
    return clean(isoformat() if isoformat else str(found))
