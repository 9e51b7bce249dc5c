"""A stage of one's own that lets some pages wait until the test opens the gate."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from curate.document import Document, Drop

PATIENCE_SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Gate:
    """On pages whose URL ends in /`page`: says in `folder` that it waits, until the file `open` lies there."""

    folder: str
    page: int

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ()

    def apply(self, doc: Document) -> Document | Drop:
        if doc.url.endswith(f"/{self.page}"):
            Path(self.folder, f"waits-{os.getpid()}").touch()
            for _ in range(10 * PATIENCE_SECONDS):
                if Path(self.folder, "open").exists():
                    break
                time.sleep(0.1)
        return doc
