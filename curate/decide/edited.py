"""What the passes over the spilled texts left: edited texts that lie over those of the scan, and what was cut."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curate.durable import write_json

EDITS, SPANS, DROPPED = "edits.parquet", "cuts.parquet", "drops.parquet"  # of one scan task
NAME = "edited.json"  # in the folder of decide: the stages whose edits hold, in order
SIZES = {"text": pa.string(), "words": pa.int64(), "bytes": pa.int64()}
DROPS = pa.schema(
    [
        ("row", pa.int64()),
        ("reason", pa.string()),
        ("matched", pa.int64()),
        ("value", pa.float64()),
        ("limit", pa.float64()),
        ("cause", pa.string()),
    ]
)


def hold(decide: Path, stages: Sequence[str]) -> None:
    """Says which stages' edits hold."""
    write_json(decide / NAME, list(stages))


def held(decide: Path) -> list[str]:
    """The stages whose edits hold, in order."""
    path = decide / NAME
    found: list[str] = json.loads(path.read_text()) if path.exists() else []
    return found


def folder_of(decide: Path, stage: str, task: int) -> Path:
    """Where the pass of a stage over a scan task's survivors leaves its files."""
    return decide / stage / "edited" / f"{task:06d}"


@dataclass(frozen=True)
class Overlay:
    """The edited rows of one scan task by one stage; rows ascend."""

    path: Path

    @cached_property
    def _file(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.path)

    @cached_property
    def rows(self) -> np.ndarray:
        """Numbers of the edited survivors within their task."""
        column: np.ndarray = self._file.read(["row"]).column(0).to_numpy()
        return column

    @cached_property
    def _ends(self) -> np.ndarray:
        counts = [self._file.metadata.row_group(g).num_rows for g in range(self._file.num_row_groups)]
        return np.cumsum([0, *counts])

    def over(self, table: pa.Table, first: int) -> pa.Table:
        """The rows `first`… of the task with the edits laid over them."""
        begin, end = np.searchsorted(self.rows, (first, first + table.num_rows))
        names = [name for name in table.column_names if name in self._file.schema_arrow.names]
        if begin == end or not names:
            return table
        groups = range(int(np.searchsorted(self._ends, begin, "right")) - 1, int(np.searchsorted(self._ends, end)))
        edits = self._file.read_row_groups(list(groups), names).slice(begin - int(self._ends[groups[0]]), end - begin)
        order = np.arange(table.num_rows)
        order[self.rows[begin:end] - first] = table.num_rows + np.arange(end - begin)
        for name in names:
            place = table.schema.get_field_index(name)
            chunks = [*table.column(name).chunks, *edits.column(name).chunks]
            column = pa.concat_arrays([c for c in chunks if len(c)]).take(pa.array(order))
            table = table.set_column(place, table.schema.field(name), column)
        return table


def overlays(decide: Path, task: int) -> list[Overlay]:
    """What lies over a task's survivors, first edit first."""
    paths = (folder_of(decide, stage, task) / EDITS for stage in held(decide))
    return [Overlay(path) for path in paths if path.exists()]


def drops(decide: Path, stage: str, task: int) -> pa.Table | None:
    """The documents of a task that a stage dropped for what it had cut of them, by row; None without a pass."""
    path = folder_of(decide, stage, task) / DROPPED
    return pq.read_table(path, schema=DROPS) if path.exists() else None
