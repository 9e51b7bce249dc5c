"""The records that killed their worker, or were damaged, as a small WARC for replay."""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from curate.belt import GUARD_REASONS
from curate.caps import REASONS as CAP_REASONS
from curate.config.file import sources_of
from curate.durable import atomic
from curate.errors import UserError, cause, hint
from curate.inspect.opened import OpenedRun
from curate.output.facts import StoredRow
from curate.plug_ins.contract import FAILED
from curate.sources import READ_REASONS, SourceConfig, reader
from curate.sources.members.arc_stream import arc_records
from curate.sources.members.inflated import Inflated
from curate.sources.members.layout import FileLayout, layout
from curate.sources.members.warc_members import member_records
from curate.sources.members.warc_stream import Record, Stretches
from curate.sources.members.window import Window
from curate.sources.reader import InputFile
from curate.sources.reading import crawl_window, open_input
from curate.stage import GUARD


def quarantine(run: OpenedRun, target: Path, reasons: tuple[str, ...] = ()) -> int:
    """Writes the raw records under the guard's verdicts (or dropped for `reasons`) to a WARC file; returns how many.

    Where there are none, it is an empty gzip file.
    Raises UserError where an input file is gone or is no WARC.
    """
    known = reasons_of(run)
    for reason in reasons:
        if reason not in known:
            raise UserError(f"--reason {reason}: no stage of this run drops for that, {hint(reason, known)}")
    column, wanted = ("reason", list(reasons)) if reasons else ("stage", [GUARD])
    rows: list[StoredRow] = []
    for path in run.parts("ledger"):
        part = run.read_part(path, ["file_path", "offset", "length", column])
        rows += part.filter(pc.is_in(part.column(column), pa.array(wanted, pa.string()))).to_pylist()
    sources = sources_of(run.manifest["config"]["input"])
    sizes = {name: size for _, name, size in run.manifest["inputs"]}
    by_file: dict[str, list[StoredRow]] = {}
    for row in rows:
        by_file.setdefault(row["file_path"], []).append(row)
    with atomic(target) as temporary, temporary.open("wb") as out:
        for name, places in by_file.items():
            file = InputFile(run.files[name], name, sizes[name], "")
            for piece in _pieces(file, sources, sorted(places, key=lambda row: int(row["offset"]))):
                out.write(piece)
        if not rows:
            out.write(gzip.compress(b"", mtime=0))
    return len(rows)


def reasons_of(run: OpenedRun) -> list[str]:
    """Every reason for which a document can have been dropped in a run."""
    declared = [reason for entry in run.config.stages for reason in entry.stage.reasons]
    return list(dict.fromkeys([*GUARD_REASONS, *READ_REASONS, *CAP_REASONS, FAILED, *declared]))


def _pieces(file: InputFile, sources: Mapping[str, SourceConfig], rows: list[StoredRow]) -> Iterator[bytes]:
    """The records of one file, each as a gzip member."""
    config = sources[file.source]
    if not reader(config, file).records:
        raise UserError(f"{file.name}: is no WARC file; only WARC records can be written for replay")
    try:
        with closing(open_input(file.path, config)) as source:
            if source.size != file.size:
                raise UserError(f"{file.name}: has {source.size} bytes, {file.size} when the run read it")
        with crawl_window(file.path, config) as window:
            found = layout(window, file.name, config.max_record_bytes)
            inflated = Inflated(found.codec, 0) if found.codec and found.kind == "stream" else None
            for row in rows:
                if found.arc:
                    stretches: Stretches = inflated or window
                    stretches.release(row["offset"])
                    record = next(arc_records(stretches, row["offset"], config.max_record_bytes))
                    yield gzip.compress(_written(record), mtime=0)
                elif inflated is not None:
                    inflated.release(row["offset"])
                    yield gzip.compress(inflated.take(row["offset"], row["length"]), mtime=0)
                else:
                    yield _piece(window, found, row["offset"], row["length"], config.max_record_bytes)
    except OSError as error:
        raise UserError(
            f"{file.name}: can't be read again ({cause(error)}); the input must still be where it was"
        ) from None


def _piece(window: Window, found: FileLayout, offset: int, length: int, max_bytes: int) -> bytes:
    """One record as it lies in the file, if that is a gzip member, else compressed anew."""
    raw = window.take(offset, length)
    if found.codec is not None and found.codec.name == "gzip" and length > 1:
        return raw
    if found.codec is not None:
        for record in member_records(found.codec, offset, offset + 1, max_bytes):
            if record.offset == offset and record.header is not None:
                return gzip.compress(_written(record), mtime=0)
    return gzip.compress(raw, mtime=0)


def _written(record: Record) -> bytes:
    """A record that shares its member with others, or is no gzip, in the form of WARC 1.0."""
    fields = {**(record.header.fields if record.header else {}), "content-length": str(len(record.block))}
    lines = ["WARC/1.0", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode() + record.block + b"\r\n\r\n"
