"""What an output format must offer, and where formats are found: the entry point group `curate.formats`.

A format is written part by part, each part by a task of its own (open, write, close → facts); `finish` then joins
parts or writes the file that names them, last, so that a reader never sees half an export.
"""

from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.entries import entries
from curate.errors import UserError, hint

GROUP = "curate.formats"


class ExportLayout(NamedTuple):
    """What is common to all files of an export."""

    dtype: np.dtype[Any]  # of a token, little-endian; uint8 where texts are exported
    text: bool  # UTF-8 bytes of texts instead of tokens
    length: int | None  # tokens of each sequence; None where a sequence is a document
    tokenizer: str  # name of the tokenizer's file; "" for texts


class Part(NamedTuple):
    """One part of a split: the unit that a task writes."""

    final: Path  # folder of the export
    work: Path  # scratch of the export, for what `finish` joins
    split: str  # `train` or `validation`
    number: int
    layout: ExportLayout


class Block(NamedTuple):
    """Whole sequences, one after the other. `ends[i]` is where sequence i ends in `tokens`."""

    tokens: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    documents: pa.Table | None  # id and url of each sequence, where a sequence is a document


class PartFacts(TypedDict):
    """What one part came to: plain JSON, since a resumed export reads it back."""

    file: str  # the export's file that holds the part, relative to its folder
    bytes: int  # of the part
    sequences: int
    tokens: int  # bytes of text where texts are exported


class PartWriter(Protocol):
    """Writes one part under a temporary name; `close` renames it."""

    def write(self, block: Block) -> None: ...

    def close(self) -> PartFacts: ...


class Format(Protocol):
    """A layout of training files. `needs` says what it can hold:

    `tokens`, `rows` (sequences of one length, as its reader knows no documents), or `any` (texts, too).
    """

    @property
    def needs(self) -> Literal["tokens", "rows", "any"]: ...  # a class variable will do

    def path(self, part: Part) -> Path:
        """Where a closed part lies: in `part.final`, or in `part.work` where `finish` joins parts."""

    def open(self, part: Part) -> PartWriter: ...

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        """Completes one split, given all its parts in order. May be called again after a kill."""


def installed() -> tuple[str, ...]:
    """Names of all formats, those of other packages too."""
    return tuple(entries(GROUP))


def named(name: str) -> Format:
    """The format of that name. Raises UserError where there is none, or where its package can't be imported."""
    point = entries(GROUP).get(name)
    if point is None:
        raise UserError(f"unknown format '{name}', {hint(name, installed())}")
    try:
        made: Format = point.load()()
    except (ImportError, AttributeError) as error:
        raise UserError(f"format '{name}': {point.value} can't be loaded ({error}); see to its package") from error
    return made
