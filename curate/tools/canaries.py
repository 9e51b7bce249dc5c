"""Canaries: planted pages with known fates, and what each stage caught of them.

They take the numbers after the last real document and run through the same belt, sketches, buckets and verdicts, in
folders of their own after the run's own verdicts stand. So nothing of the output can change by them: they can't join
two real documents, use up a budget or raise an alarm. In the keep order they come last, whatever it looks at.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from pathlib import Path
from typing import Any

import numpy as np

from curate.belt import Belt, Passage
from curate.config.file import Config
from curate.decide.bands import jaccard
from curate.decide.decide import decide
from curate.decide.survivors import Survivors, verdict_table
from curate.document import Address, Document
from curate.durable import write_json
from curate.executors.executor import Executor
from curate.rules import RuleStage, rules_of
from curate.scan.samples import Samples
from curate.scan.sketch_writer import SketchWriter, sketch_all
from curate.scan.sketches import GatherTask, gather_group
from curate.sources import reader
from curate.sources.reader import Slice
from curate.stage import GUARD, CorpusStage, declared
from curate.tools.canary_pages import NOUNS, made_pages

COPIES = 50  # kept documents that are copied, once whole and once changed
SIMILARITIES = (0.95, 0.9, 0.85, 0.8)  # of changed copies, to the document they were made of, at most
LEAST_WORDS = 60  # of a document that is changed: below it one word is a large part
SOURCE = "canary"
VERDICTS_AT_ONCE = 1 << 16  # verdicts looked at at once
NAME = ".canaries.json"


@dataclass
class Canary:
    """One planted page. `similarity` is that of a near copy to its original; `stage` and `reason` its verdict."""

    kind: str
    name: str
    document: Document
    language: str | None = None
    original: Address | None = None
    similarity: float | None = None
    stage: str | None = None
    reason: str | None = None
    reached: list[str] = field(default_factory=list)


def plant(survivors: Survivors, executor: Executor, final: Path) -> dict[str, Any]:
    """Plants canaries into a run whose verdicts stand, and writes what came of them to `final`/.canaries.json."""
    config = survivors.config
    canaries = [*_copies(survivors), *_made(_reads_html(survivors))]
    canaries = [replace(c, document=_named(c, number)) for number, c in enumerate(canaries)]
    belt = Belt.of(config)
    passed: list[tuple[Canary, Document]] = []
    for canary in canaries:
        passage = belt.run(canary.document)
        canary.reached = _reached(config, passage)
        if passage.drop:
            canary.stage, canary.reason = passage.stage or GUARD, passage.drop.reason
        else:
            passed.append((canary, passage.doc))
    _decide(survivors, executor, passed)
    planted = _report(config, canaries)
    write_json(final / NAME, planted)
    return planted


def report_lines(planted: Mapping[str, Any]) -> list[str]:
    """The report as text."""
    lines = [f"canaries: {planted['planted']} planted ({NAME})"]
    for stage, counts in planted["stages"].items():
        lines.append(
            f"  {stage} caught {counts['caught']} of {counts['reached']} that it should (recall {counts['recall']:.3f})"
        )
    passed = {kind: len(counts["passed"]) for kind, counts in planted["kinds"].items() if counts["passed"]}
    lines.append("  passed everything: " + (", ".join(f"{count} {kind}" for kind, count in passed.items()) or "none"))
    return lines


def _named(canary: Canary, number: int) -> Document:
    return replace(
        canary.document, address=Address(SOURCE, f"{canary.kind}/{canary.name}", number), id=f"canary-{number}"
    )


def _reached(config: Config, passage: Passage) -> list[str]:
    """The document stages that a page came to."""
    names = [name for name, _ in config.document_stages]
    return names if passage.drop is None else names[: names.index(passage.stage) + 1] if passage.stage in names else []


def _copies(survivors: Survivors) -> Iterator[Canary]:
    """Copies of kept documents, whole (read again from the input) and with a stretch of their words changed."""
    for number in _chosen(survivors):
        address = survivors.address(number)
        original = _read(survivors, number)
        if original is None:
            continue
        yield Canary("exact_copy", str(number), original, original=address)
        text = str(survivors.row(number, ["text"])["text"])
        changed = _changed(text, SIMILARITIES[number % len(SIMILARITIES)])
        if changed:
            yield Canary("near_copy", str(number), replace(original, html=None, text=changed), original=address)


def _chosen(survivors: Survivors) -> list[int]:
    """Numbers of the kept documents with the smallest hashes."""
    verdicts, hashed = verdict_table(survivors), Samples(0, survivors.config.seed).hash
    starts = range(0, survivors.size, VERDICTS_AT_ONCE)
    blocks = ((start, min(start + VERDICTS_AT_ONCE, survivors.size)) for start in starts)
    kept = (start + int(n) for start, end in blocks for n in np.flatnonzero(verdicts.slice(start, end).stage == 0))
    return sorted(nsmallest(COPIES, kept, key=lambda number: (hashed(SOURCE, "", number), number)))


def _read(survivors: Survivors, number: int) -> Document | None:
    """A document as the reader gives it."""
    file, offset = survivors.file(number), int(survivors.offsets[number])
    for span in reader(survivors.config.input[file.source], file).read(file, Slice(offset, offset + 1)):
        if span.offset == offset:
            return span.settled().document
    return None


def _changed(text: str, similarity: float) -> str | None:
    """The text with one stretch of words replaced, so that the Jaccard similarity of 5-word shingles is about as told.

    b new words in a row change b + 4 of S shingles: J = (S - b - 4) / (S + b + 4). None where it is too short.
    """
    words = text.split(" ")
    count = len(text.split())
    stretch = max(1, int((count - 4) * (1 - similarity) / (1 + similarity)) - 4)
    if count < LEAST_WORDS or len(words) < stretch + 2:
        return None
    start = (len(words) - stretch) // 2
    new = [NOUNS[(place * 5 + count) % len(NOUNS)] for place in range(stretch)]
    return " ".join([*words[:start], *new, *words[start + stretch :]])


def _reads_html(survivors: Survivors) -> bool:
    """Whether the run's pages come as HTML (else as texts)."""
    first = next((document for number in _chosen(survivors)[:1] if (document := _read(survivors, number))), None)
    return first is None or first.html is not None


def _made(html: bool) -> Iterator[Canary]:
    for page in made_pages():
        document = Document(Address(SOURCE, "", 0), url=f"https://canary.example/{page.kind}/{page.name}")
        document = replace(document, html=page.html, charset="utf-8") if html else document.with_text(page.text)
        yield Canary(page.kind, page.name, document, page.language)


def _decide(survivors: Survivors, executor: Executor, passed: Sequence[tuple[Canary, Document]]) -> None:
    """Runs the stages that compare documents once more, with the canaries behind all real documents."""
    stages = [(name, stage) for name, stage in survivors.config.corpus_stages if _compares(stage, passed)]
    if not stages:
        return
    folder = survivors.work / "canaries"
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was stopped
    scan = folder / "scan"
    scan.mkdir(parents=True, exist_ok=True)
    for name, stage in stages:
        _sketch(scan, name, stage, [document for _, document in passed])
        _gather(survivors.work / "decide" / name, folder / name, scan, name, stage, len(passed))
    table = decide(executor, folder, stages, survivors.size + len(passed))
    rows = table.slice(survivors.size, survivors.size + len(passed))
    for place, (canary, _) in enumerate(passed):
        last = int(rows.stage[place])
        canary.reached += [name for name, _ in stages[: last or len(stages)]]
        if last:
            canary.stage, canary.reason = table.stages[last - 1], table.reasons[last - 1][int(rows.reason[place])]
    for canary, document in passed:
        canary.similarity = _similarity(survivors, canary, document)


def _compares(stage: CorpusStage, passed: Sequence[tuple[Canary, Document]]) -> bool:
    """Whether a stage looks for copies: then its sketches have keys (those of a budget have none), and it cuts none."""
    if declared(stage).spans:
        return False
    return bool(passed) and any(len(sketch.keys) for sketch in sketch_all(stage, [document for _, document in passed]))


def _sketch(scan: Path, name: str, stage: CorpusStage, documents: list[Document]) -> None:
    writer, ranked_by = SketchWriter(scan, name, stage), declared(stage).ranked_by
    for number, sketch in enumerate(sketch_all(stage, documents)):
        record = sketch.record
        if record is not None and ranked_by is not None:
            record[ranked_by] = np.nan  # last in the keep order
        writer.add(number, sketch._replace(record=record))
    writer.commit()
    writer.close()


def _gather(real: Path, folder: Path, scan: Path, name: str, stage: CorpusStage, count: int) -> None:
    """The run's gathered sketches, by links, and those of the canaries as one more group of tasks."""
    facts = json.loads((real / "gathered.json").read_text())
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*real.glob("keys-*"), *real.glob("records-*")]:
        (folder / path.name).symlink_to(path.resolve())
    itemsize = 0 if stage.record is None else stage.record.itemsize
    group = len(facts["sizes"])
    keys = gather_group(GatherTask(folder, group, name, (scan,), (count,), facts["partitions"], itemsize))
    write_json(folder / "gathered.json", {**facts, "sizes": [*facts["sizes"], count], "keys": [*facts["keys"], keys]})


def _similarity(survivors: Survivors, canary: Canary, document: Document) -> float | None:
    """Exact Jaccard similarity of a near copy to its original, by a stage that can tell."""
    similarities = (declared(stage).compared for _, stage in survivors.config.corpus_stages)
    compared = next((compared for compared in similarities if compared is not None), None)
    if canary.kind != "near_copy" or compared is None:
        return None
    text = str(survivors.row(int(canary.name), ["text"])["text"])
    return jaccard(compared(document), compared(Document(Address("", "", 0), text=text)))


def _targets(name: str, stage: Any, canaries: Sequence[Canary]) -> list[Canary]:
    """The canaries that a stage should drop when they reach it."""
    reached = [canary for canary in canaries if name in canary.reached]
    declaration = declared(stage)
    if declaration.equal:
        return [canary for canary in reached if canary.kind == "exact_copy"]
    if declaration.alike_from is not None:
        least = declaration.alike_from
        return [c for c in reached if c.kind == "exact_copy" or (c.similarity is not None and c.similarity >= least)]
    foreign = [rule for rule in rules_of(type(stage)).rules if rule.measure == "language" and rule.option]
    if foreign:
        breaking = [c for c in reached if any(rule.broken(c.language, rule.limit(stage)) for rule in foreign)]
        return [c for c in breaking if c.kind == "foreign"]
    if isinstance(stage, RuleStage) and not declaration.gives_text:
        return [canary for canary in reached if canary.kind in ("boilerplate", "rule_breaking")]
    return []


def _report(config: Config, canaries: Sequence[Canary]) -> dict[str, Any]:
    """Planted and caught by kind; for each stage how many of those it is there for it dropped when they reached it."""
    kinds: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(canary.kind for canary in canaries):
        mine = [canary for canary in canaries if canary.kind == kind]
        by = Counter(f"{canary.stage}: {canary.reason}" for canary in mine if canary.stage)
        kinds[kind] = {
            "planted": len(mine),
            "dropped": sum(by.values()),
            "by": dict(sorted(by.items())),
            "passed": [canary.name for canary in mine if canary.stage is None],
        }
    stages = {}
    for entry in config.stages:
        targets = _targets(entry.name, entry.stage, canaries)
        caught = sum(canary.stage == entry.name for canary in targets)
        if targets:
            stages[entry.name] = {"reached": len(targets), "caught": caught, "recall": round(caught / len(targets), 4)}
    pages = [
        {
            "kind": c.kind,
            "name": c.name,
            "original": str(c.original) if c.original else None,
            "stage": c.stage,
            "reason": c.reason,
            "similarity": None if c.similarity is None else round(c.similarity, 4),
        }
        for c in canaries
    ]
    return {"planted": len(canaries), "kinds": kinds, "stages": stages, "pages": pages}
