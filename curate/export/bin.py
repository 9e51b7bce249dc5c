"""The flat file: bare tokens, nothing else, as nanoGPT and its kin map it into memory."""

from pathlib import Path
from typing import ClassVar, Literal

from curate.export.formats import Block, Part, PartFacts
from curate.export.part_file import PartFile, join

NAMES = {"train": "train.bin", "validation": "val.bin"}  # as nanoGPT's train.py looks for them


class Bin:
    """`train.bin` and `val.bin`: uint16 or uint32, one document after the other. Read by `numpy.memmap`."""

    needs: ClassVar[Literal["tokens"]] = "tokens"

    def path(self, part: Part) -> Path:
        return part.work / f"{part.split}-{part.number:05d}.tokens"

    def open(self, part: Part) -> "BinPart":
        return BinPart(self.path(part), NAMES[part.split])

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        join(parts[0].final / NAMES[parts[0].split], (self.path(part) for part in parts))


class BinPart:
    """The tokens of one part."""

    def __init__(self, path: Path, name: str) -> None:
        self.file, self.name = PartFile(path), name
        self.sequences = self.tokens = 0

    def write(self, block: Block) -> None:
        self.file.write(block.tokens.data)
        self.sequences += len(block.ends)
        self.tokens += len(block.tokens)

    def close(self) -> PartFacts:
        return {"file": self.name, "bytes": self.file.close(), "sequences": self.sequences, "tokens": self.tokens}
