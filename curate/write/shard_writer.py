"""What a writer of shards must offer. Opening is making one: of a temporary path, the schema, and the config's `write`.

How rows are cut into pieces must change nothing of the file's bytes: a writer that groups rows groups them itself.
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import pyarrow as pa

from curate.config.file import Write


class FileFacts(NamedTuple):
    """What a finished file came to."""

    rows: int  # as the file itself tells
    bytes: int
    sha256: str


class ShardWriter(Protocol):
    """One shard on its way to the disk; leaving the `with` block without `close` gives it up."""

    def write(self, rows: pa.Table) -> None: ...

    def close(self) -> FileFacts: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


Opener = Callable[[Path, pa.Schema, Write], ShardWriter]
