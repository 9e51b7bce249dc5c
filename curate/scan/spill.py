"""Append-only tables on disk that survive a kill: rows count from the moment their length is committed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq


class Spill:
    """Rows of one schema, appended as Arrow record batches to one file.

    A file cut to a committed length is a valid Arrow stream, so a killed task goes on where its last commit was.
    """

    def __init__(self, path: Path, schema: pa.Schema, committed: int | None = None) -> None:
        self.path = path
        self.schema = schema
        self.rows: list[dict[str, Any]] = []
        self.file: BinaryIO
        if committed is None:
            self.file = path.open("wb")
            self.file.write(schema.serialize())
        else:
            self.file = path.open("r+b")
            self.file.truncate(committed)
            self.file.seek(committed)

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)

    def commit(self) -> int:
        """Writes the waiting rows; returns the file's length, to be stored by the caller."""
        if self.rows:
            self.file.write(pa.RecordBatch.from_pylist(self.rows, schema=self.schema).serialize())
            self.rows = []
        self.file.flush()
        return self.file.tell()

    def close(self) -> None:
        self.file.close()


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """The record batches of a spill."""
    with pa.memory_map(str(path)) as source:
        yield from pa.ipc.open_stream(source)


def to_parquet(spill: Path, target: Path, schema: pa.Schema, group_bytes: int = 16 << 20) -> None:
    """Packs a spill into a Parquet file with row groups of about `group_bytes`."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    with pq.ParquetWriter(target, schema, compression="zstd", compression_level=1) as writer:
        for batch in batches(spill):
            waiting.append(batch)
            size += batch.nbytes
            if size >= group_bytes:
                writer.write_table(pa.Table.from_batches(waiting, schema))
                waiting, size = [], 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting, schema))
