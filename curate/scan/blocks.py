"""What a scan task writes: survivors, ledger, measures, samples and sketches, committed block by block."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from time import process_time_ns, time
from typing import Any

from curate.belt import Belt, Passage
from curate.document import Document, Drop
from curate.durable import write_json
from curate.output.schema import LEDGER, SAMPLES, domain, measures_schema, survivor_schema
from curate.plug_ins.contract import FAILED, blamed
from curate.scan import guard
from curate.scan.samples import Samples
from curate.scan.sketch_writer import SketchWriter, sketch_all, sketched_after
from curate.scan.spill import Spill, to_parquet
from curate.scan.tasks import Piece, Run, ScanCounts, ScanResult, ScanTask
from curate.sources.reader import InputFile, Slice, Span
from curate.stage import GUARD, READ
from curate.text import clean

BLOCK = 256  # records between two commits
BLOCK_CHARACTERS = 16 << 20
MOST_NOTES = 200  # columns that are told apart
LONGEST_CAUSE = 1_000  # characters
SLOWEST = 5  # pages whose time is remembered


def new_state() -> ScanCounts:
    """The progress of a task that has read nothing."""
    return {
        "pieces": [],
        "lengths": {},
        "sketches": {},
        "types": {},
        "documents": 0,
        "survivors": 0,
        "ledger": 0,
        "measures": 0,
        "words": 0,
        "bytes": 0,
        "cpu_ns": 0,
        "notes": {},
        "failed": 0,
        "failure": None,
        "dropped": {},
        "slowest": [],
    }


class ScanOutput:
    """What a scan task writes, committed block by block, renamed as a whole when done."""

    def __init__(self, task: ScanTask, run: Run) -> None:
        self.task, self.config = task, run.config
        config = run.config
        self.files = [run.files[number] for number in task.file_numbers]
        self.folder = task.folder.with_suffix(".tmp")
        self.types = run.types
        self.schemas = {
            "survivors": survivor_schema(self.types),
            "ledger": LEDGER,
            "measures": measures_schema(config),
            "samples": SAMPLES,
        }
        state = self.folder / "state.json"
        self.state: ScanCounts = json.loads(state.read_text()) if state.exists() else new_state()
        committed = bool(self.state["lengths"])
        if not committed:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
        self.cursor = guard.Cursor(self.folder / "cursor")
        self.spills = {
            name: Spill(self.folder / f"{name}.arrows", schema, self.state["lengths"].get(name))
            for name, schema in self.schemas.items()
        }
        self.sketches = {
            name: SketchWriter.resume(self.folder, name, stage, self.state["sketches"][name])
            if committed
            else SketchWriter(self.folder, name, stage)
            for name, stage in sketched_after(config.corpus_stages, -1)
        }
        self.samples = Samples(config.samples, config.seed)
        if committed:
            self.samples.restore(self.folder / "samples.arrows")
        self.passed: list[Document] = []
        self.waiting = self.waiting_characters = 0
        self.cpu_start = process_time_ns() - self.state["cpu_ns"]
        self.sizes: dict[int, int | None] = {}  # what the readers of files that were read to their end say of these

    def rest(self) -> Iterator[tuple[int, Slice]]:
        """What is not committed yet of each file: its place among the task's files, and the part of it."""
        pieces = self.state["pieces"]
        begun = len(pieces) - 1
        if pieces:
            yield begun, Slice(pieces[-1]["end"], self.task.part.end, exact=True)
        yield from ((place, self.task.part) for place in range(begun + 1, self.task.files))

    @property
    def full(self) -> bool:
        """Whether so much waits that it should be committed."""
        return self.waiting >= BLOCK or self.waiting_characters >= BLOCK_CHARACTERS

    def _piece(self, place: int, offset: int) -> Piece:
        """What is entered of the task's file at `place`, of which a record starts at `offset`."""
        pieces = self.state["pieces"]
        if place == len(pieces):
            pieces.append({"first": offset, "end": offset, "survivors": 0, "other": 0, "size": None})
        return pieces[place]

    def take(self, place: int, span: Span, passage: Passage | None) -> None:
        """Enters a span of the task's file at `place`: one row, or a count by type for what is no document."""
        state, piece, file = self.state, self._piece(place, span.offset), self.files[place]
        piece["end"] = span.offset + span.length
        self.waiting += 1
        for note in span.notes:
            known = note in state["notes"] or len(state["notes"]) < MOST_NOTES
            name = note if known else note.partition(":")[0] + ":..."
            state["notes"][name] = state["notes"].get(name, 0) + 1
        if span.drop is not None:
            state["documents"] += 1
            self._enter(file, span, span.document, READ, span.drop)
        elif passage is None:
            if span.length:
                records, size = state["types"].get(span.type, (0, 0))
                state["types"][span.type] = (records + 1, size + span.length)
                piece["other"] += span.length
        else:
            state["documents"] += 1
            piece["survivors"] += passage.drop is None
            self._take_passage(file, span, passage)

    def _take_passage(self, file: InputFile, span: Span, passage: Passage) -> None:
        doc = passage.doc
        if passage.measured:
            self._add_measures(file, doc, passage)
        if passage.drop is None:
            words, size = len(doc.words), len(doc.text.encode())
            row = {
                "text": doc.text,
                "id": doc.id,
                "url": doc.url,
                "date": doc.date or None,
                "offset": span.offset,
                "length": span.length,
                "status": doc.status,
                "words": words,
                "bytes": size,
            }
            row |= {f"@{name}": doc.attributes.get(name) for name in self.types}
            self.spills["survivors"].add(row)
            self.passed.append(doc)
            self.waiting_characters += len(doc.text)
            self.state["survivors"] += 1
            self.state["words"] += words
            self.state["bytes"] += size
            return
        stage = passage.stage or GUARD
        if passage.drop.reason == FAILED:
            self.state["failed"] += 1
            self.state["failure"] = self.state["failure"] or f"{doc.address} in {stage}: {passage.drop.cause}"
        row = self._enter(file, span, doc, stage, passage.drop)
        if doc.text:
            sampled = self.samples.offer(row, doc.text)
            if sampled:
                self.spills["samples"].add(sampled)

    def _add_measures(self, file: InputFile, doc: Document, passage: Passage) -> None:
        self.state["measures"] += 1
        self.spills["measures"].add(
            {
                "source": file.source,
                "file_path": file.name,
                "offset": doc.address.offset,
                "language": doc.attributes.get("language"),
                "words": len(doc.words),
                "bytes": len(doc.text.encode()),
                "stage": passage.stage,
                "reason": passage.drop.reason if passage.drop else None,
                "measured": passage.measured,
                **passage.measures,
            }
        )

    def took(self, page: guard.Mark, cpu_ns: int) -> None:
        """Remembers the slowest pages: CPU time, number of the file, offset."""
        slow = self.state["slowest"]
        if len(slow) < SLOWEST or cpu_ns > slow[-1][0]:
            slow.append([cpu_ns, self.task.file_index + page.file, page.offset])
            slow.sort(key=lambda one: (-one[0], *one[1:]))
            del slow[SLOWEST:]

    def _enter(self, file: InputFile, span: Span, doc: Document | None, stage: str, drop: Drop) -> dict[str, Any]:
        """Writes the row of a page that is dropped, and counts it."""
        row = _ledger_row(file, span, doc, stage, drop)
        self.spills["ledger"].add(row)
        self.state["ledger"] += 1
        reasons = self.state["dropped"].setdefault(stage, {})
        reasons[drop.reason] = reasons.get(drop.reason, 0) + 1
        return row

    def commit(self) -> None:
        """Makes everything taken so far durable against a kill."""
        for index, (name, stage) in enumerate(sketched_after(self.config.corpus_stages, -1)):
            self.cursor.set(guard.sketching(index))
            start = self.state["survivors"] - len(self.passed)
            with blamed(name, stage):
                for number, sketch in enumerate(sketch_all(stage, self.passed), start):
                    self.sketches[name].add(number, sketch)
        self.cursor.set(guard.IDLE)
        self.passed = []
        self.state["lengths"] = {name: spill.commit() for name, spill in self.spills.items()}
        self.state["sketches"] = {name: writer.commit() for name, writer in self.sketches.items()}
        self.state["cpu_ns"] = process_time_ns() - self.cpu_start
        for place, piece in enumerate(self.state["pieces"]):
            piece["size"] = self.sizes.get(place, piece["size"])
        write_json(self.folder / "state.json", self.state)
        self.waiting = self.waiting_characters = 0

    def finish(self, belt: Belt) -> None:
        """Packs the spills, and gives the folder its final name."""
        self._piece(0, self.task.part.start)  # where nothing was read: the limit was reached before
        self.commit()
        self.cursor.close()
        for name, spill in self.spills.items():
            spill.close()
            to_parquet(spill.path, self.folder / f"{name}.parquet", self.schemas[name])
        for writer in self.sketches.values():
            writer.close()
        by_stage = dict(belt.cpu_ns)
        for name in belt.cpu_ns:
            belt.cpu_ns[name] = 0
        result: ScanResult = {
            **self.state,
            "cpu_by_stage_ns": by_stage,
            "limit": self.task.limit,
            "ended": time(),
        }
        write_json(self.folder / "result.json", result)
        publish(self.folder, self.task.folder)


def _ledger_row(file: InputFile, span: Span, doc: Document | None, stage: str, drop: Drop) -> dict[str, Any]:
    row: dict[str, Any] = {
        "source": file.source,
        "file_path": file.name,
        "offset": span.offset,
        "length": span.length,
        "stage": stage,
        "reason": drop.reason,
        "value": drop.value,
        "limit": drop.limit,
        "cause": clean(drop.cause[: 4 * LONGEST_CAUSE])[:LONGEST_CAUSE] or None,
    }
    if doc is not None:
        row |= {
            "record_id": doc.id,
            "url": doc.url,
            "domain": domain(doc.url),
            "date": doc.date or None,
            "status": doc.status,
            "language": doc.attributes.get("language"),
        }
        if doc.text:
            row |= {"words": len(doc.words), "bytes": len(doc.text.encode())}
    return row


def publish(folder: Path, final: Path) -> None:
    """Gives a finished task its final name; the spills, packed by now, go."""
    for name in ("cursor", "state.json", *(spill.name for spill in folder.glob("*.arrows"))):
        (folder / name).unlink(missing_ok=True)
    folder.rename(final)
