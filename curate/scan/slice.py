"""Scan: one task reads one slice of one source file, sends its documents down the belt and spills what came of it."""

import json
from collections.abc import Iterator
from pathlib import Path

from curate.belt import Passage
from curate.config.file import Config
from curate.durable import locked
from curate.scan import guard
from curate.scan.blocks import ScanOutput, publish
from curate.scan.tasks import ScanResult, ScanTask, load_run
from curate.sources import is_there, reader
from curate.sources.reader import InputFile, Slice, Span
from curate.stage import GUARD


def scan(task: ScanTask) -> ScanResult:
    """Runs a scan task (or goes on with it after a kill) and returns its counts. A finished task is not redone."""
    with locked(task.folder.with_suffix(".lock")):
        done = task.folder / "result.json"
        unpublished = task.folder.with_suffix(".tmp")
        if not done.exists() and (unpublished / "result.json").exists():
            publish(unpublished, task.folder)
        if not done.exists():
            _scan(task)
        result: ScanResult = json.loads(done.read_text())
        return result


def _scan(task: ScanTask) -> None:
    run = load_run(task.work)
    file = run.files[task.file_index]
    is_there(file)
    output = ScanOutput(task, run)
    cursor = output.cursor
    guards = guard.Verdicts(Path(task.work, "guard"))
    verdicts = guards.of_file(task.file_index)
    belt = run.belt
    with guard.strangers(run.memory):
        for span in _spans(run.config, file, output.rest()):
            if task.limit is not None and output.state["documents"] >= task.limit:
                break
            passage = None
            if span.document is not None and span.drop is None:
                cursor.set(span.offset)
                guard.arm(run.config.cpu_seconds)
                accused = verdicts.get(span.offset)
                passage = Passage(span.document, GUARD, accused) if accused else belt.run(span.document)
                if passage.drop is not None and passage.stage == GUARD and not accused:
                    guards.store(task.file_index, span.offset, passage.drop.reason, passage.drop.cause)
                cursor.set(guard.IDLE)
                guard.arm(None)  # reading the next record is not this page's time
            output.take(span, passage)
            if output.full:
                guard.limit_memory(None)  # only pages are strangers
                output.commit()
                guard.limit_memory(run.memory)
    is_there(file)  # or raises where it was changed meanwhile
    output.finish(belt)


def _spans(config: Config, file: InputFile, part: Slice) -> Iterator[Span]:
    """The reader's spans; one empty span where the slice has nothing left to read."""
    if part.exact and part.end is not None and part.start >= part.end:
        yield Span(part.start, 0, "padding")
        return
    empty = True
    for span in reader(config.input[file.source], file).read(file, part):
        empty = False
        yield span
    if empty:
        yield Span(part.start, 0, "padding")
