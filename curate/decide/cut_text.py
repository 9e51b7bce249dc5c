"""One text without what a stage cut of it: joined spans, the stage's verdict on the rest, counts and sketches anew."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from curate.decide.cuts import Items, taken_out
from curate.document import Document, Drop
from curate.errors import UserError
from curate.plug_ins.contract import blamed, held
from curate.scan.sketch_writer import SketchWriter, sketch_all
from curate.stage import CorpusStage, DocumentStage, Sketch, Span, declared
from curate.text import clean

BLOCK = 256  # documents sketched at once
TOKENS = "token_count"  # a count that is true of no other text


class Cutting(NamedTuple):
    """What came of a document; `spans` in order, each with the cut that its first one was made of."""

    edited: Document
    drop: Drop | None
    spans: Mapping[Span, Any]


def cut_out(name: str, stage: CorpusStage, doc: Document, cuts: Items) -> Cutting:
    """Takes out of a document what a stage wants cut of it. Raises UserError where the stage breaks its contract."""
    declaration = declared(stage)
    with blamed(name, stage):
        places = (cuts[place].astype(np.int64) for place in ("start", "end"))
        spans = _joined(declaration.spans(doc, *places) if declaration.spans else [], cuts)
        edited = doc.with_text(clean(taken_out(doc.text, list(spans))))
        drop = declaration.recheck(edited, doc, list(spans)) if declaration.recheck else None
    if drop is not None:
        held(name, stage, edited, drop)
    elif not edited.words:
        place = f"stage '{name}' cut all of {doc.address}"
        raise UserError(f"{place}; let its `recheck` drop documents that have no text left")
    return Cutting(edited, drop, spans)


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


def counted_names(stages: Iterable[tuple[str, DocumentStage]], attributes: Iterable[str]) -> list[str]:
    """The attributes that are counted in texts: those that stages declare, and the tokens that an input brought."""
    counted = {name for _, stage in stages for name in declared(stage).counts}
    return sorted((counted | {TOKENS}) & set(attributes))


def counted_again(stages: Iterable[tuple[str, DocumentStage]], names: Iterable[str], doc: Document) -> Document:
    """The document with what stages count in its text counted again; unknown where no stage counted it."""
    found: dict[str, Any] = dict.fromkeys(names)
    for name, stage in stages:
        with blamed(name, stage):
            outcome = stage.apply(doc)
        if isinstance(outcome, Document):
            found |= {counted: outcome.attributes.get(counted) for counted in declared(stage).counts}
    return doc.annotate(**found)


def sketch_living(
    stages: Sequence[tuple[str, CorpusStage]],
    writers: Sequence[SketchWriter],
    docs: Mapping[int, Document],
    count: int,
) -> None:
    """Appends one sketch a document for each stage; an empty one for those of the `count` that are not in `docs`."""
    living = list(docs)
    for (name, stage), writer in zip(stages, writers):
        nothing = Sketch(np.empty(0, np.uint64), None if stage.record is None else np.zeros(1, stage.record))
        made = dict.fromkeys(range(count), nothing)
        with blamed(name, stage):
            for first in range(0, len(living), BLOCK):
                some = living[first : first + BLOCK]
                made |= dict(zip(some, sketch_all(stage, [docs[row] for row in some]), strict=True))
        for row in range(count):
            writer.add(writer.documents, made[row])
