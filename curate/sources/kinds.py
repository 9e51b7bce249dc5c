"""The kind of a file by its suffix."""

from typing import Literal

from curate.errors import UserError

Kind = Literal["warc", "wet", "jsonl", "parquet"]
SUFFIXES: dict[str, Kind] = {
    ".warc": "warc", ".wet": "wet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet",
}  # fmt: skip
COMPRESSED = (".gz", ".zst")


def kind_of(name: str, format: str, place: str) -> Kind:
    """The kind of a file: `format` unless that is "auto". Raises UserError for a suffix that nobody reads."""
    for kind in SUFFIXES.values():
        if format == kind:
            return kind
    bare = name.partition("?")[0].lower() if "://" in name else name.lower()
    for ending in COMPRESSED:
        bare = bare.removesuffix(ending)
    if bare.endswith(".arc"):
        raise UserError(f"{place}: '{name}' is an ARC file; convert it with `warcio recompress {name} NEW.warc.gz`")
    for suffix, kind in SUFFIXES.items():
        if bare.endswith(suffix):
            return kind
    known = ", ".join(SUFFIXES)
    raise UserError(
        f"{place}: '{name}' has none of the known endings ({known}, each also with .gz or .zst); set `format`"
    )
