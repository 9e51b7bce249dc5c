"""The type of `export.json`, so that each of its keys is named once."""

from typing import Any, TypedDict


class SplitFacts(TypedDict):
    """What one split holds; `padded` are tokens that only fill rows."""

    documents: int
    sequences: int
    tokens: int
    padded: int


class PlacedPart(TypedDict):
    """One part of a split: the file that it went into, the token at which it begins there, and its index file."""

    split: str
    phase: int
    index: str
    file: str
    base: int
    tokens: int


class ExportedFile(TypedDict):
    """A file by its name under the export's folder."""

    name: str
    bytes: int
    sha256: str


# `from` is the hash of the shards. A class can't have a field of that name.
Origin = TypedDict(
    "Origin",
    {"settings": dict[str, Any], "from": str, "curate": str, "tokenizer": dict[str, Any] | None},
)


class ExportFacts(Origin):
    """`export.json`; `empty` documents gave no token. `itself` is the file's own hash, known once it is written."""

    splits: dict[str, SplitFacts]
    empty: int
    parts: list[PlacedPart]
    files: list[ExportedFile]
    itself: ExportedFile
