"""Edits between corpus stages: the pass over all scan tasks, and the sketches of the stages that come after it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from curate.decide import edited
from curate.decide.cuts import SortedCuts
from curate.decide.edit import EditTask, edit
from curate.decide.survivors import Survivors, load_survivors
from curate.executors.executor import Executor, results
from curate.scan.sketch_writer import sketched_after
from curate.scan.sketches import gather
from curate.stage import CorpusStage, Verdicts, declared

DOCUMENTS_PER_PARTITION = 1 << 17  # about 108 MB at near_dedup's 25 keys a document
KEYS_PER_PARTITION = 1 << 22


def gather_all(
    executor: Executor,
    survivors: Survivors,
    stages: Sequence[tuple[str, CorpusStage]],
    folders: Sequence[Path],
    partitions: int | None,
) -> None:
    """Gathers the sketches of some stages, which lie in one folder for each scan task."""
    for name, stage in stages:
        count = partitions_for(folders, name, survivors.size, partitions)
        gather(executor, survivors.work / "decide", name, stage, folders, survivors.counts, count)


def partitions_for(folders: Sequence[Path], name: str, size: int, partitions: int | None) -> int:
    """Partitions for one stage's sketches in some folders, of `size` documents in all; `partitions` where given."""
    wanted = partitions or max(
        -(-size // DOCUMENTS_PER_PARTITION),
        -(-sum((folder / f"{name}.keys").stat().st_size for folder in folders) // 8 // KEYS_PER_PARTITION),
    )
    return max(1, min(wanted, size))  # more would be empty, and cost their time all the same


@dataclass(frozen=True)
class Editing:
    """What makes the cuts of corpus stages hold, for the run in a work folder. Small and picklable."""

    work: str
    partitions: int | None

    def _cutting(self, stages: Sequence[tuple[str, CorpusStage]]) -> list[str]:
        return [name for name, stage in stages if declared(stage).spans]

    def begin(self, index: int) -> None:
        """Only the edits of stages before number `index` hold while it decides."""
        survivors = load_survivors(self.work)
        edited.hold(survivors.work / "decide", self._cutting(survivors.config.corpus_stages[:index]))

    def apply(self, executor: Executor, index: int, cuts: SortedCuts) -> tuple[dict[str, int], list[Verdicts]]:
        """Cuts what stage number `index` wants cut, and has the next stages sketch.

        Returns integers for the report, and its verdicts on what was cut.
        """
        survivors = load_survivors(self.work)
        stages = survivors.config.corpus_stages
        tasks = [EditTask(self.work, task, index, cuts) for task in range(len(survivors.tasks))]
        facts = results(executor, edit, tasks)
        decide, name = survivors.work / "decide", stages[index][0]
        folders = [edited.folder_of(decide, name, task.task) for task in tasks]
        gather_all(executor, survivors, sketched_after(stages, index), folders, self.partitions)
        edited.hold(decide, self._cutting(stages[: index + 1]))
        verdicts = [one for task in tasks for one in _verdicts(survivors, name, task.task)]
        counts = {
            "edited": sum(fact["edited"] for fact in facts),
            "cut_spans": sum(fact["spans"] for fact in facts),
            "cut_words": sum(fact["words"] for fact in facts),
            "cut_characters": sum(fact["characters"] for fact in facts),
        }
        return counts, verdicts


def _verdicts(survivors: Survivors, stage: str, task: int) -> Iterator[Verdicts]:
    """A stage's verdicts on what it had cut of the survivors of one scan task."""
    dropped = edited.drops(survivors.work / "decide", stage, task)
    if dropped is None or not dropped.num_rows:
        return
    reasons = np.array(dropped.column("reason").to_pylist())
    for reason in np.unique(reasons).tolist():
        mine = np.flatnonzero(reasons == reason)
        numbers = dropped.column("row").to_numpy()[mine] + survivors.starts[task]
        yield Verdicts(numbers, reason, dropped.column("matched").to_numpy()[mine])
