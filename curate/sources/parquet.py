"""Parquet files: one document a row; offsets count rows, parts are row groups."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.routed.routed_file import RoutedFile
from curate.sources.cells import BadCell, as_json, held, is_words, stored_type, values
from curate.sources.columns import Notes, column_types
from curate.sources.columns import held as held_as_declared
from curate.sources.dates import given_date, given_date_column, utc
from curate.sources.members.window import BytesFile
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.reading import open_input, unreadable
from curate.sources.settings import SourceConfig
from curate.text import clean

BATCH_ROWS = 256
NAME_TEXT = "name another with `text`"


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
        names = [config.name_of(name, schema.names) for name in schema.names]
        named = [name for name in (config.text, config.id, config.url, config.date) if name]
        wanted = names if config.columns == "all" else tuple(config.columns)
        for name in (*named, *(() if self._typed else wanted)):
            if name not in names:
                raise UserError(f"{place}: has no column '{name}', {self._way_to(name, names)}")
        if twice := next((name for name in (*config.own.values(), *wanted) if names.count(name) > 1), None):
            raise UserError(f"{place}: has more than one column '{twice}'; rename one of them")
        kinds = {name: field.type for name, field in zip(names, schema, strict=True)}
        if not is_words(kinds[config.text]):
            raise UserError(f"{place}: the column '{config.text}' is {kinds[config.text]}, no text; {NAME_TEXT}")
        if self._typed:
            return {**self._declared, **given_date_column(config)}
        carried = (name for name in wanted if config.columns != "all" or config.is_carried(name))
        return {**{name: stored_type(kinds[name]) for name in carried}, **given_date_column(config)}

    @property
    def _typed(self) -> bool:
        """Whether the config gives the types of the columns, and not the file."""
        return isinstance(self.config.columns, dict)

    @cached_property
    def _declared(self) -> Mapping[str, pa.DataType]:
        return column_types(self.config)

    def _way_to(self, name: str, names: list[str]) -> str:
        """What helps where a column is not there."""
        has = f"it has {', '.join(names) or 'none'}"
        if name == self.config.text:
            return f"{has}; {NAME_TEXT}"
        if name in self.config.columns:
            typed = f"give its type, `columns: {{{name}: double}}`, to have it null here"
            return f"{has}; take it from another with `rename`, or {typed}"
        return has

    def _open(self) -> RoutedFile:
        return RoutedFile(
            self.file.path, BytesFile(open_input(self.file.path, self.config)), page_checksum_verification=True
        )

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

    def _group(self, opened: RoutedFile, number: int, first: int, last: int) -> Iterator[Span]:
        row = first
        own, all_names = self.config.own.values(), opened.schema_arrow.names
        named = {name: self.config.name_of(name, all_names) for name in all_names}
        wanted = {name: new for name, new in named.items() if new in own or new in self.columns}
        try:
            for batch in opened.iter_batches(BATCH_ROWS, row_groups=[number], columns=list(wanted)):
                columns = [
                    values(batch.column(name), as_words=new in own and new not in self.columns)
                    for name, new in wanted.items()
                ]
                for cells in zip(*columns, strict=True):
                    yield self._span(row, dict(zip(wanted.values(), cells, strict=True)))
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
        carried, notes = self._carried(value)
        document = Document(
            address=Address(file.source, file.name, row),
            id=_words(value, config.own["id"]) or f"{file.name}#{row}",
            url=_words(value, config.own["url"]),
            date=utc(given),
            attributes={**carried, **given_date(config, given)},
        )
        if not isinstance(text, str | bytes):
            drop = Drop("not_text", cause=f"no text in column '{config.text}'")
            return Span(row, 1, "row", document, drop, notes)
        if len(text) > config.max_record_bytes:
            drop = Drop("too_large", len(text), config.max_record_bytes)
            return Span(row, 1, "row", document, drop, notes)
        return Span(row, 1, "row", document, notes=notes, settle=lambda: _with_text(row, document, text, notes))

    def _carried(self, value: dict[str, Any]) -> tuple[dict[str, Any], Notes]:
        """The carried columns; of declared types, those that fit, and notes of the others."""
        if not self._typed:
            return {name: held(value.get(name), kind) for name, kind in self.columns.items()}, ()
        return held_as_declared(self.config, self._declared, as_json(value))


def _with_text(row: int, document: Document, text: str | bytes, notes: Notes) -> Span:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            drop = Drop("undecodable", cause=f"not UTF-8 at byte {error.start}")
            return Span(row, 1, "row", document, drop, notes)
    return Span(row, 1, "row", document.with_text(clean(text)), notes=notes)


def _words(value: dict[str, Any], name: str) -> str:
    """A column as text; a date or time in ISO form; "" where there is none."""
    found = value.get(name)
    if found is None:
        return ""
    if isinstance(found, bytes):
        return clean(found.decode("utf-8", "replace"))
    isoformat = getattr(found, "isoformat", None)
    return clean(isoformat() if isoformat else str(found))
