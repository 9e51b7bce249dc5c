"""Scan: one task reads one slice of one source file, sends its documents down the belt and spills what came of it."""

import fcntl
import heapq
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time_ns
from typing import Any

import xxhash

from curate import guard
from curate.belt import FAILED, GUARD, Belt, Passage
from curate.config import Config, from_canonical
from curate.document import Address, Document, Drop
from curate.schema import LEDGER, SAMPLES, attributes, domain, measures_schema, survivor_schema
from curate.sketches import SketchWriter, sketch_all
from curate.source import InputFile, Slice, Span
from curate.sources import reader
from curate.spill import Spill, batches, to_parquet

READ = "read"  # the ledger's stage for the reader's own verdicts
BLOCK = 256  # records between two commits
SAMPLE_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class ScanTask:
    """One slice of one file. `limit` caps the documents it reads (trial runs)."""

    work: str
    index: int
    file_index: int
    part: Slice
    limit: int | None = None

    @property
    def folder(self) -> Path:
        return Path(self.work, "scan", f"{self.index:06d}")


@dataclass(frozen=True)
class Run:
    """What every task of a run shares, read once a process."""

    config: Config
    files: list[InputFile]
    memory: int | None


@lru_cache(maxsize=4)
def load_run(work: str) -> Run:
    """The run's plan as the driver stored it in the work folder."""
    told = json.loads(Path(work, "run.json").read_text())
    return Run(from_canonical(told["config"], told["output"]), [InputFile(**f) for f in told["files"]], told["memory"])


def load_tasks(work: str) -> list[ScanTask]:
    """The scan tasks as they were planned."""
    told = json.loads(Path(work, "tasks.json").read_text())
    return [ScanTask(work, t["index"], t["file_index"], Slice(**t["part"]), t["limit"]) for t in told]


@lru_cache(maxsize=4)
def _belt(work: str) -> Belt:
    return Belt.of(load_run(work).config)


def scan(task: ScanTask) -> dict[str, Any]:
    """Runs a scan task (or goes on with it after a kill) and returns its counts. A finished task is not redone."""
    with locked(task.folder.with_suffix(".lock")):
        done = task.folder / "result.json"
        unpublished = task.folder.with_suffix(".tmp")
        if not done.exists() and (unpublished / "result.json").exists():
            publish(unpublished, task.folder)
        if not done.exists():
            guard.limit_memory(load_run(task.work).memory)
            _scan(task)
        result: dict[str, Any] = json.loads(done.read_text())
        return result


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keeps a second process (an orphan of a killed run) out of a task's folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _scan(task: ScanTask) -> None:
    run = load_run(task.work)
    file = run.files[task.file_index]
    output = ScanOutput(task, run.config, run.files)
    cursor = guard.Cursor(output.folder / "cursor")
    guards = guard.Verdicts(Path(task.work, "guard"))
    verdicts = guards.of_file(task.file_index)
    belt = _belt(task.work)
    for span in _spans(run.config, file, output.rest()):
        passage = None
        if span.document is not None and span.drop is None:
            if task.limit is not None and output.state["documents"] >= task.limit:
                break
            cursor.set(span.offset)
            guard.arm(run.config.cpu_seconds)
            accused = verdicts.get(span.offset)
            passage = Passage(span.document, GUARD, accused) if accused else belt.run(span.document)
            if passage.drop is not None and passage.stage == GUARD and not accused:
                guards.store(task.file_index, span.offset, passage.drop.reason, passage.drop.cause)
            cursor.set(guard.IDLE)
        output.take(span, passage)
        if output.waiting >= BLOCK:
            guard.arm(None)
            output.commit()
    guard.arm(None)
    cursor.close()
    output.finish(belt)


def _spans(config: Config, file: InputFile, part: Slice) -> Iterator[Span]:
    """The reader's spans; one empty span where the slice has nothing left to read."""
    if part.exact and part.end is not None and part.start >= part.end:
        yield Span(part.start, 0, "padding")
        return
    empty = True
    for span in reader(config.input[file.source], file).read(file, part):
        empty = False
        yield span
    if empty:
        yield Span(part.start, 0, "padding")


def new_state() -> dict[str, Any]:
    """A task's committed progress. `first` and `end` are where its first record starts and its last one ends."""
    return {"first": None, "end": None, "lengths": {}, "sketches": {}, "types": {}, "documents": 0, "survivors": 0,
            "ledger": 0, "measures": 0, "words": 0, "bytes": 0, "cpu_ns": 0, "failed": 0, "failure": None}


class ScanOutput:
    """What a scan task writes, committed block by block, renamed as a whole when done."""

    def __init__(self, task: ScanTask, config: Config, files: list[InputFile]) -> None:
        self.task, self.config = task, config
        self.file = files[task.file_index]
        self.folder = task.folder.with_suffix(".tmp")
        self.types = attributes(config, files)
        self.schemas = {"survivors": survivor_schema(self.types), "ledger": LEDGER,
                        "measures": measures_schema(config), "samples": SAMPLES}
        state = self.folder / "state.json"
        self.state: dict[str, Any] = json.loads(state.read_text()) if state.exists() else new_state()
        committed = bool(self.state["lengths"])
        if not committed:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
        self.spills = {name: Spill(self.folder / f"{name}.arrows", schema, self.state["lengths"].get(name))
                       for name, schema in self.schemas.items()}
        self.sketches = {
            name: SketchWriter.resume(self.folder, name, stage, self.state["sketches"][name]) if committed
            else SketchWriter(self.folder, name, stage) for name, stage in config.corpus_stages}
        self.samples = Samples(config.samples, config.seed)
        if committed:
            self.samples.restore(self.folder / "samples.arrows")
        self.passed: list[Document] = []
        self.waiting = 0
        self.cpu_start = process_time_ns() - self.state["cpu_ns"]

    def rest(self) -> Slice:
        """The part of the slice that is not committed yet."""
        if self.state["end"] is None:
            return self.task.part
        return Slice(self.state["end"], self.task.part.end, exact=True)

    def take(self, span: Span, passage: Passage | None) -> None:
        """Enters a span: exactly one row, or a count by type for what is no document."""
        state = self.state
        state["first"] = span.offset if state["first"] is None else state["first"]
        state["end"] = span.offset + span.length
        self.waiting += 1
        if span.drop is not None:
            state["documents"] += 1
            self.spills["ledger"].add(self._ledger_row(span, span.document, READ, span.drop))
            state["ledger"] += 1
        elif passage is None:
            records, size = state["types"].get(span.type, (0, 0))
            state["types"][span.type] = (records + (1 if span.length else 0), size + span.length)
        else:
            state["documents"] += 1
            self._take_passage(span, passage)

    def _take_passage(self, span: Span, passage: Passage) -> None:
        doc = passage.doc
        if passage.measured:
            self._add_measures(doc, passage)
        if passage.drop is None:
            row = {"text": doc.text, "id": doc.id, "url": doc.url, "date": doc.date, "offset": span.offset,
                   "length": span.length, "status": doc.status, "words": len(doc.words),
                   "bytes": len(doc.text.encode())}
            row |= {f"@{name}": doc.attributes.get(name) for name in self.types}
            self.spills["survivors"].add(row)
            self.passed.append(doc)
            self.state["survivors"] += 1
            self.state["words"] += row["words"]
            self.state["bytes"] += row["bytes"]
            return
        stage = passage.stage or GUARD
        if passage.drop.reason == FAILED:
            self.state["failed"] += 1
            self.state["failure"] = self.state["failure"] or f"{doc.address} in {stage}: {passage.drop.cause}"
        row = self._ledger_row(span, doc, stage, passage.drop)
        self.spills["ledger"].add(row)
        self.state["ledger"] += 1
        if doc.text:
            sampled = self.samples.offer(row, doc.text)
            if sampled:
                self.spills["samples"].add(sampled)

    def _add_measures(self, doc: Document, passage: Passage) -> None:
        self.state["measures"] += 1
        self.spills["measures"].add({
            "source": self.file.source, "file_path": self.file.name, "offset": doc.address.offset,
            "language": doc.attributes.get("language"), "words": len(doc.words), "bytes": len(doc.text.encode()),
            "stage": passage.stage, "reason": passage.drop.reason if passage.drop else None, **passage.measures})

    def _ledger_row(self, span: Span, doc: Document | None, stage: str, drop: Drop) -> dict[str, Any]:
        row: dict[str, Any] = {
            "source": self.file.source, "file_path": self.file.name, "offset": span.offset, "length": span.length,
            "stage": stage, "reason": drop.reason, "value": drop.value, "limit": drop.limit, "cause": drop.cause or None}
        if doc is not None:
            row |= {"record_id": doc.id, "url": doc.url, "domain": domain(doc.url), "date": doc.date,
                    "status": doc.status, "language": doc.attributes.get("language")}
            if doc.text:
                row |= {"words": len(doc.words), "bytes": len(doc.text.encode())}
        return row

    def commit(self) -> None:
        """Makes everything taken so far durable against a kill."""
        for name, stage in self.config.corpus_stages:
            start = self.state["survivors"] - len(self.passed)
            for number, sketch in enumerate(sketch_all(stage, self.passed), start):
                self.sketches[name].add(number, sketch)
        self.passed = []
        self.state["lengths"] = {name: spill.commit() for name, spill in self.spills.items()}
        self.state["sketches"] = {name: writer.commit() for name, writer in self.sketches.items()}
        self.state["cpu_ns"] = process_time_ns() - self.cpu_start
        write_json(self.folder / "state.json", self.state)
        self.waiting = 0

    def finish(self, belt: Belt) -> None:
        """Packs the spills, and gives the folder its final name."""
        self.commit()
        for name, spill in self.spills.items():
            spill.close()
            to_parquet(spill.path, self.folder / f"{name}.parquet", self.schemas[name])
        for writer in self.sketches.values():
            writer.close()
        self.state["cpu_by_stage_ns"] = dict(belt.cpu_ns)
        for name in belt.cpu_ns:
            belt.cpu_ns[name] = 0
        write_json(self.folder / "result.json", self.state)
        publish(self.folder, self.task.folder)


def publish(folder: Path, final: Path) -> None:
    """Gives a finished task its final name; the spills, packed by now, go."""
    for name in ("cursor", "state.json", *(spill.name for spill in folder.glob("*.arrows"))):
        (folder / name).unlink(missing_ok=True)
    folder.rename(final)


class Samples:
    """Per stage and reason the `most` dropped texts with the smallest hash(seed, address)."""

    def __init__(self, most: int, seed: int) -> None:
        self.most, self.seed = most, seed
        self.heaps: dict[tuple[str, str], list[int]] = {}

    def hash(self, source: str, file: str, offset: int) -> int:
        return xxhash.xxh3_64_intdigest(f"{source}\0{file}\0{offset}".encode(), seed=self.seed & (2**64 - 1))

    def offer(self, row: dict[str, Any], text: str) -> dict[str, Any] | None:
        """The sample row, if the text is among the smallest so far."""
        value = self.hash(row["source"], row["file_path"], row["offset"])
        if not self._admit((row["stage"], row["reason"]), value):
            return None
        return {"hash": value, "text": text[:SAMPLE_CHARACTERS],
                **{name: row.get(name) for name in ("stage", "reason", "source", "file_path", "offset", "url", "value", "limit")}}

    def _admit(self, key: tuple[str, str], value: int) -> bool:
        heap = self.heaps.setdefault(key, [])
        if len(heap) < self.most:
            heapq.heappush(heap, -value)
            return True
        if not heap or value >= -heap[0]:
            return False
        heapq.heapreplace(heap, -value)
        return True

    def restore(self, path: Path) -> None:
        for batch in batches(path):
            for row in batch.select(["stage", "reason", "hash"]).to_pylist():
                self._admit((row["stage"], row["reason"]), row["hash"])


def write_json(path: Path, value: Any) -> None:
    """A JSON file that is there whole or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(value))
    temporary.replace(path)


def once(told: Path, target: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `make` returned, when it made `target` before; else makes it now and remembers."""
    if told.exists() and target.exists():
        facts: dict[str, Any] = json.loads(told.read_text())
        return facts
    facts = make()
    told.parent.mkdir(parents=True, exist_ok=True)
    write_json(told, facts)
    return facts


def read_types(results: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """Records and bytes by record type over all tasks."""
    records: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for result in results:
        for kind, (count, size) in result["types"].items():
            records[kind] += count
            sizes[kind] += size
    return {kind: (records[kind], sizes[kind]) for kind in sorted(sizes)}


def address_of(row: dict[str, Any]) -> Address:
    """The address that a ledger or sample row names."""
    return Address(row["source"], row["file_path"], row["offset"])
