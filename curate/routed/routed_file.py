"""A Parquet file whose folder may tell one of its columns."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from curate.routed.left_out import LeftOut, noted


class RoutedFile:
    """A Parquet file; the column that was left out of it stands among the others, as if the file held it.

    Where the file was moved out of its folder, it has the columns that it holds.
    """

    def __init__(self, path: str | Path, source: Any = None, **options: Any) -> None:
        """Opens `source`, or else the file at `path`. Raises OSError or ArrowException where it can't be read."""
        self.file = pq.ParquetFile(path if source is None else source, **options)
        held = self.file.schema_arrow
        left: LeftOut | None = noted(held)
        self._value = left.value(str(path)) if left else None
        self._left = left if self._value is not None else None
        self.metadata, self.num_row_groups = self.file.metadata, self.file.num_row_groups
        self.schema_arrow: pa.Schema = held
        if self._left:
            self.schema_arrow = held.insert(self._left.place, self._left.field).remove_metadata()

    @property
    def stored_names(self) -> list[str]:
        """The columns of `metadata`, in its order: those that the file holds, the fields of nested ones each."""
        names: list[str] = self.file.schema.names
        return names

    def read(self, columns: list[str] | None = None) -> pa.Table:
        """Some columns, or all."""
        return self._with_column(self.file.read(self._held(columns)), columns)

    def read_row_group(self, number: int, columns: list[str] | None = None) -> pa.Table:
        """Some columns of a row group, or all."""
        return self._with_column(self.file.read_row_group(number, self._held(columns)), columns)

    def iter_batches(
        self, rows: int, columns: list[str] | None = None, row_groups: list[int] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Some columns, at most so many rows at a time."""
        for batch in self.file.iter_batches(rows, row_groups=row_groups, columns=self._held(columns)):
            if self._left:
                (batch,) = self._with_column(pa.Table.from_batches([batch]), columns).to_batches()
            yield batch

    def _held(self, columns: list[str] | None) -> list[str] | None:
        """What to read of the file; of a file with such a column at least one, which tells how many rows there are."""
        if self._left is None or columns is None:
            return columns
        return [name for name in columns if name != self._left.name] or self.file.schema_arrow.names[1:2]

    def _with_column(self, table: pa.Table, columns: list[str] | None) -> pa.Table:
        if self._left is None:
            return table
        values = pa.repeat(self._value, table.num_rows)
        table = table.add_column(min(self._left.place, table.num_columns), self._left.field, values)
        wanted = self.schema_arrow.names if columns is None else columns
        return table.select([name for name in wanted if name in table.column_names]).replace_schema_metadata()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.file.close()
