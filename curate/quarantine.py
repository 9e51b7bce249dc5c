"""The records that killed their worker, or were damaged, as a small WARC for replay."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pyarrow.compute as pc

from curate.belt import GUARD
from curate.errors import UserError
from curate.report.opened import OpenedRun

CHUNK = 1 << 20


def quarantine(run: OpenedRun, target: Path, reasons: tuple[str, ...] = ()) -> int:
    """Writes the raw records under the guard's verdicts (or dropped for `reasons`) to a WARC file; returns how many.

    Raises UserError where an input file is gone or is no WARC.
    """
    column = pc.field("reason").isin(list(reasons)) if reasons else pc.field("stage") == GUARD
    rows = run.table("ledger").to_table(filter=column, columns=["file_path", "offset", "length"]).to_pylist()
    temporary = target.with_name(f".{target.name}.tmp")
    with temporary.open("wb") as out:
        for row in rows:
            for piece in raw(row["file_path"], row["offset"], row["length"]):
                out.write(piece)
    temporary.replace(target)
    return len(rows)


def raw(path: str, offset: int, length: int) -> Iterator[bytes]:
    """One record as gzip members: as it lies where the file has a member a record, else compressed anew."""
    try:
        with fsspec.open(path, "rb") as file:
            head = file.read(4)
            if not head.startswith(b"\x1f\x8b"):
                file.seek(offset)
                yield gzip.compress(file.read(length), mtime=0)
                return
            file.seek(offset)
            member = file.read(length)
            if member.startswith(b"\x1f\x8b"):
                yield member
                return
            yield gzip.compress(_inflated(file, offset, length), mtime=0)
    except (OSError, ValueError, zlib.error) as error:
        raise UserError(
            f"{path}:{offset}: can't be read again ({error}); the input must still be where it was"
        ) from error


def _inflated(file: fsspec.core.OpenFile, offset: int, length: int) -> bytes:
    """Bytes [offset, offset + length) of the decompressed stream of a one-member gzip file."""
    file.seek(0)
    with gzip.GzipFile(fileobj=file) as stream:
        stream.seek(offset)
        return stream.read(length)
