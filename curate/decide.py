"""Decide: each corpus stage in turn over what is still living, into the verdict table."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from curate.contract import blamed
from curate.corpus import Corpus
from curate.executor import Executor
from curate.sketches import Sketches
from curate.stage import CorpusStage
from curate.verdicts import VerdictTable


def decide(
    executor: Executor,
    work: Path,
    stages: Sequence[tuple[str, CorpusStage]],
    size: int,
    attributes: Callable[[str], Iterator[Any]] | None = None,
) -> VerdictTable:
    """Runs the corpus stages, whose sketches `gather` left in `work`, over documents 0 … size - 1.

    `attributes(name)` yields a column of the survivors in document order, chunk by chunk. After a
    kill, stages that were done stay done and the interrupted one is done anew.
    """
    table = VerdictTable.create(work / "verdicts", size, stages)
    for index, (name, stage) in enumerate(stages):
        if name in table.notes:
            continue
        table.reset(index, stage)
        folder = work / name / "decide"
        folder.mkdir(parents=True, exist_ok=True)
        sketches = Sketches.open(work, name, stage)
        corpus = Corpus(sketches, size, table.folder / "stage.column", index, folder, executor, attributes)
        with blamed(name, stage):
            dropped = table.enter(index, stage, stage.decide(corpus)) if size else 0
        table.finish(name, {**corpus.notes, "dropped": dropped})
        shutil.rmtree(folder)
    return table
