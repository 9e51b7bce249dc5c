"""An index of a crawl as input: only the records that it names are read, by range, from WARC files local or remote.

Fields are those of Common Crawl's indexes: `filename`, `offset` and `length` in CDXJ files (a key, a timestamp and a
JSON object a line), `warc_filename`, `warc_record_offset` and `warc_record_length` in Parquet.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from curate.document import Drop
from curate.errors import UserError
from curate.errors import cause as explained
from curate.sources.members.gzip_members import GzipMembers
from curate.sources.members.lines import lines, text_layout
from curate.sources.members.warc_members import member_records
from curate.sources.members.warc_stream import Record, stream_records
from curate.sources.members.window import Bytes, BytesFile, MemoryBytes, Window
from curate.sources.members.zstd_frames import ZstdFrames
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.reading import open_input, or_damage, window_on
from curate.sources.remote import mask_url
from curate.sources.settings import SourceConfig
from curate.sources.warc import WarcReader

PARQUET = {"filename": "warc_filename", "offset": "warc_record_offset", "length": "warc_record_length"}
# What `where` may call a field, whichever of the two indexes it is.
NAMES = {
    "languages": "content_languages",
    "mime": "content_mime_type",
    "mime-detected": "content_mime_detected",
    "status": "fetch_status",
    "digest": "content_digest",
}
DOMAIN = "url_host_registered_domain"
OPEN_FILES = 8
NOT_ASKED = "not_selected"  # the type of rows that `where` leaves out
Row = Mapping[str, Any]


@dataclass(frozen=True)
class CdxReader:
    """Reads the records that an index names; their address is the row of the index (of CDXJ, the byte of the line)."""

    config: SourceConfig
    file: InputFile

    suffixes: ClassVar[tuple[str, ...]] = (".cdxj", ".cdx")
    pages: ClassVar[bool] = True
    records: ClassVar[bool] = False
    indirect: ClassVar[bool] = True

    @property
    def columns(self) -> Mapping[str, pa.DataType]:
        """The attributes that documents of a WARC file carry."""
        return WarcReader(self.config).columns

    def slices(self, file: InputFile, slice_bytes: int) -> list[Slice]:
        """One part; an index of many files is read in parallel."""
        return [Slice()]

    def size(self, file: InputFile) -> int | None:
        """Rows of a Parquet index; of CDXJ only the end of reading tells."""
        if not _is_parquet(file):
            return None
        with pq.ParquetFile(BytesFile(open_input(file.path, self.config))) as opened:
            return int(opened.metadata.num_rows)

    def read(self, file: InputFile, part: Slice) -> Iterator[Span]:
        """One span a row: its record, or a count of those that `where` leaves out. Raises SourceError."""
        return or_damage(file, part, self._spans(file, part))

    def _spans(self, file: InputFile, part: Slice) -> Iterator[Span]:
        rows = self._parquet_rows(file, part) if _is_parquet(file) else self._cdxj_rows(file, part)
        none = True
        with ExitStack() as stack:
            opened: dict[str, Bytes] = {}
            for offset, length, row in rows:
                if part.end is not None and offset >= part.end:
                    break
                if offset >= part.start:
                    none = False
                    yield self._span(file, offset, length, row, opened, stack)
        if none:
            yield Span(part.start, 0, "padding")

    def _cdxj_rows(self, file: InputFile, part: Slice) -> Iterator[tuple[int, int, Row | str]]:
        with closing(open_input(file.path, self.config)) as source:
            window = window_on(source)
            for line in lines(window, text_layout(window), part.start, self.config.max_record_bytes):
                yield line.offset, line.length, line.fault or _parsed(line.data)

    def _parquet_rows(self, file: InputFile, part: Slice) -> Iterator[tuple[int, int, Row | str]]:
        with pq.ParquetFile(BytesFile(open_input(file.path, self.config)), page_checksum_verification=True) as opened:
            there = opened.schema_arrow.names
            wanted = [*PARQUET.values(), *(NAMES.get(name, name) for name in self.config.where or {})]
            for name in wanted:
                if name not in there:
                    raise UserError(f"{file.name}: has no column '{name}'; is it a crawl's index?")
            row = 0
            for batch in opened.iter_batches(columns=list(dict.fromkeys(wanted))):
                for value in batch.to_pylist():
                    yield row, 1, {**value, **{ours: value[theirs] for ours, theirs in PARQUET.items()}}
                    row += 1

    def _span(
        self, file: InputFile, offset: int, length: int, row: Row | str, opened: dict[str, Bytes], stack: ExitStack
    ) -> Span:
        if isinstance(row, str):
            damage = Span(offset, length, "damaged", drop=Drop("damaged", cause=row))
            return damage if row else Span(offset, length, "padding")
        if not self._is_asked_for(row):
            return Span(offset, length, NOT_ASKED)
        try:
            place, start, size = self.config.prefix + row["filename"], int(row["offset"]), int(row["length"])
        except (KeyError, TypeError, ValueError):
            cause = "the row names no filename, offset and length"
            return Span(offset, length, "damaged", drop=Drop("damaged", cause=cause))
        try:
            data = self._opened(place, opened, stack).read_at(start, min(size, self.config.max_record_bytes))
        except OSError as error:  # a server that fails is a SourceError, which ends the run
            return Span(offset, length, "damaged", drop=Drop("damaged", cause=f"{mask_url(place)}: {explained(error)}"))
        record = replace(_record(data, self.config.max_record_bytes), offset=offset, length=length)
        return WarcReader(self.config).span(file, record)

    def _opened(self, place: str, opened: dict[str, Bytes], stack: ExitStack) -> Bytes:
        if place not in opened:
            if len(opened) >= OPEN_FILES:
                opened.pop(next(iter(opened))).close()
            opened[place] = stack.enter_context(closing(open_input(place, self.config)))
        return opened[place]

    def _is_asked_for(self, row: Row) -> bool:
        for name, wanted in (self.config.where or {}).items():
            values = {wanted} if isinstance(wanted, str) else set(wanted)
            found = row.get(NAMES.get(name, name), row.get(name))
            if name == DOMAIN and found is None:
                host = urlsplit(str(row.get("url", ""))).hostname or ""
                if not any(host == domain or host.endswith(f".{domain}") for domain in values):
                    return False
            elif values.isdisjoint(str(found).split(",") if "languages" in name else {str(found)}):
                return False
        return True


def _is_parquet(file: InputFile) -> bool:
    return file.name.partition("?")[0].lower().endswith(".parquet")


def _parsed(line: bytes) -> Row | str:
    """The JSON object of a CDXJ line; a cause where there is none; "" of a blank line or a header."""
    if not line.strip() or line.lstrip().startswith(b"!"):
        return ""
    try:
        row = json.loads(line[max(0, line.find(b"{")) :])
    except (ValueError, RecursionError):
        return "the line is no CDXJ: no JSON object behind key and timestamp"
    return row if isinstance(row, dict) else "the line is no CDXJ: no JSON object behind key and timestamp"


def _record(data: bytes, max_bytes: int) -> Record:
    """The record in a range of a WARC file: a gzip member, a zstd frame, or plain bytes."""
    window = Window(MemoryBytes(data))
    for codec in (GzipMembers(window), ZstdFrames(window)):
        if codec.starts(0):
            return next(iter(member_records(codec, 0, max(1, len(data)), max_bytes)))
    first = next((found for found in stream_records(window, 0, max_bytes)), None)
    if first is not None and (first.header is not None or first.fault):
        return first
    return Record(0, 0, fault="the WARC file holds no record here")
