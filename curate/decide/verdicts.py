"""The verdict table: one row a survivor of the scan, in columns that are memory-mapped files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.durable import write_json
from curate.stage import CorpusStage, Verdicts, declared

Column = np.memmap[Any, Any]

CHUNK = 1 << 20
BASE = {"stage": "u1", "reason": "u1", "matched": "<i8", "score": "<f4"}
START: Mapping[str, Any] = {"stage": 0, "reason": 0, "matched": -1, "score": np.nan}


def column_dtype(name: str, kind: pa.DataType) -> np.dtype[Any]:
    """The numpy type of a declared column; TypeError for one that has no fixed width."""
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise TypeError(f"{name}: a corpus stage can add numbers and booleans, not {kind}")
    dtype: np.dtype[Any] = np.dtype(kind.to_pandas_dtype())
    return dtype


class Rows(NamedTuple):
    """A part of the table, one item a document."""

    stage: npt.NDArray[np.uint8]  # 0 kept, else 1 + index of the stage that dropped it
    reason: npt.NDArray[np.uint8]  # index in that stage's `reasons`
    matched: npt.NDArray[np.int64]  # number of the twin, -1 for none
    score: npt.NDArray[np.float32]  # similarity to the twin, NaN for none
    columns: Mapping[str, npt.NDArray[Any]]


@dataclass
class VerdictTable:
    """Verdicts on N documents, in column files in `folder` (in memory where N is 0, as no file maps then).

    `stages` and `reasons` name what the indices mean; `notes` are the integers for the report, by stage.
    """

    folder: Path
    size: int
    stages: tuple[str, ...] = ()
    reasons: tuple[tuple[str, ...], ...] = ()
    notes: dict[str, dict[str, int]] = field(default_factory=dict)
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path, size: int, stages: Sequence[tuple[str, CorpusStage]]) -> "VerdictTable":
        """Opens the table in `folder`, or makes it: all documents kept, all columns at their start value."""
        folder.mkdir(parents=True, exist_ok=True)
        if len(stages) > 255:
            raise ValueError("at most 255 corpus stages")
        names = tuple(name for name, _ in stages)
        table = cls(folder, size, names, tuple(stage.reasons for _, stage in stages))
        for name, dtype in BASE.items():
            table._map(name, np.dtype(dtype), START[name])
        for _, stage in stages:
            for name, kind in stage.adds.items():
                table._map(name, column_dtype(name, kind), declared(stage).fill.get(name, 0))
        notes = folder / "notes.json"
        if notes.exists():
            table.notes = json.loads(notes.read_text())
        return table

    def _map(self, name: str, dtype: np.dtype[Any], start: Any) -> None:
        if name in self.columns:
            raise ValueError(f"two corpus stages set {name!r}")
        path = self.folder / f"{name}.column"
        if not self.size:
            self.columns[name] = np.empty(0, dtype)
            return
        if not path.exists():
            new = self.folder / f"new-{name}"
            with new.open("wb") as file:
                for first in range(0, self.size, CHUNK):
                    np.full(min(CHUNK, self.size - first), start, dtype).tofile(file)
            new.replace(path)
        self.columns[name] = np.memmap(path, dtype, "r+", shape=(self.size,))

    def slice(self, start: int, stop: int) -> Rows:
        """Rows start … stop - 1 as views."""
        part = {name: column[start:stop] for name, column in self.columns.items()}
        stage, reason, matched, score = (part.pop(name) for name in BASE)
        return Rows(stage, reason, matched, score, part)

    def added(self, documents: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
        """The columns that corpus stages set, of some documents."""
        return {name: np.asarray(column[documents]) for name, column in self.columns.items() if name not in BASE}

    def reset(self, index: int, stage: CorpusStage) -> None:
        """Takes back what stage number `index` wrote before it was interrupted."""
        for first in range(0, self.size, CHUNK):
            rows = self.slice(first, first + CHUNK)
            mine = rows.stage > index
            if mine.any():
                rows.stage[mine], rows.reason[mine], rows.matched[mine], rows.score[mine] = 0, 0, -1, np.nan
            for name in stage.adds:
                rows.columns[name][:] = declared(stage).fill.get(name, 0)

    def enter(self, index: int, stage: CorpusStage, verdicts: Iterable[Verdicts]) -> int:
        """Writes the verdicts of stage number `index`; returns how many documents it dropped.

        ValueError for a reason or column that the stage does not declare, for numbers that are no document's, and
        for arrays of another length: a bug in the stage.
        """
        dropped = 0
        for verdict in verdicts:
            documents = self._numbers(verdict)
            if verdict.reason is not None and verdict.reason not in self.reasons[index]:
                raise ValueError(f"{self.stages[index]} drops for {verdict.reason!r}, which is not in its `reasons`")
            for name, values in verdict.columns.items():
                if name not in stage.adds:
                    raise ValueError(f"{self.stages[index]} sets {name!r}, which is not in its `adds`")
                self.columns[name][documents] = values
            if verdict.reason is None:
                continue
            self.columns["reason"][documents] = self.reasons[index].index(verdict.reason)
            self.columns["stage"][documents] = index + 1
            if verdict.matched is not None:
                self.columns["matched"][documents] = verdict.matched
            if verdict.score is not None:
                self.columns["score"][documents] = verdict.score
            dropped += len(documents)
        return dropped

    def _numbers(self, verdict: Verdicts) -> npt.NDArray[np.int64]:
        """The documents of a verdict. Raises ValueError where they are none, or an array does not go with them."""
        documents = np.asarray(verdict.documents)
        if not len(documents):
            return documents.astype(np.int64)
        if documents.dtype.kind not in "iu" or documents.min() < 0 or documents.max() >= self.size:
            raise ValueError(f"verdicts on documents that there are not: they have whole numbers below {self.size}")
        given = {"matched": verdict.matched, "score": verdict.score, **verdict.columns}
        for name, values in given.items():
            if values is not None and np.shape(values) != documents.shape:
                raise ValueError(f"{name} has the shape {np.shape(values)}, but there are {len(documents)} documents")
        if verdict.matched is not None and not -1 <= verdict.matched.min() <= verdict.matched.max() < self.size:
            raise ValueError(f"matched names documents that there are not: they have numbers below {self.size}")
        return documents.astype(np.int64, copy=False)

    def flush(self) -> None:
        """Makes what was entered durable."""
        for column in self.columns.values():
            if isinstance(column, np.memmap):
                column.flush()

    def finish(self, name: str, notes: Mapping[str, int]) -> None:
        """Makes a stage's verdicts durable, then says that it is done."""
        self.flush()
        self.notes[name] = dict(notes)
        write_json(self.folder / "notes.json", self.notes)
