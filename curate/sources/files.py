"""From what a config says to the list of files: globs, path lists, URLs."""

import glob
from pathlib import Path

from curate.errors import UserError
from curate.source import InputFile
from curate.sources.config import SourceConfig


def find_files(source: str, config: SourceConfig) -> list[InputFile]:
    """The files of a source in their order: as written, each glob by byte order. Raises UserError."""
    found: list[InputFile] = []
    for given in config.given:
        names = sorted(glob.glob(given, recursive=True)) if glob.has_magic(given) else [given]
        if not names:
            raise UserError(f"source {source}: no file matches {given}")
        for name in names:
            stat = Path(name).stat()
            found.append(InputFile(source, name, stat.st_size, str(stat.st_mtime_ns)))
    return found
