"""Scan: one task reads one slice of a file, or some small files, and sends their documents down the belt."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import thread_time_ns

from curate.belt import Passage
from curate.config.file import Config
from curate.document import Document, Drop
from curate.durable import locked
from curate.scan import guard
from curate.scan.blocks import BLOCK, BLOCK_CHARACTERS, ScanOutput, publish
from curate.scan.tasks import Run, ScanResult, ScanTask, load_run
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
        if task.limit is not None and done.exists() and stopped(json.loads(done.read_text()), task.limit):
            shutil.rmtree(task.folder)
        if not done.exists():
            _scan(task)
        result: ScanResult = json.loads(done.read_text())
        return result


def stopped(result: ScanResult, limit: int) -> bool:
    """Whether a finished task of a trial run stopped at a limit where more may be read now."""
    return (result["limit"] or 0) <= result["documents"] < limit


def _scan(task: ScanTask) -> None:
    run = load_run(task.work)
    output = ScanOutput(task, run)
    crossing = _Crossing(task, run, output)
    with guard.strangers(run.memory):
        for place, part in output.rest():
            _read(crossing, run.files[task.file_index + place], place, part)
            if crossing.enough:
                break
        crossing.send()
    output.finish(run.belt)


def _read(crossing: "_Crossing", file: InputFile, place: int, part: Slice) -> None:
    """Takes what a part of one of the task's files holds."""
    is_there(file)
    run, output, end = crossing.run, crossing.output, part.start
    for span in _spans(run.config, file, part):
        if crossing.enough:
            return
        crossing.take(place, span)
        end = span.offset + span.length
        if output.full:
            guard.limit_memory(None)  # only pages are strangers
            output.commit()
            guard.limit_memory(run.memory)
    there = is_there(file)  # or raises where it was changed meanwhile
    if output.task.reads_all:
        output.sizes[place] = _size(run.config, file, end) if there else None


def _size(config: Config, file: InputFile, end: int) -> int | None:
    """Length of a file that was read to `end`, in its units. Another look is spared where it can but say the same."""
    return end if end == file.size else reader(config.input[file.source], file).size(file)


class _Crossing:
    """Sends a task's pages down the belt under the guard: one by one, or many where a stage takes many at once."""

    def __init__(self, task: ScanTask, run: Run, output: ScanOutput) -> None:
        self.task, self.run, self.output = task, run, output
        self.guards = guard.Accusations(Path(task.work, "guard"))
        self.accused = self.guards.of_files(task.file_numbers)
        self.together = run.belt.together and not self.guards.are_apart(task.index)
        self._clear()

    def _clear(self) -> None:
        self.spans: list[tuple[int, Span]] = []  # each with the place of its file
        self.documents = self.characters = 0  # that wait

    @property
    def enough(self) -> bool:
        """Whether a trial run has as many documents as it wants."""
        limit = self.task.limit
        return limit is not None and self.output.state["documents"] + self.documents >= limit

    def take(self, place: int, span: Span) -> None:
        """Takes a span of the task's file at `place`; its row is written now, or when enough wait."""
        span = self._settled(place, span)
        self.spans.append((place, span))
        self.documents += span.document is not None or span.drop is not None
        if span.document is not None:
            self.characters += len(span.document.html or span.document.text)
        if not self.together or len(self.spans) >= BLOCK or self.characters >= BLOCK_CHARACTERS:
            self.send()

    def _settled(self, place: int, span: Span) -> Span:
        """The span with its body decoded, which is a stranger's work as the belt is."""
        if span.settle is None or span.document is None or (place, span.offset) in self.accused:
            return span
        try:
            with self._watch(guard.Mark(place, span.offset)):
                return span.settled()
        except MemoryError:
            self._idle()
            self._accuse(guard.Mark(place, span.offset), Drop("out_of_memory", cause="while it was decoded"))
            return span

    def _accuse(self, page: guard.Mark, drop: Drop) -> None:
        self.accused[page] = drop
        self.guards.store(self.task.file_index + page.file, page.offset, drop.reason, drop.cause)

    def send(self) -> None:
        """Sends all that wait, and enters what came of them in their order."""
        spans = self.spans
        pages = {
            guard.Mark(place, span.offset): span.document
            for place, span in spans
            if span.document is not None and span.drop is None
        }
        strangers = {page: doc for page, doc in pages.items() if page not in self.accused}
        passages = self._together(strangers) if self.together else self._one_by_one(strangers)
        for page, passage in passages.items():
            if passage.stage == GUARD and passage.drop:
                self._accuse(page, passage.drop)
        passages |= {page: Passage(pages[page], GUARD, self.accused[page]) for page in pages.keys() - passages.keys()}
        self._clear()
        for place, span in spans:
            self.output.take(place, span, passages.get(guard.Mark(place, span.offset)) if span.drop is None else None)

    def _one_by_one(self, docs: dict[guard.Mark, Document]) -> dict[guard.Mark, Passage]:
        passages = {}
        for page, doc in docs.items():
            start = thread_time_ns()
            with self._watch(page):
                passages[page] = self.run.belt.run(doc)
            self.output.took(page, thread_time_ns() - start)
        return passages

    def _together(self, docs: dict[guard.Mark, Document]) -> dict[guard.Mark, Passage]:
        pages = {doc.address: page for page, doc in docs.items()}
        passages = self.run.belt.run_all([*docs.values()], lambda at: self._watch(pages[at] if at else None))
        return dict(zip(docs, passages, strict=True))

    @contextmanager
    def _watch(self, page: guard.Mark | None) -> Iterator[None]:
        """The cursor names the page (None: many), the timer is armed; the next record is not read in its time."""
        cursor, seconds = self.output.cursor, self.run.config.cpu_seconds
        cursor.set(page.offset if page else guard.TOGETHER, page.file if page else 0)
        guard.arm(seconds if page or seconds is None else seconds * len(self.spans))
        yield
        self._idle()

    def _idle(self) -> None:
        self.output.cursor.set(guard.IDLE)
        guard.arm(None)


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
