"""Readers of crawl and text files: one file per kind of input, and the concerns they stand on."""

from curate.source import InputFile, Reader
from curate.sources.config import SourceConfig
from curate.sources.files import find_files
from curate.sources.warc import WarcReader

READ_REASONS = ("damaged", "bad_status", "not_text", "truncated", "too_large", "undecodable")

__all__ = ["READ_REASONS", "SourceConfig", "find_files", "reader"]


def reader(config: SourceConfig, file: InputFile) -> Reader:
    """The reader of a file: by `format`, or by the file's suffix where that is `auto`."""
    return WarcReader(config)
