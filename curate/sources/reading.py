"""Opening an input, local or remote; and what becomes of one that can't be opened."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pyarrow as pa

from curate.document import Drop
from curate.sources.members.line_ends import HEAD_BYTES, RestoredBytes, is_doubled
from curate.sources.members.window import BLOCK_BYTES, Bytes, LocalBytes, Window
from curate.sources.members.zip_entries import BadArchive, EntryBytes, zip_entries
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.remote import RemoteBytes, is_url, mask_url
from curate.sources.settings import SourceConfig

IN_ARCHIVE = re.compile(r"(?is)(.+?\.wacz(?:[?#][^!]*)?)!/(.+)")
REMOTE_BLOCK_BYTES = 8 << 20  # a range request costs a round trip


def open_input(path: str, config: SourceConfig) -> Bytes:
    """The bytes of a file. Raises OSError where it can't be opened, SourceError where a server fails for good."""
    archive, entry = in_archive(path)
    if entry:
        return _entry_bytes(open_input(archive, config), entry)
    if is_url(path):
        return RemoteBytes(real_url(path, config), config.storage, config.parallel_requests)
    return LocalBytes(path.removeprefix("file://"))


def in_archive(name: str) -> tuple[str, str]:
    """The archive and the name inside it, of a file in a WACZ (`crawl.wacz!/archive/data.warc.gz`); else it and ""."""
    inside = IN_ARCHIVE.fullmatch(name)
    return (inside[1], inside[2]) if inside else (name, "")


def _entry_bytes(archive: Bytes, name: str) -> EntryBytes:
    """One file of an archive. Raises BadArchive, which is an OSError."""
    try:
        for entry in zip_entries(archive):
            if entry.name == name:
                return EntryBytes(archive, entry)
        raise BadArchive(f"'{name}' is no longer in the archive")
    except OSError:
        archive.close()
        raise


@contextmanager
def crawl_window(path: str, config: SourceConfig) -> Iterator[Window]:
    """A window on a WARC or ARC file; on one in which each LF got a CR before it, without those."""
    with closing(open_input(path, config)) as source:
        window = window_on(source)
        if is_doubled(window.take(0, HEAD_BYTES)):
            with closing(RestoredBytes(source)) as restored:
                yield window_on(restored)
        else:
            yield window


def window_on(source: Bytes) -> Window:
    """A window whose blocks suit the source."""
    return Window(source, BLOCK_BYTES if isinstance(source, LocalBytes) else REMOTE_BLOCK_BYTES)


def real_url(name: str, config: SourceConfig) -> str:
    """The URL behind a masked name: credentials stand in the config only, never in an output."""
    if "***" not in name:
        return name
    for given in (*config.given, config.prefix, config.paths or ""):
        masked = mask_url(given)
        if masked == name:
            return given
        site, real = masked.partition("***@"), given.partition("@")
        host = site[2].partition("/")[0]
        if site[1] and name.startswith(f"{site[0]}***@{host}"):
            return name.replace(f"{site[0]}***@", f"{real[0]}@", 1)
    return name


def byte_slices(
    file: InputFile, config: SourceConfig, slice_bytes: int, divisible: Callable[[Window], bool]
) -> list[Slice]:
    """Parts of `slice_bytes` of a file that is divisible by its bytes; one part where it is not, or can't be opened."""
    if file.size <= slice_bytes:
        return [Slice()]
    try:
        with closing(open_input(file.path, config)) as source:
            slow = isinstance(source, EntryBytes) and not source.is_cheap
            if slow or not divisible(window_on(source)):
                return [Slice()]
    except OSError:
        return [Slice()]
    cuts = range(0, file.size, slice_bytes)
    return [Slice(at, min(at + slice_bytes, file.size), exact=at == 0) for at in cuts]


def byte_size(file: InputFile, config: SourceConfig, stored: Callable[[Window], bool]) -> int | None:
    """Bytes on disk of a file whose offsets count stored bytes; None where they count inflated ones."""
    try:
        with closing(open_input(file.path, config)) as source:
            return source.size if stored(window_on(source)) else None
    except OSError:
        return file.size


def unreadable(file: InputFile, part: Slice, error: OSError | pa.ArrowException) -> Span:
    """The span of a part whose file can't be read."""
    end = file.size if part.end is None else part.end
    words = error.strerror if isinstance(error, OSError) else None
    cause = words or str(error) or type(error).__name__
    return Span(part.start, max(0, end - part.start), "damaged", drop=Drop("damaged", cause=mask_url(cause)))


def or_damage(file: InputFile, part: Slice, spans: Iterator[Span]) -> Iterator[Span]:
    """The spans; where the file can't be read any further, the rest of the part as one damaged span."""
    position = part.start
    try:
        for span in spans:
            yield span
            position = span.offset + span.length
    except OSError as error:
        yield unreadable(file, Slice(position, part.end), error)
