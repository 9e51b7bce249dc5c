"""The pass over the spilled texts after a stage that cuts: texts without what it cut, measured and sketched again."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curate.decide.cuts import Items, SortedCuts, taken_out
from curate.decide.edited import DROPPED, DROPS, EDITS, SIZES, SPANS, folder_of
from curate.decide.survivors import Survivors, load_survivors, verdict_table
from curate.document import Address, Document
from curate.durable import write_json
from curate.errors import UserError
from curate.output.schema import CUTS
from curate.plug_ins.contract import blamed
from curate.plug_ins.contract import held as fit
from curate.scan.sketch_writer import SketchWriter, sketch_all, sketched_after
from curate.scan.tasks import load_run
from curate.stage import Sketch, Span, declared
from curate.text import clean

BLOCK = 256  # documents sketched at once
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
    told = target / "facts.json"
    if not told.exists():
        new = target.with_name(f"new-{target.name}-{os.getpid()}")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        write_json(new / "facts.json", _Pass(survivors, task, new).run())
        new.rename(target)
    facts: EditFacts = json.loads(told.read_text())
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
        self.told = declared(self.stage)
        self.file = self.survivors.file(self.task.task)
        self.types = load_run(self.task.work).types
        self.counting = [(name, stage) for name, stage in config.document_stages if declared(stage).counts]
        counted = {name for _, stage in self.counting for name in declared(stage).counts}
        self.counted = sorted(counted | ({"token_count"} & set(self.types)))
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
        docs = dict(zip(rows.tolist(), map(self._document, table.take(pa.array(rows)).to_pylist()), strict=True))
        numbers, begins = np.unique(mine["document"], return_index=True)
        for number, some in zip(numbers.tolist(), np.split(mine, begins[1:])):
            if number - start in docs:
                edited = self._edited(number, docs[number - start], some)
                if edited is None:
                    del docs[number - start]
                else:
                    docs[number - start] = edited
        self._sketch(docs, table.num_rows)

    def _document(self, row: dict[str, Any]) -> Document:
        address = Address(self.file.source, self.file.name, row["offset"])
        attributes = {name: row[f"@{name}"] for name in self.types}
        return Document(address, row["id"], row["url"], row["date"], None, None, row["text"], row["status"], attributes)

    def _edited(self, number: int, doc: Document, cuts: Items) -> Document | None:
        """The document without its cuts; None where it is dropped for them."""
        with blamed(self.name, self.stage):
            places = (cuts[name].astype(np.int64) for name in ("start", "end"))
            spans = _joined(self.told.spans(doc, *places) if self.told.spans else [], cuts)
            edited = doc.with_text(clean(taken_out(doc.text, list(spans))))
            drop = self.told.recheck(edited, doc, list(spans)) if self.told.recheck else None
        self._note(doc, spans)
        row = number - int(self.survivors.starts[self.task.task])
        if drop is not None:
            fit(self.name, self.stage, edited, drop)
            told = {"reason": drop.reason, "value": drop.value, "limit": drop.limit, "cause": drop.cause or None}
            self.drops.append({"row": row, "matched": int(cuts["matched"][0]), **told})
            return None
        if not edited.words:
            place = f"stage '{self.name}' cut all of {doc.address}"
            raise UserError(f"{place}; let its `recheck` drop documents that have no text left")
        edited = self._counted(edited)
        counted = {f"@{name}": edited.attributes.get(name) for name in self.counted}
        sizes = {"words": len(edited.words), "bytes": len(edited.text.encode())}
        self.edits.append({"row": row, "text": edited.text, **sizes, **counted})
        self.facts["edited"] += 1
        self.facts["spans"] += len(spans)
        self.facts["words"] += len(doc.words) - len(edited.words)
        self.facts["characters"] += len(doc.text) - len(edited.text)
        return edited

    def _counted(self, doc: Document) -> Document:
        """The document with all that was counted in its text counted again; unknown where no stage counted it."""
        found: dict[str, Any] = dict.fromkeys(self.counted)
        for name, stage in self.counting:
            with blamed(name, stage):
                outcome = stage.apply(doc)
            if isinstance(outcome, Document):
                found |= {counted: outcome.attributes.get(counted) for counted in declared(stage).counts}
        return doc.annotate(**found)

    def _note(self, doc: Document, spans: Mapping[Span, Any]) -> None:
        """What was cut, for the output."""
        place = {"source": self.file.source, "file_path": self.file.name, "offset": doc.address.offset}
        for (start, end), item in spans.items():
            twin = self.survivors.address(int(item["matched"])) if item["matched"] >= 0 else None
            cause = self.told.cause(int(item["cause"])) if self.told.cause and item["cause"] >= 0 else None
            matched = {"matched_file": twin.file if twin else None, "matched_offset": twin.offset if twin else None}
            text = doc.text[start:end]
            about = {"words": len(text.split()), "cause": cause, "text": text[:EXCERPT]}
            self.cut.append({**place, "stage": self.name, "start": start, "end": end, **matched, **about})

    def _sketch(self, docs: dict[int, Document], count: int) -> None:
        """One sketch a survivor for each stage up to the next that cuts; an empty one for those that are dropped."""
        living = list(docs)
        for (name, stage), writer in zip(self.next, self.writers):
            nothing = Sketch(np.empty(0, np.uint64), None if stage.record is None else np.zeros(1, stage.record))
            made = dict.fromkeys(range(count), nothing)
            with blamed(name, stage):
                for first in range(0, len(living), BLOCK):
                    some = living[first : first + BLOCK]
                    made |= dict(zip(some, sketch_all(stage, [docs[row] for row in some]), strict=True))
            for row in range(count):
                writer.add(writer.documents, made[row])


def _joined(spans: Sequence[Span], cuts: Items) -> dict[Span, Any]:
    """Spans that touch or overlap made one, each with the cut that its first one was made of."""
    if len(spans) != len(cuts):
        raise ValueError(f"`spans` gave {len(spans)} spans for {len(cuts)} cuts")
    found: list[tuple[int, int, Any]] = []
    for (start, end), item in sorted(zip(spans, cuts, strict=True), key=lambda one: one[0]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]), found[-1][2])
        else:
            found.append((int(start), int(end), item))
    return {(start, end): item for start, end, item in found}
