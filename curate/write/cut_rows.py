"""What cuts add to the written tables: the rows of `cuts/`, causes in the ledger, sizes in the measures."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curate.decide import edited
from curate.decide.survivors import Survivors
from curate.output.schema import CUTS
from curate.scan.tasks import load_run


def cut_counts(survivors: Survivors) -> list[int]:
    """Rows of `cuts/` that each scan task brings; [] where no stage cuts."""
    decide, stages = survivors.work / "decide", edited.held(survivors.work / "decide")
    if not stages:
        return []
    facts = [[edited.folder_of(decide, stage, task) / "facts.json" for stage in stages] for task in _tasks(survivors)]
    return [sum(json.loads(path.read_text())["rows"] for path in of_task) for of_task in facts]


def _tasks(survivors: Survivors) -> range:
    return range(len(survivors.tasks))


def cuts_of(survivors: Survivors, task: int) -> pa.Table:
    """All that was cut of a task's survivors: by page, then stage after stage, then by place in the text."""
    decide = survivors.work / "decide"
    paths = [edited.folder_of(decide, stage, task) / edited.SPANS for stage in edited.held(decide)]
    table = pa.concat_tables([CUTS.empty_table(), *(pq.read_table(path, schema=CUTS) for path in paths)])
    return in_crawl_order(survivors, task, table)


def in_crawl_order(survivors: Survivors, task: int, table: pa.Table) -> pa.Table:
    """Rows of a task with `file_path` and `offset`, by file and offset; those of one page stay in their order."""
    files = load_run(str(survivors.work)).files
    names = pa.array([files[number].name for number in survivors.tasks[task].file_numbers], pa.string())
    of_row = pc.index_in(table.column("file_path"), value_set=names).to_numpy()
    return table.take(pa.array(np.lexsort((table.column("offset").to_numpy(), of_row))))


def causes(survivors: Survivors, task: int) -> dict[int, dict[str, Any]]:
    """Value, limit and cause of the verdicts on what was cut, by row of the task."""
    decide = survivors.work / "decide"
    found: dict[int, dict[str, Any]] = {}
    for stage in edited.held(decide):
        dropped = edited.drops(decide, stage, task)
        found |= {row["row"]: row for row in dropped.to_pylist()} if dropped else {}
    return found


def measured_again(survivors: Survivors, task: int, table: pa.Table, rows: np.ndarray) -> pa.Table:
    """A task's measures, `rows` of which are its survivors in order, with the sizes of edited texts."""
    for edit in edited.overlays(survivors.work / "decide", task) if len(rows) else ():
        sizes = pq.read_table(edit.path, columns=["words", "bytes"])
        for name in sizes.column_names:
            values = table.column(name).to_numpy().copy()
            values[rows[edit.rows]] = sizes.column(name).to_numpy()
            table = table.set_column(table.schema.get_field_index(name), name, pa.array(values, pa.int64()))
    return table
