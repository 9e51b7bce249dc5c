"""The file of one part: written under a temporary name, renamed when closed; and parts joined into one file."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from curate.durable import atomic


class PartFile:
    """Bytes go to a hidden name beside the target until `close`."""

    def __init__(self, target: Path) -> None:
        self.target = target
        target.parent.mkdir(parents=True, exist_ok=True)
        self.temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        self.file = self.temporary.open("wb")

    def write(self, data: bytes | memoryview) -> None:
        self.file.write(data)

    def close(self) -> int:
        """Renames the file to its target; returns its bytes."""
        size = self.file.tell()
        self.file.close()
        self.temporary.replace(self.target)
        return size


def join(target: Path, parts: Iterable[Path]) -> None:
    """One file out of others, in order; the same again where it is there already."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic(target) as temporary, temporary.open("wb") as out:
        for path in parts:
            with path.open("rb") as file:
                shutil.copyfileobj(file, out, 1 << 22)
