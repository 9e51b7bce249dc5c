"""Megatron's indexed dataset: `.bin` of bare tokens, `.idx` that says where each sequence lies.

Layout of the index (megatron/core/datasets/indexed_dataset.py, all little-endian): 9 bytes `MMIDIDX`, two zeros; u64
version 1; u8 code of the token type; u64 sequences; u64 entries of the document index; i32 lengths in tokens; i64
offsets in bytes; i64 the first sequence of each document, and at the end the number of sequences.
"""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from curate.durable import atomic
from curate.errors import UserError
from curate.export.formats import Block, Part, PartFacts
from curate.export.part_file import PartFile, join

MAGIC = b"MMIDIDX\x00\x00"
VERSION = 1
CODES = {"uint16": 8, "int32": 4}
MOST = (1 << 31) - 1  # tokens of a sequence: its length is an i32
AT_ONCE = 1 << 20  # sequences of the index written at once


class Megatron:
    """`train.bin` with `train.idx`, and the same of `validation`: prefixes for `--data-path`.

    Each document is one sequence (each row, where rows are packed). Tokens are uint16 or, as Megatron has no uint32,
    int32.
    """

    needs: ClassVar[Literal["tokens"]] = "tokens"

    def path(self, part: Part) -> Path:
        return part.work / f"{part.split}-{part.number:05d}.tokens"

    def open(self, part: Part) -> "MegatronPart":
        return MegatronPart(part, self.path(part))

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        first = parts[0]
        join(first.final / f"{first.split}.bin", (self.path(part) for part in parts))
        sequences = sum(fact["sequences"] for fact in facts)
        with atomic(first.final / f"{first.split}.idx") as temporary, temporary.open("wb") as file:
            file.write(MAGIC)
            code = CODES[stored(first.layout.dtype).name]
            file.write(struct.pack("<QBQQ", VERSION, code, sequences, sequences + 1))
            for lengths in _lengths(parts):
                file.write(lengths.tobytes())
            for offsets in _offsets(_lengths(parts), first.layout.dtype.itemsize):
                file.write(offsets.tobytes())
            for begin in range(0, sequences + 1, AT_ONCE):
                file.write(np.arange(begin, min(begin + AT_ONCE, sequences + 1), dtype="<i8").tobytes())


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type that Megatron's index can name: int32 for uint32, whose upper half no vocabulary reaches."""
    return np.dtype("<i4") if dtype.itemsize == 4 else np.dtype("<u2")


def lengths_path(part: Part) -> Path:
    """Where a part leaves the lengths of its sequences for the index."""
    return part.work / f"{part.split}-{part.number:05d}.lengths"


def _lengths(parts: Iterable[Part]) -> Iterator[npt.NDArray[np.int32]]:
    for part in parts:
        yield np.fromfile(lengths_path(part), "<i4")


def _offsets(lengths: Iterable[npt.NDArray[np.int32]], itemsize: int) -> Iterator[npt.NDArray[np.int64]]:
    start = 0
    for some in lengths:
        ends = start + np.cumsum(some, dtype=np.int64) * itemsize
        yield np.concatenate([[start], ends])[:-1].astype("<i8")
        start = int(ends[-1]) if len(ends) else start


class MegatronPart:
    """The tokens of one part, and beside them the lengths of its sequences."""

    def __init__(self, part: Part, path: Path) -> None:
        self.file, self.lengths = PartFile(path), PartFile(lengths_path(part))
        self.name = f"{part.split}.bin"
        self.dtype = stored(part.layout.dtype)
        self.sequences = self.tokens = 0

    def write(self, block: Block) -> None:
        lengths = np.diff(block.ends, prepend=0)
        if len(lengths) and lengths.max() > MOST:
            raise UserError(f"megatron: a document of {lengths.max()} tokens; the format holds up to {MOST}")
        self.file.write(block.tokens.astype(self.dtype, copy=False).data)
        self.lengths.write(lengths.astype("<i4").data)
        self.sequences += len(lengths)
        self.tokens += len(block.tokens)

    def close(self) -> PartFacts:
        self.lengths.close()
        return {"file": self.name, "bytes": self.file.close(), "sequences": self.sequences, "tokens": self.tokens}
