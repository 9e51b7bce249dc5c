"""Reads test bytes with a reader and holds every reading to the rules that no input may break."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from curate.sources import READ_REASONS, SourceConfig, reader
from curate.sources.reader import InputFile, Reader, Slice, Span, settled


def put(folder: Path, name: str, data: bytes) -> InputFile:
    """Writes a file and describes it."""
    path = folder / name
    path.write_bytes(data)
    return InputFile("web", str(path), len(data), "")


def read(file: InputFile, **options: Any) -> list[Span]:
    """The spans of a whole file, which tile it and are well formed."""
    made = reader(SourceConfig(path=file.name, **options), file)
    spans = list(settled(made.read(file, Slice())))
    check(made, file, spans)
    return spans


def check(made: Reader, file: InputFile, spans: list[Span]) -> None:
    """Holds spans to the contract of `curate.sources.reader.Span`."""
    position = 0
    for span in spans:
        assert span.offset == position and span.length >= 0
        position += span.length
        if span.drop is not None:
            assert span.drop.reason in READ_REASONS
            assert (span.document is None) == (span.drop.reason == "damaged")
        if span.document is not None:
            assert span.document.address.offset == span.offset
            assert set(span.document.attributes) == set(made.columns)
    size = made.size(file)
    assert size is None or size == position


def sliced(made: Reader, file: InputFile, slice_bytes: int) -> list[Span]:
    """The spans of a file read slice by slice, each that does not meet its neighbour read again, as a run does."""
    spans: list[Span] = []
    end = 0
    for part in made.slices(file, slice_bytes):
        found = list(settled(made.read(file, part)))
        if found[0].offset != end:
            found = list(settled(made.read(file, Slice(end, part.end, exact=True))))
        assert found[0].offset == end
        end = found[-1].offset + found[-1].length
        spans += found
    return spans


def real(spans: Iterable[Span]) -> list[Span]:
    """Without the empty spans that mark slices in which nothing starts."""
    return [span for span in spans if span.length]


def kept(spans: Iterable[Span]) -> list[str]:
    """The last part of the URL of every document that is not dropped."""
    return [s.document.url.rpartition("/")[2] for s in spans if s.document is not None and s.drop is None]


def reasons(spans: Iterable[Span]) -> list[str]:
    """The reasons of the drops, in order."""
    return [s.drop.reason for s in spans if s.drop is not None]


def numbers(*ranges: range) -> list[str]:
    """Names of pages."""
    return [str(number) for part in ranges for number in part]
