"""Opening an input, local or remote; and what becomes of one that can't be opened."""

from curate.document import Drop
from curate.source import InputFile, Slice, Span
from curate.sources.config import SourceConfig
from curate.sources.window import Bytes, LocalBytes


def open_input(path: str, config: SourceConfig) -> Bytes:
    """The bytes of a file. Raises OSError where it can't be opened."""
    return LocalBytes(path)


def unreadable(file: InputFile, part: Slice, error: OSError) -> Span:
    """The span of a part whose file can't be read."""
    end = file.size if part.end is None else part.end
    cause = error.strerror or type(error).__name__
    return Span(part.start, max(0, end - part.start), "damaged", drop=Drop("damaged", cause=cause))
