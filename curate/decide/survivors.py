"""What the scan left, as the later phases see it: survivors numbered 0…N-1 in crawl order, task by task."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curate.config.file import Config
from curate.decide.edited import overlays
from curate.decide.verdicts import Rows, VerdictTable
from curate.document import Address
from curate.durable import Stamp, locked, stamp, write_json
from curate.output.facts import StoredRow
from curate.output.schema import SURVIVOR
from curate.scan.tasks import ScanResult, ScanTask, load_run, load_tasks
from curate.sources.reader import InputFile

ROWS = 4096  # survivors held at once
OFFSETS = "offsets"  # in the work folder: an int64 for each survivor


@dataclass(frozen=True)
class Survivors:
    """The survivors of all scan tasks. `held[i]` has as many as came from each file of `tasks[i]`; numbers run through.

    `ledger[i]` and `measures[i]` are the rows of those kinds that task i itself wrote.
    """

    work: Path
    tasks: list[ScanTask]
    held: list[list[int]]
    ledger: list[int]
    measures: list[int]

    @classmethod
    def of(cls, work: Path, tasks: list[ScanTask], scanned: list[ScanResult]) -> "Survivors":
        """What the tasks left, by their results."""
        held = [[piece["survivors"] for piece in result["pieces"]] for result in scanned]
        return cls(work, tasks, held, [result["ledger"] for result in scanned], [r["measures"] for r in scanned])

    def save(self) -> None:
        """Stores the counts, so that write tasks can load them by the work folder's name."""
        tasks = [task.index for task in self.tasks]  # of a trial run, not all that were planned
        facts = {"tasks": tasks, "held": self.held, "ledger": self.ledger, "measures": self.measures}
        write_json(self.work / "survivors.json", facts)

    @property
    def config(self) -> Config:
        return load_run(str(self.work)).config

    def source(self, index: int) -> str:
        """The source of a task's files."""
        return load_run(str(self.work)).files[self.tasks[index].file_index].source

    @cached_property
    def counts(self) -> list[int]:
        """Survivors of each task."""
        return [sum(counts) for counts in self.held]

    @cached_property
    def pieces(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each file of each task, in order: the number of its first survivor, and its number among the files."""
        counts = [count for counts in self.held for count in counts]
        files = [task.file_index + place for task, held in zip(self.tasks, self.held) for place in range(len(held))]
        return np.cumsum([0, *counts[:-1]], dtype=np.int64), np.array(files, dtype=np.int64)

    def files_of(self, numbers: npt.ArrayLike) -> np.ndarray:
        """The input files of some survivors, by their numbers in the run."""
        starts, files = self.pieces
        found: np.ndarray = files[np.searchsorted(starts, numbers, side="right") - 1]
        return found

    def file_paths(self, numbers: np.ndarray) -> pa.Array:
        """The names of some survivors' input files."""
        files, which = np.unique(self.files_of(numbers), return_inverse=True)
        names = pa.array([load_run(str(self.work)).files[file].name for file in files.tolist()], pa.string())
        return names.take(pa.array(which))

    def file(self, number: int) -> InputFile:
        """The input file of a survivor."""
        return load_run(str(self.work)).files[int(self.files_of(number))]

    @cached_property
    def starts(self) -> np.ndarray:
        """Number of each task's first survivor; one more entry for the end."""
        return np.array([0, *accumulate(self.counts)], dtype=np.int64)

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    def batches(self, index: int, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
        """Survivors of one task by columns, in pieces: (number of the first, table). Texts are as last edited."""
        start = first = int(self.starts[index])
        edits = overlays(self.work / "decide", index)
        with pq.ParquetFile(self.tasks[index].folder / "survivors.parquet") as file:
            for batch in file.iter_batches(batch_size=ROWS, columns=columns):
                table = pa.Table.from_batches([batch])
                for edit in edits:
                    table = edit.over(table, start - first)
                yield start, table
                start += batch.num_rows

    def column(self, name: str) -> Iterator[pa.ChunkedArray]:
        """One column over all survivors in number order, in pieces."""
        if name == "source":
            for index, count in enumerate(self.counts):
                for start in range(0, count, ROWS):
                    yield pa.chunked_array([pa.repeat(self.source(index), min(ROWS, count - start))])
            return
        stored = name if name in SURVIVOR else f"@{name}"
        for index, count in enumerate(self.counts):
            if count:
                for _, table in self.batches(index, [stored]):
                    yield table.column(0)

    @cached_property
    def offsets(self) -> np.ndarray:
        """Offset of each survivor in its file, memory-mapped; gathered by whichever process asks first."""
        if not self.size:
            return np.empty(0, "<i8")
        path = self.work / OFFSETS
        with locked(path.with_suffix(".lock")):
            if not path.exists():
                temporary = path.with_suffix(".tmp")
                with temporary.open("wb") as out:
                    for column in self.column("offset"):
                        out.write(np.ascontiguousarray(column.to_numpy(), dtype="<i8").tobytes())
                temporary.rename(path)
        return np.memmap(path, dtype="<i8", mode="r")

    def address(self, number: int) -> Address:
        """Where a survivor lies."""
        file = self.file(number)
        return Address(file.source, file.name, int(self.offsets[number]))

    def row(self, number: int, columns: list[str]) -> StoredRow:
        """Some columns of one survivor. IndexError where there is none of that number."""
        return self.rows([number], columns)[number]

    def rows(self, numbers: Iterable[int], columns: list[str]) -> dict[int, StoredRow]:
        """Some columns of some survivors; reads only the row groups that hold them, each once."""
        wanted = np.unique(np.fromiter(numbers, np.int64))
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < self.size:
            raise IndexError(int(wanted[0] if wanted[0] < 0 else wanted[-1]))
        found: dict[int, StoredRow] = {}
        tasks = np.searchsorted(self.starts, wanted, side="right") - 1
        for index in np.unique(tasks):
            with pq.ParquetFile(self.tasks[index].folder / "survivors.parquet") as file:
                first = begin = int(self.starts[index])
                edits = overlays(self.work / "decide", index)
                for group in range(file.num_row_groups):
                    end = first + file.metadata.row_group(group).num_rows
                    here = wanted[(wanted >= first) & (wanted < end)]
                    if len(here):
                        table = file.read_row_group(group, columns)
                        for edit in edits:
                            table = edit.over(table, first - begin)
                        table = table.take(pa.array(here - first))
                        found.update(zip(here.tolist(), table.to_pylist(), strict=True))
                    first = end
        return found


def column(work: str, name: str) -> Iterator[pa.ChunkedArray]:
    """One column over all survivors of a run whose scan is done."""
    return load_survivors(work).column(name)


def load_survivors(work: str) -> Survivors:
    """The survivors of a run whose scan is done."""
    return _load_survivors(work, stamp(Path(work, "survivors.json")))


@lru_cache(maxsize=4)
def _load_survivors(work: str, stored: Stamp) -> Survivors:
    facts, tasks = json.loads(Path(work, "survivors.json").read_text()), load_tasks(work)
    mine = [tasks[index] for index in facts["tasks"]]
    return Survivors(Path(work), mine, facts["held"], facts["ledger"], facts["measures"])


def verdict_table(survivors: Survivors) -> VerdictTable:
    """The verdicts of the corpus stages, as decide left them."""
    return VerdictTable.create(survivors.work / "decide" / "verdicts", survivors.size, survivors.config.corpus_stages)


def verdict_names(table: VerdictTable, verdict: Rows, rows: np.ndarray) -> tuple[list[str], list[str]]:
    """Stage and reason of dropped rows, in words."""
    places = [
        (int(stage) - 1, int(reason)) for stage, reason in zip(verdict.stage[rows], verdict.reason[rows], strict=True)
    ]
    return [table.stages[stage] for stage, _ in places], [table.reasons[stage][reason] for stage, reason in places]


def lengths(survivors: Survivors, index: int) -> list[int]:
    """Bytes of each of a task's files that its survivors and ledger rows take, from the written rows alone."""
    files = load_run(str(survivors.work)).files
    names = [files[number].name for number in survivors.tasks[index].file_numbers]
    table = pq.read_table(survivors.tasks[index].folder / "ledger.parquet", columns=["file_path", "length"])
    of_row = pc.index_in(table.column("file_path"), value_set=pa.array(names, pa.string())).to_numpy()
    total = np.bincount(of_row, table.column("length").to_numpy(), len(names))
    for start, some in survivors.batches(index, ["length"]):
        of_row = survivors.files_of(start + np.arange(some.num_rows)) - survivors.tasks[index].file_index
        total = total + np.bincount(of_row, some.column("length").to_numpy(), len(names))
    return [int(size) for size in total]
