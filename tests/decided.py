"""Runs corpus stages over texts as the engine does: scan tasks, gather, decide."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from curate.corpus import Corpus
from curate.decide.decide import decide
from curate.decide.verdicts import VerdictTable
from curate.document import Address, Document
from curate.executors.executor import Executor, Serial
from curate.scan.sketch_writer import SketchWriter, sketch_all
from curate.scan.sketches import gather
from curate.stage import CorpusStage

Stages = Sequence[tuple[str, CorpusStage]]


def documents(texts: Iterable[str], source: str = "web", **attributes: Sequence[Any]) -> list[Document]:
    """Documents of these texts; `attributes` are columns."""
    return [
        Document(
            Address(source, "f", number),
            text=text,
            attributes={name: column[number] for name, column in attributes.items()},
        )
        for number, text in enumerate(texts)
    ]


def scan(work: Path, stages: Stages, docs: Sequence[Document], task: int) -> tuple[list[Path], list[int]]:
    """Sketches on disk, `task` documents a scan task; their folders and counts."""
    folders, counts = [], []
    for start in range(0, len(docs), task):
        folder = work / f"task-{start}"
        folder.mkdir(parents=True)
        part = docs[start : start + task]
        for name, stage in stages:
            writer = SketchWriter(folder, name, stage)
            for number, sketch in enumerate(sketch_all(stage, part)):
                writer.add(number, sketch)
            writer.commit()
            writer.close()
        folders.append(folder)
        counts.append(len(part))
    return folders, counts


def decided(
    work: Path,
    stages: Stages,
    docs: Sequence[Document],
    partitions: int = 1,
    task: int = 1000,
    executor: Executor | None = None,
    attributes: Callable[[str], Iterator[Any]] | None = None,
) -> VerdictTable:
    """The verdict table of a run over these documents."""
    executor = executor or Serial()
    folders, counts = scan(work, stages, docs, task)
    for name, stage in stages:
        gather(executor, work, name, stage, folders, counts, partitions)
    return decide(executor, work, stages, len(docs), attributes)


def corpus_of(work: Path, stage: CorpusStage, docs: Sequence[Document], partitions: int = 1) -> Corpus:
    """The corpus that a stage sees, all documents living."""
    folders, counts = scan(work, [("it", stage)], docs, 1000)
    sketches = gather(Serial(), work, "it", stage, folders, counts, partitions)
    table = VerdictTable.create(work / "verdicts", len(docs), [("it", stage)])
    scratch = work / "scratch"
    scratch.mkdir()
    return Corpus(sketches, len(docs), table.folder / "stage.column", 0, scratch, Serial())


def renumbered(docs: Sequence[Document], order: Sequence[int]) -> list[Document]:
    """The same documents in another crawl order."""
    return [replace(docs[old]) for old in order]
