"""The pass over the spilled texts after a stage that cuts: texts without what it cut, measured and sketched again."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curate.decide.cut_text import counted_again, counted_names, cut_out, sketch_living
from curate.decide.cuts import Items, SortedCuts
from curate.decide.edited import DROPPED, DROPS, EDITS, SIZES, SPANS, folder_of
from curate.decide.survivors import Survivors, load_survivors, verdict_table
from curate.document import Address, Document
from curate.durable import write_json
from curate.output.schema import CUTS
from curate.scan.sketch_writer import SketchWriter, sketched_after
from curate.scan.tasks import load_run
from curate.stage import Span, declared

EXCERPT = 200  # characters shown of what was cut


class EditFacts(TypedDict):
    """What a pass did to the survivors of one scan task; words and characters are those of documents that stay."""

    edited: int
    spans: int
    words: int
    characters: int
    rows: int  # of its cuts


class EditTask(NamedTuple):
    """The survivors of one scan task and what corpus stage number `stage` cut of them."""

    work: str
    task: int
    stage: int
    cuts: SortedCuts


def edit(task: EditTask) -> EditFacts:
    """Cuts the survivors of a scan task; a finished one is not redone."""
    survivors = load_survivors(task.work)
    name, _ = survivors.config.corpus_stages[task.stage]
    target = folder_of(survivors.work / "decide", name, task.task)
    facts_path = target / "facts.json"
    if not facts_path.exists():
        new = target.with_name(f"new-{target.name}-{os.getpid()}")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        write_json(new / "facts.json", _Pass(survivors, task, new).run())
        try:
            new.rename(target)
        except OSError:
            if not facts_path.exists():  # else a worker taken for lost was done before
                raise
    facts: EditFacts = json.loads(facts_path.read_text())
    return facts


@dataclass
class _Pass:
    survivors: Survivors
    task: EditTask
    folder: Path
    facts: EditFacts = field(default_factory=lambda: EditFacts(edited=0, spans=0, words=0, characters=0, rows=0))
    edits: list[dict[str, Any]] = field(default_factory=list)
    drops: list[dict[str, Any]] = field(default_factory=list)
    cut: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        config = self.survivors.config
        self.name, self.stage = config.corpus_stages[self.task.stage]
        self.declaration = declared(self.stage)
        self.types = load_run(self.task.work).types
        self.counting = [(name, stage) for name, stage in config.document_stages if declared(stage).counts]
        self.counted = counted_names(self.counting, self.types)
        self.next = sketched_after(config.corpus_stages, self.task.stage)
        self.writers = [SketchWriter(self.folder, name, stage) for name, stage in self.next]

    def run(self) -> EditFacts:
        first, stop = (int(n) for n in self.survivors.starts[self.task.task : self.task.task + 2])
        cuts = self.task.cuts.of(first, stop)
        schema = pa.schema([("row", pa.int64()), *SIZES.items(), *((f"@{n}", self.types[n]) for n in self.counted)])
        with (
            pq.ParquetWriter(self.folder / EDITS, schema, compression="zstd", compression_level=1) as edits,
            pq.ParquetWriter(self.folder / SPANS, CUTS) as spans,
        ):
            for start, table in self._batches(cuts):
                self._batch(start, table, cuts)
                edits.write_table(pa.Table.from_pylist(self.edits, schema))
                spans.write_table(pa.Table.from_pylist(self.cut, CUTS))
                self.facts["rows"] += len(self.cut)
                self.edits, self.cut = [], []
        pq.write_table(pa.Table.from_pylist(self.drops, DROPS), self.folder / DROPPED)
        for writer in self.writers:
            writer.close()
        return self.facts

    def _batches(self, cuts: Items) -> Iterator[tuple[int, pa.Table]]:
        columns = ["text", "id", "url", "date", "offset", "status", *(f"@{name}" for name in self.types)]
        if self.survivors.counts[self.task.task] and (self.next or len(cuts)):
            yield from self.survivors.batches(self.task.task, columns)

    def _batch(self, start: int, table: pa.Table, cuts: Items) -> None:
        """Edits the documents numbered `start`…, and sketches those that live on."""
        stop = start + table.num_rows
        living = verdict_table(self.survivors).slice(start, stop).stage == 0
        mine = cuts[slice(*np.searchsorted(cuts["document"], (start, stop)))]
        wanted = living if self.next else living & np.isin(np.arange(start, stop), mine["document"])
        rows = np.flatnonzero(wanted)
        table = table.append_column("file", self.survivors.file_paths(start + np.arange(table.num_rows)))
        docs = dict(zip(rows.tolist(), map(self._document, table.take(pa.array(rows)).to_pylist()), strict=True))
        numbers, begins = np.unique(mine["document"], return_index=True)
        for number, some in zip(numbers.tolist(), np.split(mine, begins[1:])):
            if number - start in docs:
                edited = self._edited(number, docs[number - start], some)
                if edited is None:
                    del docs[number - start]
                else:
                    docs[number - start] = edited
        sketch_living(self.next, self.writers, docs, table.num_rows)

    def _document(self, row: dict[str, Any]) -> Document:
        address = Address(self.survivors.source(self.task.task), row["file"], row["offset"])
        attributes = {name: row[f"@{name}"] for name in self.types}
        return Document(address, row["id"], row["url"], row["date"], None, None, row["text"], row["status"], attributes)

    def _edited(self, number: int, doc: Document, cuts: Items) -> Document | None:
        """The document without its cuts; None where it is dropped for them."""
        cut = cut_out(self.name, self.stage, doc, cuts)
        self._note(doc, cut.spans)
        row, drop, edited = number - int(self.survivors.starts[self.task.task]), cut.drop, cut.edited
        if drop is not None:
            verdict = {"reason": drop.reason, "value": drop.value, "limit": drop.limit, "cause": drop.cause or None}
            self.drops.append({"row": row, "matched": int(cuts["matched"][0]), **verdict})
            return None
        edited = counted_again(self.counting, self.counted, edited)
        counted = {f"@{name}": edited.attributes.get(name) for name in self.counted}
        sizes = {"words": len(edited.words), "bytes": len(edited.text.encode())}
        self.edits.append({"row": row, "text": edited.text, **sizes, **counted})
        self.facts["edited"] += 1
        self.facts["spans"] += len(cut.spans)
        self.facts["words"] += len(doc.words) - len(edited.words)
        self.facts["characters"] += len(doc.text) - len(edited.text)
        return edited

    def _note(self, doc: Document, spans: Mapping[Span, Any]) -> None:
        """What was cut, for the output."""
        place = {"source": doc.address.source, "file_path": doc.address.file, "offset": doc.address.offset}
        for (start, end), item in spans.items():
            twin = self.survivors.address(int(item["matched"])) if item["matched"] >= 0 else None
            cause = (
                self.declaration.cause(int(item["cause"])) if self.declaration.cause and item["cause"] >= 0 else None
            )
            matched = {"matched_file": twin.file if twin else None, "matched_offset": twin.offset if twin else None}
            text = doc.text[start:end]
            about = {"words": len(text.split()), "cause": cause, "text": text[:EXCERPT]}
            self.cut.append({**place, "stage": self.name, "start": start, "end": end, **matched, **about})
