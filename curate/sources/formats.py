"""The formats of input files: one table of readers, ours and those of other packages, and how a name tells which.

A package adds a format as it adds a stage: by an entry point in the group `curate.readers`. Its name is what a config
writes under `format`, and its class is a `Reader`.
"""

import re
from contextlib import closing, suppress
from functools import lru_cache
from importlib.metadata import EntryPoint
from typing import Any

from curate.entries import entries
from curate.errors import UserError, hint
from curate.sources.members.contents import LINES, content_of
from curate.sources.members.inflated import Inflated
from curate.sources.members.lines import text_layout
from curate.sources.reader import InputFile, Reader
from curate.sources.reading import in_archive, open_input, window_on
from curate.sources.remote import is_url
from curate.sources.settings import AUTO, SourceConfig

GROUP = "curate.readers"
CONTENT = {"warc": "warc", "wet": "warc", "jsonl": "jsonl", "parquet": "parquet"}  # what files of a format are
HEAD_BYTES = 1 << 12
COMPRESSED = (".gz", ".zst", ".xz", ".bz2")
PAGE = re.compile(r"(?i)\.x?html?$")
CONVERT = {
    ".warc.7z": "is a 7z archive; unpack it with `7z x {name}`",
    ".zip": "is a ZIP archive; unpack it with `unzip {name}`",
    ".tar": "is a TAR archive; unpack it with `tar -xf {name}`",
    ".csv": "is a CSV file; convert it to JSON Lines or Parquet, for example with `duckdb`",
}


def installed() -> dict[str, EntryPoint]:
    """Entry points by the name of their format; the first distribution on the path wins."""
    return entries(GROUP)


@lru_cache(maxsize=64)
def reader_class(name: str) -> type[Any]:
    """The class of a format's reader. Raises UserError where it can't be imported."""
    try:
        cls: type[Any] = installed()[name].load()
    except (ImportError, AttributeError) as error:
        raise UserError(f"format '{name}' can't be imported: {error}; install what it needs") from error
    return cls


@lru_cache(maxsize=1)
def suffixes() -> dict[str, str]:
    """Format by suffix, the longest suffixes first. Ours stay, whatever another package says of them."""
    found: dict[str, str] = {}
    for name in sorted(installed(), key=lambda name: (not installed()[name].value.startswith("curate."), name)):
        for suffix in reader_class(name).suffixes:
            found.setdefault(suffix, name)
    return dict(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))


def bare(name: str) -> str:
    """A name in lower case (that inside an archive), without a URL's query and without the endings of compression."""
    name = in_archive(name)[1] or name
    name = name.partition("?")[0].lower() if "://" in name else name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return name


def by_suffix(name: str) -> str | None:
    """The format that a file's name tells, if any."""
    short = bare(name)
    return next((format for suffix, format in suffixes().items() if short.endswith(suffix)), None)


def format_of(name: str, format: str, place: str) -> str:
    """The format of a file: `format` unless that is "auto". Raises UserError for one that nobody reads."""
    if format != AUTO:
        if format not in installed():
            raise UserError(f"{place}: unknown format '{format}', {hint(format, (AUTO, *installed()))}")
        return format
    found = by_suffix(name)
    if found is not None:
        return found
    for suffix, way_out in CONVERT.items():
        if bare(name).endswith(suffix):
            raise UserError(f"{place}: '{name}' {way_out.format(name=name)}")
    if PAGE.search(name):
        way_out = "put pages into a WARC with `curate pack FOLDER -o pages.warc.gz`"
        raise UserError(f"{place}: '{name}' is a single page; {way_out}")
    known, packed = ", ".join(sorted(suffixes())), ", ".join(COMPRESSED)
    raise UserError(f"{place}: '{name}' has none of the known endings ({known}, each also with {packed}); set `format`")


def indirect(config: SourceConfig, file: InputFile) -> bool:
    """Whether a file only names what is read, so that its size says nothing of the work that is in it."""
    return bool(getattr(reader_class(format_of(file.name, config.kind, f"input.{file.source}")), "indirect", False))


def reader(config: SourceConfig, file: InputFile) -> Reader:
    """The reader of a file: by `format`, or by the file's suffix where that is `auto`. Raises UserError."""
    made: Reader = reader_class(format_of(file.name, config.kind, f"input.{file.source}"))(config, file)
    return made


def hold_to_names(files: list[InputFile], config: SourceConfig) -> None:
    """Looks at the first bytes of files, of remote ones at the first alone. Raises UserError for one that is another
    kind of file than its name or `format` says; one that can't be opened is met when it is read."""
    remote = False
    for file in files:
        if is_url(file.name):
            if remote:
                continue
            remote = True
        place = f"input.{file.source}"
        format = format_of(file.name, config.kind, place)
        if format not in CONTENT:
            continue
        with suppress(OSError), closing(open_input(file.path, config)) as source:
            window = window_on(source)
            codec = text_layout(window)
            content = content_of((window if codec is None else Inflated(codec.plain, 0)).take(0, HEAD_BYTES))
            if content is not None and content.format != CONTENT[format] and (content != LINES or format == "jsonl"):
                way_out = content.way_out or f"set `format: {content.format}`, or give the file its right name"
                raise UserError(f"{place}: '{file.name}' is {content.words}, not {format} as said; {way_out}")
