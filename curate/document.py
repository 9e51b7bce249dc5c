"""The document: what travels along the belt. Immutable; named by where it lies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from curate.text import normalize

CACHED = ("words", "normalized")  # forms of a document's text that are made once


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Where a document lies: the name of its source, its file as the config names it, and its offset.

    The offset is that of the gzip member (or of the record when uncompressed) in a WARC, a byte of the
    decompressed stream in JSONL and in one-member gzip files, the row index in Parquet.
    """

    source: str
    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True)
class Document:
    """One page or text. `html` is None where the source holds text already (WET, JSONL, Parquet)."""

    address: Address
    id: str = ""  # WARC-Record-ID, the id column, or file#offset
    url: str = ""
    date: str = ""  # ISO 8601 as the source gives it
    html: bytes | None = None  # body after transfer and content decoding
    charset: str | None = None  # what the HTTP header declares, lower case
    text: str = ""
    status: int | None = None  # HTTP status
    attributes: Mapping[str, Any] = field(default_factory=dict)  # declared by sources and stages; columns

    def with_text(self, text: str) -> "Document":
        """The same document with other text."""
        return self.changed(text=text)

    def annotate(self, **attributes: Any) -> "Document":
        """The same document with attributes added; the text's cached forms are carried over."""
        return self.changed(attributes={**self.attributes, **attributes}) if attributes else self

    def changed(self, **values: Any) -> "Document":
        """A copy with other values of some fields: a third of the time of `dataclasses.replace`."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.__dict__.update(values)
        if "text" in values:
            for name in CACHED:
                new.__dict__.pop(name, None)
        return new

    @cached_property
    def words(self) -> list[str]:
        """The text split at white space: the one tokenisation that all stages share."""
        return self.text.split()

    @cached_property
    def normalized(self) -> str:
        """The text as the dedup stages compare it (`curate.text.normalize`)."""
        return normalize(self.text)


@dataclass(frozen=True, slots=True)
class Drop:
    """A verdict against a document: the declared reason, the measured value and the limit it broke."""

    reason: str
    value: float | None = None
    limit: float | None = None
    cause: str = ""  # free text: an error's message, a matched word, ...
