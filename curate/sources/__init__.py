"""Readers of crawl and text files: one file per kind of input, and the concerns they stand on."""

from curate.sources.files import find_files, identity, is_there, size_now
from curate.sources.formats import hold_to_names, indirect, reader
from curate.sources.remote import mask_url, masked
from curate.sources.settings import SourceConfig

READ_REASONS = ("damaged", "bad_status", "not_text", "truncated", "too_large", "undecodable")

__all__ = [
    "READ_REASONS",
    "SourceConfig",
    "find_files",
    "hold_to_names",
    "identity",
    "indirect",
    "is_there",
    "mask_url",
    "masked",
    "reader",
    "size_now",
]
