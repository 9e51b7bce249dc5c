"""WARC files: every record becomes one span; responses, resources and conversions become documents."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import ClassVar

import pyarrow as pa

from curate.document import Address, Document, Drop
from curate.sources.charset import broken_share, decode
from curate.sources.dates import given_date, given_date_column, utc
from curate.sources.http_response import (
    HttpResponse,
    TooLarge,
    decode_body,
    media_type,
    parse_response,
)
from curate.sources.members.arc_stream import arc_records
from curate.sources.members.digest import mismatch
from curate.sources.members.inflated import Inflated
from curate.sources.members.layout import FileLayout, layout
from curate.sources.members.line_ends import HEAD_BYTES, is_doubled
from curate.sources.members.member_chain import Codec, next_start
from curate.sources.members.warc_members import member_records
from curate.sources.members.warc_record import WarcHeader
from curate.sources.members.warc_stream import Record, Stretches, stream_records
from curate.sources.members.window import Window
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.reading import byte_size, byte_slices, crawl_window, or_damage
from curate.sources.settings import SourceConfig
from curate.sources.sniff import is_noise, sniff
from curate.text import clean

PAGES = frozenset({"response", "resource", "conversion"})
# Schemes under which crawlers store what is no page, as a response or resource: name look-ups, logs of wget and wpull,
# the texts, page lists and pictures of a browser crawler.
CRAWLERS_OWN = frozenset({"dns", "whois", "metadata", "urn", "screenshot", "thumbnail", "filedesc"})
CRAWLER = "crawler"  # the one type under which these are counted
HTTP = ("http", "https")
MOST_BROKEN = 0.2  # share of U+FFFD among the characters beyond ASCII; rounded by judgement
COLUMNS: dict[str, pa.DataType] = {"digest_mismatch": pa.bool_(), "length_mismatch": pa.bool_()}


@dataclass(frozen=True)
class WarcReader:
    """Reads .warc, .warc.gz and .warc.zst, WET files, which are WARC files of conversions, .arc, and those in a WACZ.

    `digest_mismatch` is null where no digest was checked (a CRC vouches for the bytes, or there is none), else
    whether the record's digest contradicts its bytes; `length_mismatch` says that Content-Length was wrong.
    """

    config: SourceConfig = field(default_factory=SourceConfig)
    file: InputFile | None = None

    suffixes: ClassVar[tuple[str, ...]] = (".warc", ".arc", ".wacz")
    pages: ClassVar[bool] = True
    records: ClassVar[bool] = True

    @cached_property
    def columns(self) -> Mapping[str, pa.DataType]:
        """Attributes that the documents carry."""
        truncated = {"truncated": pa.string()} if self.config.keep_truncated else {}
        return {**COLUMNS, **truncated, **given_date_column(self.config)}

    def slices(self, file: InputFile, slice_bytes: int) -> list[Slice]:
        """Parts of `slice_bytes` where the file is a row of members; else one."""
        return byte_slices(file, self.config, slice_bytes, lambda window: self._kind(window, file) == "members")

    def size(self, file: InputFile) -> int | None:
        """Bytes on disk; None where offsets count inflated bytes."""
        return byte_size(file, self.config, lambda window: self._kind(window, file) in ("members", "plain"))

    def read(self, file: InputFile, part: Slice) -> Iterator[Span]:
        """The spans of a part. What can't be opened or read is one damaged span. Raises SourceError."""
        return or_damage(file, part, self._spans(file, part))

    def _kind(self, window: Window, file: InputFile) -> str:
        """The layout of a file by its stored bytes; "" where its line ends were converted."""
        if is_doubled(window.take(0, HEAD_BYTES)):
            return ""
        return layout(window, file.name, self.config.max_record_bytes).kind

    def _spans(self, file: InputFile, part: Slice) -> Iterator[Span]:
        with crawl_window(file.path, self.config) as window:
            found = layout(window, file.name, self.config.max_record_bytes)
            start, records = self._records(window, found, part)
            none = True
            for record in records:
                none = False
                yield self.span(file, record)
            if none:
                yield Span(start, 0, "padding")

    def _records(self, window: Window, found: FileLayout, part: Slice) -> tuple[int, Iterator[Record]]:
        limit = self.config.max_record_bytes
        records = arc_records if found.arc else stream_records
        if found.codec is None:
            return part.start, _within(records(window, part.start, limit), part)
        if found.kind == "stream":
            return part.start, _within(_inflated_records(found.codec, limit, records), part)
        start = part.start if part.exact else next_start(found.codec, part.start, limit)
        end = window.size if part.end is None else min(part.end, window.size)  # a file may shrink while it is read
        return start, member_records(found.codec, start, end, limit)

    def span(self, file: InputFile, record: Record) -> Span:
        """The span of one record, its body left to `settle`."""
        offset, length, header = record.offset, record.length, record.header
        if record.fault:
            return Span(offset, length, "damaged", drop=Drop("damaged", cause=record.fault))
        if header is None:
            return Span(offset, length, "padding")
        kind = header.type
        if kind in PAGES and header.url.partition(":")[0].lower() in CRAWLERS_OWN:
            kind = CRAWLER
        if kind not in PAGES:
            return Span(offset, length, kind)
        address = Address(file.source, file.name, offset)
        document = Document(
            address=address,
            id=header.get("warc-record-id") or f"{file.name}#{offset}",
            url=header.url,
            date=utc(header.get("warc-date")),
            attributes={
                **dict.fromkeys(self.columns),
                "length_mismatch": record.length_mismatch,
                **given_date(self.config, header.get("warc-date")),
            },
        )
        if record.too_large:
            drop = Drop("too_large", record.too_large, self.config.max_record_bytes)
            return Span(offset, length, kind, document, drop)
        return Span(offset, length, kind, document, settle=partial(self._settled, kind, document, record, header))

    def _settled(self, kind: str, document: Document, record: Record, header: WarcHeader) -> Span:
        return Span(record.offset, record.length, kind, *self._verdict(document, record, header))

    def _verdict(self, document: Document, record: Record, header: WarcHeader) -> tuple[Document, Drop | None]:
        """The document with its body, or without it and the reader's reason against it."""
        limit = self.config.max_record_bytes
        http = _response(header, record.block)
        document = document.changed(status=http.status, charset=http.charset)
        drop = self._bad_status(http.status, header)
        if drop:
            return document, drop
        truncated = header.get("warc-truncated")
        if header.get("warc-segment-number"):
            truncated = "segment 1 of a record in several parts"
        if truncated and not self.config.keep_truncated:
            return document, Drop("truncated", len(record.block), cause=truncated)
        try:
            body = decode_body(http, limit)
        except TooLarge as error:
            return document, Drop("too_large", error.size, limit)
        truncated = truncated or body.cut
        if truncated and not self.config.keep_truncated:
            return document, Drop("truncated", len(record.block), cause=truncated)
        if self.config.keep_truncated:
            document = document.annotate(truncated=truncated or None)
        if not record.checked:
            payloads = (http.body, body.dechunked, body.data)
            document = document.annotate(digest_mismatch=mismatch(header, record.block, payloads))
        kind = sniff(body.data, http.content_type)
        if kind == "binary" or (body.refused and is_noise(body.data)):
            if body.refused:
                return document, Drop("undecodable", len(body.data), cause=f"content encoding {body.refused}")
            return document, Drop("not_text", len(body.data), cause=http.content_type)
        broken = broken_share(body.data, http.charset)
        if broken > MOST_BROKEN:
            return document, Drop("undecodable", broken, MOST_BROKEN, cause="no encoding fits the bytes")
        if kind == "html":
            return document.changed(html=body.data), None
        return document.with_text(clean(decode(body.data, http.charset)[0])), None

    def _bad_status(self, status: int | None, header: WarcHeader) -> Drop | None:
        """A status that is not wanted; and a server's answer without one, which may be anything."""
        if not self.config.status or status in self.config.status:
            return None
        if status is not None:
            return Drop("bad_status", status)
        answered = header.type == "response" and header.url.partition(":")[0].lower() in HTTP
        return Drop("bad_status", cause="no status line") if answered else None


def _response(header: WarcHeader, block: bytes) -> HttpResponse:
    """The HTTP response of a record; of a resource or conversion, its block under the record's Content-Type."""
    kind = header.get("content-type")
    if header.type == "response":
        response = parse_response(block)
        if response.status is not None or media_type(kind) == "application/http":
            return response
    return HttpResponse(None, {"content-type": kind}, block)


def _within(records: Iterator[Record], part: Slice) -> Iterator[Record]:
    """The records that start in the part; what lies before it is passed over."""
    for record in records:
        if part.end is not None and record.offset >= part.end:
            return
        if record.offset >= part.start:
            yield record


def _inflated_records(
    codec: Codec, max_bytes: int, records: Callable[[Stretches, int, int], Iterator[Record]]
) -> Iterator[Record]:
    """The records of a file whose members do not hold one record each; offsets count inflated bytes.

    A broken stretch of unknown inflated length counts with its compressed length.
    """
    base = position = 0
    while position < codec.window.size:
        inflated = Inflated(codec, position, base)
        faulty = False
        for record in records(inflated, base, max_bytes):
            yield record
            base = record.offset + record.length
            faulty = bool(record.fault)
        if not inflated.fault or (faulty and inflated.position >= codec.window.size):
            return  # a file that is merely cut loses the record that it ends in, and no other
        following = next_start(codec, inflated.member + 1, max_bytes, any_content=True)
        lost = max(1, following - inflated.position)
        yield Record(base, lost, fault=inflated.fault)
        base, position = base + lost, following
