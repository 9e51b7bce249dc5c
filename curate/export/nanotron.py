"""datatrove's tokenised files, which nanotron reads: `.ds` bare tokens, `.ds.index` document ends, `.ds.metadata`.

The index is u64 running ends in tokens, without a count and without a leading 0; the metadata three lines of text:
tokenizer and bytes of a token, tokens, tokens for people (datatrove/pipeline/tokens/tokenizer.py).
"""

from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from curate.durable import atomic
from curate.export.formats import Block, Part, PartFacts
from curate.export.part_file import PartFile


class Nanotron:
    """A folder for each split with `00000_train.ds`, its `.index` and its `.metadata`, and so on.

    Read by `datatrove.utils.dataset.DatatroveFolderDataset(folder, seq_len, filename_pattern="*.ds", token_size=…)`.
    """

    needs: ClassVar[Literal["tokens"]] = "tokens"

    def path(self, part: Part) -> Path:
        return part.final / part.split / f"{part.number:05d}_{part.split}.ds"

    def open(self, part: Part) -> "NanotronPart":
        return NanotronPart(part, self.path(part))

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        """Nothing to join: each file is whole by itself."""


class NanotronPart:
    """One `.ds` file; it is renamed after its index and metadata, so that a reader finds all three."""

    def __init__(self, part: Part, path: Path) -> None:
        self.part, self.path = part, path
        self.file, self.index = PartFile(path), PartFile(path.with_name(f"{path.name}.index"))
        self.sequences = self.tokens = 0

    def write(self, block: Block) -> None:
        self.file.write(block.tokens.data)
        self.index.write((block.ends + self.tokens).astype("<u8").data)
        self.sequences += len(block.ends)
        self.tokens += len(block.tokens)

    def close(self) -> PartFacts:
        self.index.close()
        layout = self.part.layout
        about = [f"{layout.tokenizer}|{layout.dtype.itemsize}", str(self.tokens), _for_people(self.tokens)]
        with atomic(self.path.with_name(f"{self.path.name}.metadata")) as temporary:
            temporary.write_text("\n".join(about))
        name = f"{self.part.split}/{self.path.name}"
        return {"file": name, "bytes": self.file.close(), "sequences": self.sequences, "tokens": self.tokens}


def _for_people(count: int) -> str:
    """A count with three digits and its power of 1,000: `12.3 MT`."""
    value, power = float(count), 0
    while value >= 999.5 and power < 5:
        value, power = value / 1000, power + 1
    return f"{np.format_float_positional(value, 3, fractional=False, trim='-')} {['', 'k', 'M', 'G', 'T', 'P'][power]}T"
