"""Corpus stages over the documents of earlier runs and of this one together, and what of it this run takes over.

The stages decide as in one run over all: earlier documents have the smaller numbers. The verdicts on those are dropped;
the verdicts on this run's documents are entered into its table, where a twin in an earlier run has a number below -1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from curate.decide.decide import decide
from curate.decide.earlier import Earlier, open_earlier
from curate.decide.editing import partitions_for
from curate.decide.survivors import Survivors
from curate.decide.verdicts import CHUNK, VerdictTable
from curate.document import Address
from curate.executors.executor import Executor
from curate.scan.sketches import gather
from curate.stage import CorpusStage

NO_TWIN = -1
I64 = npt.NDArray[np.int64]


def decide_joined(
    executor: Executor,
    survivors: Survivors,
    stages: Sequence[tuple[str, CorpusStage]],
    earlier: Earlier,
    partitions: int | None,
) -> None:
    """Decides the first corpus stages of a run over all documents, and enters this run's part as done."""
    table = VerdictTable.create(survivors.work / "decide" / "verdicts", survivors.size, survivors.config.corpus_stages)
    waiting = [name for name, _ in stages if name not in table.notes]
    if not waiting:
        return
    work = survivors.work / "decide" / "joined"
    work.mkdir(parents=True, exist_ok=True)
    folders = [*earlier.folders, *(task.folder for task in survivors.tasks)]
    counts = [*earlier.counts, *survivors.counts]
    total = earlier.size + survivors.size
    for name, stage in stages:
        gather(executor, work, name, stage, folders, counts, partitions_for(folders, name, total, partitions))
    together = decide(executor, work, stages, total)
    _take_over(table, together, stages, earlier.size)
    for index, (name, _) in enumerate(stages):
        dropped = sum(
            int((table.columns["stage"][at : at + CHUNK] == index + 1).sum()) for at in range(0, table.size, CHUNK)
        )
        note = {**together.notes[name], "dropped": dropped, "earlier_documents": earlier.size}
        table.finish(name, note)


def _take_over(
    table: VerdictTable, together: VerdictTable, stages: Sequence[tuple[str, CorpusStage]], before: int
) -> None:
    names = ["stage", "reason", "score", *(name for _, stage in stages for name in stage.adds)]
    for first in range(0, table.size, CHUNK):
        mine, theirs = slice(first, first + CHUNK), slice(before + first, before + first + CHUNK)
        for name in names:
            table.columns[name][mine] = together.columns[name][theirs]
        table.columns["matched"][mine] = _renumbered(together.columns["matched"][theirs], before)


def _renumbered(matched: npt.NDArray[Any], before: int) -> I64:
    """Twins by this run's numbers; document i of the earlier runs as -2 - i."""
    numbers: I64 = np.where(matched >= before, matched - before, np.where(matched == NO_TWIN, NO_TWIN, -2 - matched))
    return numbers


def twin_address(survivors: Survivors, matched: int) -> Address | None:
    """Where a twin lies, of this run or of an earlier one; None for none."""
    if matched >= 0:
        return survivors.address(matched)
    return None if matched == NO_TWIN else open_earlier(survivors.config.against).address(-2 - matched)
