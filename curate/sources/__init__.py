"""Readers of crawl and text files: one file per kind of input, and the concerns they stand on."""

from curate.sources.files import find_files, identity, is_there
from curate.sources.jsonl import JsonlReader
from curate.sources.kinds import kind_of
from curate.sources.parquet import ParquetReader
from curate.sources.reader import InputFile, Reader
from curate.sources.remote import mask_url, masked
from curate.sources.settings import SourceConfig
from curate.sources.warc import WarcReader
from curate.sources.wet import WetReader

READ_REASONS = ("damaged", "bad_status", "not_text", "truncated", "too_large", "undecodable")

__all__ = [
    "READ_REASONS", "SourceConfig", "WarcReader", "find_files", "identity", "is_there", "mask_url", "masked", "reader",
]  # fmt: skip


def reader(config: SourceConfig, file: InputFile) -> Reader:
    """The reader of a file: by `format`, or by the file's suffix where that is `auto`. Raises UserError."""
    kind = kind_of(file.name, config.format, f"input.{file.source}")
    if kind == "jsonl":
        return JsonlReader(config)
    if kind == "parquet":
        return ParquetReader(config, file)
    return WetReader(config) if kind == "wet" else WarcReader(config)
