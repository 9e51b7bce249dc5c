"""Shards as Parquet: zstd, row groups bounded by bytes of text and by rows."""

from hashlib import file_digest
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curate.config.file import Write
from curate.write.shard_writer import FileFacts


class ParquetShard:
    """A Parquet file whose row groups are cut by the rows alone, however the rows come in."""

    def __init__(self, path: Path, schema: pa.Schema, write: Write) -> None:
        self.path, self.settings = path, write
        self.file = pq.ParquetWriter(path, schema, compression="zstd", compression_level=write.zstd_level)
        self.waiting: list[pa.Table] = []
        self.rows = self.size = 0  # of what waits

    def write(self, rows: pa.Table) -> None:
        """Takes rows, and writes each row group that they fill."""
        start = 0
        for row, length in enumerate(pc.binary_length(rows.column("text")).to_pylist()):
            most_rows, most_bytes = self.settings.row_group_rows, self.settings.row_group_bytes
            if self.rows and (self.rows >= most_rows or self.size + length > most_bytes):
                self.waiting.append(rows.slice(start, row - start))
                self._flush()
                start = row
            self.rows, self.size = self.rows + 1, self.size + length
        self.waiting.append(rows.slice(start))

    def _flush(self) -> None:
        """One table with one chunk a column, so that equal rows always give equal bytes."""
        group = pa.concat_tables(self.waiting).combine_chunks()
        self.file.write_table(group, row_group_size=max(1, group.num_rows))
        self.waiting, self.rows, self.size = [], 0, 0

    def close(self) -> FileFacts:
        """Ends the file."""
        if self.rows:
            self._flush()
        self.file.close()
        with self.path.open("rb") as file:
            sha256 = file_digest(file, "sha256").hexdigest()
        return FileFacts(pq.read_metadata(self.path).num_rows, self.path.stat().st_size, sha256)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
