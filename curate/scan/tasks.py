"""The scan tasks of a run and what they share, as stored in the work folder."""

import json
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypedDict

import pyarrow as pa

from curate.belt import Belt
from curate.config.file import Config, from_canonical
from curate.durable import Stamp, stamp, write_json
from curate.output.schema import attributes
from curate.sources.reader import InputFile, Slice


@dataclass(frozen=True, slots=True)
class ScanTask:
    """One slice of one file, or `files` small files of one source from number `file_index` on, all of each.

    `limit` caps the documents it reads (trial runs).
    """

    work: str
    index: int
    file_index: int
    part: Slice
    limit: int | None = None
    files: int = 1

    @property
    def folder(self) -> Path:
        return Path(self.work, "scan", f"{self.index:06d}")

    @property
    def reads_all(self) -> bool:
        """Whether it reads its files from begin to end."""
        return self.part == Slice() and self.limit is None

    @property
    def file_numbers(self) -> range:
        """The files that it reads, by their numbers in the run."""
        return range(self.file_index, self.file_index + self.files)


class Piece(TypedDict):
    """What a task entered of one file; its records tile [first, end), in units of `Address.offset`."""

    first: int
    end: int
    survivors: int
    other: int  # units of records that are no documents
    size: int | None  # of the file, in these units, where a task reads all of it and its reader can tell


class ScanCounts(TypedDict):
    """What a scan task counted. `bytes` are those of the survivors' texts in UTF-8."""

    types: dict[str, tuple[int, int]]  # records that are no documents, by type: how many, and their bytes of the crawl
    documents: int  # read; the next three are rows that the task wrote
    survivors: int
    ledger: int
    measures: int
    pieces: list[Piece]  # of the task's files, in their order, as far as it came
    words: int  # of the survivors
    bytes: int
    cpu_ns: int
    notes: dict[str, int]  # values that no column holds, by kind and column
    failed: int  # documents on which a stage raised
    failure: str | None  # the first of these, in words
    dropped: dict[str, dict[str, int]]  # documents by stage and reason
    slowest: list[list[int]]  # CPU nanoseconds, number of the file and offset of the slowest pages
    lengths: dict[str, int]  # bytes of each spill that are committed
    sketches: dict[str, dict[str, int]]  # the same of each corpus stage's files


class ScanResult(ScanCounts):
    """The counts of a finished task."""

    cpu_by_stage_ns: dict[str, int]
    limit: int | None  # under which it ran
    ended: float  # seconds since 1970


@dataclass(frozen=True)
class Run:
    """What every task of a run shares, read once a process."""

    config: Config
    files: list[InputFile]
    memory: int | None

    @cached_property
    def belt(self) -> Belt:
        return Belt.of(self.config)

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """Names and types of all attributes; asking every input file for its columns takes long, so once."""
        return attributes(self.config, self.files)


def save_run(work: Path, config: Config, output: str, files: list[InputFile], memory: int | None) -> None:
    """Stores what every task of a run shares, so that tasks can load it by the work folder's name."""
    stored = {"config": config.canonical(), "output": output, "memory": memory, "files": [asdict(f) for f in files]}
    write_json(work / "run.json", stored, private=True)  # it holds what `storage` gives to a server


def load_run(work: str) -> Run:
    """What the tasks of a run share, as the driver stored it in the work folder."""
    return _load_run(work, stamp(Path(work, "run.json")))


@lru_cache(maxsize=4)
def _load_run(work: str, stored: Stamp) -> Run:
    content = json.loads(Path(work, "run.json").read_text())
    return Run(
        from_canonical(content["config"], content["output"]),
        [InputFile(**f) for f in content["files"]],
        content["memory"],
    )


def save_tasks(work: Path, tasks: list[ScanTask]) -> None:
    """Stores the scan tasks as they were planned."""
    write_json(work / "tasks.json", [asdict(task) for task in tasks])


def load_tasks(work: str) -> list[ScanTask]:
    """The scan tasks as they were planned. FileNotFoundError where none were."""
    stored = json.loads(Path(work, "tasks.json").read_text())
    return [ScanTask(work, t["index"], t["file_index"], Slice(**t["part"]), t["limit"], t["files"]) for t in stored]
