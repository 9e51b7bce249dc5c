"""Stages of one's own that do to a process what hostile pages and broken code can do."""

import ctypes
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from curate.document import Document, Drop
from curate.stage import Sketch, Verdicts
from stages.exact_dedup import ExactDedup


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """Hangs, crashes, leaves, eats memory, is killed, or raises on pages whose URL ends in the number given."""

    hang: int | None = None
    crash: int | None = None
    leave: int | None = None  # with `status`, without a word
    status: int = 3
    interrupt: int | None = None  # raises KeyboardInterrupt
    eat: int | None = None
    killed: int | None = None  # each time
    killed_once: int | None = None  # by a stranger: only while the file `marker` has fewer bytes than `times`
    times: int = 1
    marker: str = ""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document | Drop:
        number = int(doc.url.rpartition("/")[2])
        if number == self.hang:
            while True:
                sum(range(1000))
        if number == self.crash:
            ctypes.string_at(0)
        if number == self.leave:
            os._exit(self.status)
        if number == self.interrupt:
            raise KeyboardInterrupt
        if number == self.eat:
            bytearray(1 << 45)
        if number == self.killed or (number == self.killed_once and self.strikes_again()):
            os.kill(os.getpid(), signal.SIGKILL)
        numbers = (self.hang, self.crash, self.leave, self.interrupt, self.eat, self.killed, self.killed_once)
        if numbers == (None,) * len(numbers):
            raise ValueError("no page is good enough")
        return doc

    def strikes_again(self) -> bool:
        """Counts a kill in the marker, unless there were enough."""
        with Path(self.marker).open("ab") as file:
            if file.tell() >= self.times:
                return False
            file.write(b"x")
        return True


@dataclass(frozen=True, kw_only=True)
class HostileCorpus:
    """Crashes, leaves or is interrupted in its `sketch` or its `decide`."""

    place: str  # "sketch" or "decide"
    way: str

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()
    record: ClassVar[None] = None

    def sketch(self, doc: Document) -> Sketch:
        self.act("sketch")
        return Sketch(np.array([1], np.uint64))

    def decide(self, corpus: Any) -> Iterator[Verdicts]:
        self.act("decide")
        yield from ()

    def act(self, place: str) -> None:
        if place == self.place:
            if self.way == "interrupt":
                raise KeyboardInterrupt
            os._exit(int(self.way)) if self.way.isdigit() else ctypes.string_at(0)


@dataclass(frozen=True, kw_only=True)
class OneMore(ExactDedup):
    """A corpus stage that is not ours and does its work with the corpus's executor."""
