"""Decide: each corpus stage in turn over what is still living, into the verdict table."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from curate.corpus import Corpus
from curate.decide.cuts import SortedCuts, Spool
from curate.decide.verdicts import VerdictTable
from curate.errors import UserError
from curate.executors.executor import Executor, Serial
from curate.executors.processes import Processes
from curate.plug_ins.code import is_ours
from curate.plug_ins.contract import blamed
from curate.scan.sketches import StoredSketches
from curate.stage import CorpusStage, Verdicts, declared


class Edits(Protocol):
    """What makes the cuts of corpus stages hold. Sent to another process with the decision."""

    def begin(self, index: int) -> None:
        """Only the edits of stages before number `index` hold while it decides."""

    def apply(self, executor: Executor, index: int, cuts: SortedCuts) -> tuple[dict[str, int], list[Verdicts]]:
        """Cuts what stage number `index` wants cut, and has the next stages sketch. Returns integers for the report,
        and its verdicts on what was cut."""


def decide(
    executor: Executor,
    work: Path,
    stages: Sequence[tuple[str, CorpusStage]],
    size: int,
    attributes: Callable[[str], Iterator[Any]] | None = None,
    editing: Edits | None = None,
) -> VerdictTable:
    """Runs the corpus stages, whose sketches `gather` left in `work`, over documents 0 … size - 1.

    `attributes(name)` yields a column of the survivors in document order, chunk by chunk. After a
    kill, stages that were done stay done and the interrupted one is done anew. Without `editing` nothing is cut.
    """
    todo = Decision(executor, work, stages, size, attributes, editing)
    for index, (name, stage) in enumerate(stages):
        if name not in todo.table().notes:
            todo.apart(index) if _needs_watching(stage, executor) else todo.of_stage(index)
    return todo.table()


def _needs_watching(stage: CorpusStage, executor: Executor) -> bool:
    """Whether a stage decides in a process of its own: a plug-in that crashes or leaves must not take the run along."""
    return not (is_ours(stage) or isinstance(executor, Serial))


@dataclass(frozen=True)
class Decision:
    """What corpus stages decide over. Sent to another process, it takes the executor's recipe along."""

    executor: Executor
    work: Path
    stages: Sequence[tuple[str, CorpusStage]]
    size: int
    attributes: Callable[[str], Iterator[Any]] | None
    editing: Edits | None = None

    def table(self) -> VerdictTable:
        """The verdict table as it is on disk."""
        return VerdictTable.create(self.work / "verdicts", self.size, self.stages)

    def of_stage(self, index: int) -> None:
        """Enters the verdicts of stage number `index`, from its beginning."""
        name, stage = self.stages[index]
        table = self.table()
        table.reset(index, stage)
        folder = self.work / name / "decide"
        folder.mkdir(parents=True, exist_ok=True)
        cuts = Spool(folder / "cuts", self.size)
        if self.editing:
            self.editing.begin(index)
        sketches = StoredSketches.open(self.work, name, stage)
        living = table.folder / "stage.column"
        kinds = {name: column.dtype for name, column in table.columns.items()}
        corpus = Corpus(sketches, self.size, living, index, folder, self.executor, self.attributes, {}, kinds)
        with blamed(name, stage):
            dropped = table.enter(index, stage, cuts.kept_apart(stage.decide(corpus))) if self.size else 0
        notes = corpus.notes
        if self.editing and declared(stage).spans:
            table.flush()
            facts, verdicts = self.editing.apply(self.executor, index, cuts.merged(self.executor))
            dropped += table.enter(index, stage, verdicts)
            notes = {**notes, **facts}
        table.finish(name, {**notes, "dropped": dropped})
        shutil.rmtree(folder)

    def apart(self, index: int) -> None:
        """The same in a process of its own. Raises UserError where that dies."""
        watched = Processes(1, nested=True)
        try:
            (outcome,) = watched.map(self.alone, [index])
        finally:
            watched.close()
        if outcome.died:
            raise UserError(
                f"stage '{self.stages[index][0]}': its process ended in decide() ({outcome.death}); "
                "mend the stage and give --fresh, or see to the memory and run again: it goes on with this stage"
            )

    def alone(self, index: int) -> None:
        """`of_stage` in a process that has an executor to itself."""
        try:
            self.of_stage(index)
        finally:
            self.executor.close()
