"""What a reader of one kind of input must offer, and the spans that it yields."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from curate.document import Document, Drop


@dataclass(frozen=True, slots=True)
class Span:
    """What lies at [offset, offset + length) of a file. The spans of a file tile it without gap or overlap.

    Exactly one of these holds: a document (perhaps with the reader's own verdict in `drop`: `bad_status`,
    `not_text`, `truncated`, ...; then `document` still carries address, url, date and status); damage (`drop` with
    reason `damaged`, `document` None, the cause in `drop.cause`); or a record that is no document (`document` and
    `drop` None), counted under `type` ("request", "warcinfo", "metadata", "revisit", ..., "padding").
    Offsets and lengths are in the unit of `Address.offset`.

    What takes time that a page could make long (decoding its body, cleaning its text) a reader leaves to `settle`,
    which is called under the guard: until then `document` holds what the record's header tells.
    """

    offset: int
    length: int
    type: str
    document: Document | None = None
    drop: Drop | None = None
    notes: tuple[str, ...] = ()  # what the record is counted under besides: columns that do not hold its values
    settle: Callable[[], "Span"] | None = field(default=None, compare=False, repr=False)

    def settled(self) -> "Span":
        """The span in its final form; itself where nothing is left to do."""
        return self if self.settle is None else self.settle()


def settled(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in their final form, for who reads without a guard."""
    return (span.settled() for span in spans)


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of a source. `name` is its path as the config gives it (a glob expanded), its name in all outputs."""

    source: str
    name: str
    size: int  # bytes on disk
    version: str  # ETag, or modification time, or "": part of the fingerprint

    @property
    def path(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a file that one task scans: the records that start in [start, end).

    `exact` says that `start` is known to be where a record (or damage) starts; else the reader must find the
    first true start at or after it. `end` None means to the end of the file. Units as `Address.offset`.
    """

    start: int = 0
    end: int | None = None
    exact: bool = True


class Reader(Protocol):
    """Reads one format, as `Reader(config, file)`; frozen dataclasses.

    One whose files only name what is read says `indirect = True`: small files of others may share a task.
    """

    suffixes: ClassVar[tuple[str, ...]]
    """endings of names that tell the format, without that of a compression; () where only `format` does"""

    pages: ClassVar[bool]
    """whether its documents may be web pages, which a stage must turn into text"""

    records: ClassVar[bool]
    """whether its spans are WARC records, which can be written to a WARC of their own"""

    @property
    def columns(self) -> Mapping[str, pa.DataType]:
        """Attributes that its documents carry, with their types."""

    def slices(self, file: InputFile, slice_bytes: int) -> list[Slice]:
        """Cuts a file into parts that can be read apart; [Slice()] where it can't be cut."""

    def read(self, file: InputFile, part: Slice) -> Iterator[Span]:
        """The spans of the records that start in the slice, in order. The first span's offset is the first true
        start; the end of the last span is where the next slice must begin. Where no record starts in the slice,
        one empty span of type "padding" (length 0) at the next true start is yielded."""

    def size(self, file: InputFile) -> int | None:
        """Length of the file in the unit of its offsets, once known (None: only the end of reading tells)."""


def as_json(value: Any) -> Any:
    """A value as plain JSON types (tuples as lists), for canonical configs."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_json(getattr(value, f.name)) for f in fields(value) if f.init}
    if isinstance(value, Mapping):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(v) for v in value]
    return value
