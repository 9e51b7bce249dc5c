"""A stage of one's own that does what a hostile page can do to a worker."""

import ctypes
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from curate.document import Document, Drop


@dataclass(frozen=True, kw_only=True)
class Hostile:
    """Hangs, crashes, eats memory, is killed, or raises on pages whose URL ends in the number given."""

    hang: int | None = None
    crash: int | None = None
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
        if number == self.eat:
            bytearray(1 << 45)
        if number == self.killed or (number == self.killed_once and self.strikes_again()):
            os.kill(os.getpid(), signal.SIGKILL)
        if (self.hang, self.crash, self.eat, self.killed, self.killed_once) == (None,) * 5:
            raise ValueError("no page is good enough")
        return doc

    def strikes_again(self) -> bool:
        """Counts a kill in the marker, unless there were enough."""
        with Path(self.marker).open("ab") as file:
            if file.tell() >= self.times:
                return False
            file.write(b"x")
        return True
