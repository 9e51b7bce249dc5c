"""Scan: one task reads one slice of one source file, sends its documents down the belt and spills what came of it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curate.belt import Passage
from curate.config.file import Config
from curate.document import Address, Document, Drop
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
        if not done.exists():
            _scan(task)
        result: ScanResult = json.loads(done.read_text())
        return result


def _scan(task: ScanTask) -> None:
    run = load_run(task.work)
    file = run.files[task.file_index]
    is_there(file)
    output = ScanOutput(task, run)
    crossing = _Crossing(task, run, output)
    with guard.strangers(run.memory):
        for span in _spans(run.config, file, output.rest()):
            if task.limit is not None and output.state["documents"] + crossing.documents >= task.limit:
                break
            crossing.take(span)
            if output.full:
                guard.limit_memory(None)  # only pages are strangers
                output.commit()
                guard.limit_memory(run.memory)
        crossing.send()
    is_there(file)  # or raises where it was changed meanwhile
    output.finish(run.belt)


class _Crossing:
    """Sends a task's pages down the belt under the guard: one by one, or many where a stage takes many at once."""

    def __init__(self, task: ScanTask, run: Run, output: ScanOutput) -> None:
        self.run, self.output, self.file_index = run, output, task.file_index
        self.guards = guard.Accusations(Path(task.work, "guard"))
        self.accused = self.guards.of_file(task.file_index)
        self.together = run.belt.together and not self.guards.are_apart(task.index)
        self._clear()

    def _clear(self) -> None:
        self.spans: list[Span] = []
        self.documents = self.characters = 0  # that wait

    def take(self, span: Span) -> None:
        """Takes a span; its row is written now, or when enough wait."""
        span = self._settled(span)
        self.spans.append(span)
        self.documents += span.document is not None or span.drop is not None
        if span.document is not None:
            self.characters += len(span.document.html or span.document.text)
        if not self.together or len(self.spans) >= BLOCK or self.characters >= BLOCK_CHARACTERS:
            self.send()

    def _settled(self, span: Span) -> Span:
        """The span with its body decoded, which is a stranger's work as the belt is."""
        if span.settle is None or span.document is None or span.offset in self.accused:
            return span
        try:
            with self._watch(span.document.address):
                return span.settled()
        except MemoryError:
            self._idle()
            self.accused[span.offset] = drop = Drop("out_of_memory", cause="while it was decoded")
            self.guards.store(self.file_index, span.offset, drop.reason, drop.cause)
            return span

    def send(self) -> None:
        """Sends all that wait, and enters what came of them in their order."""
        spans, belt = self.spans, self.run.belt
        docs = [span.document for span in spans if span.document is not None and span.drop is None]
        strangers = [doc for doc in docs if doc.address.offset not in self.accused]
        passed = belt.run_all(strangers, self._watch) if self.together else map(self._alone, strangers)
        passages = {passage.doc.address.offset: passage for passage in passed}
        for doc in docs:
            offset = doc.address.offset
            if offset in self.accused:
                passages[offset] = Passage(doc, GUARD, self.accused[offset])
            elif (drop := passages[offset].drop) and passages[offset].stage == GUARD:
                self.guards.store(self.file_index, offset, drop.reason, drop.cause)
        self._clear()
        for span in spans:
            self.output.take(span, passages.get(span.offset) if span.drop is None else None)

    def _alone(self, doc: Document) -> Passage:
        with self._watch(doc.address):
            return self.run.belt.run(doc)

    @contextmanager
    def _watch(self, address: Address | None) -> Iterator[None]:
        """The cursor names the page, the timer is armed; reading the next record is not this page's time."""
        cursor, seconds = self.output.cursor, self.run.config.cpu_seconds
        cursor.set(guard.TOGETHER if address is None else address.offset)
        guard.arm(seconds if address is not None or seconds is None else seconds * len(self.spans))
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
