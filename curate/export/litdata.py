"""LitData's chunks for its TokensLoader (litdata/streaming/writer.py): rows of one length.

A chunk: u32 items n; u32[n + 1] offsets; the items. The loader knows no document borders and reads blocks of one length
from the begin of each chunk; what is left of a chunk below one block it never reads. So chunks hold whole rows.
"""

from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from curate.durable import write_json
from curate.errors import UserError
from curate.export.formats import Block, Part, PartFacts
from curate.export.part_file import PartFile

CODES = {"uint16": 20, "int32": 15, "uint32": 15}  # torch types in litdata/constants.py; it has no uint32
MOST = (1 << 32) - 1  # bytes of a chunk: its offsets are u32


class Litdata:
    """A folder for each split with `chunk-0-0.bin`, … and `index.json`.

    Read by `litdata.StreamingDataset(folder, item_loader=litdata.TokensLoader(block_size=LENGTH))`.
    """

    needs: ClassVar[Literal["rows"]] = "rows"

    def path(self, part: Part) -> Path:
        return part.final / part.split / f"chunk-0-{part.number}.bin"

    def open(self, part: Part) -> "LitdataPart":
        return LitdataPart(part, self.path(part))

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        layout, folder = parts[0].layout, parts[0].final / parts[0].split
        chunks = [
            {
                "chunk_bytes": fact["bytes"],
                "chunk_size": fact["sequences"],
                "dim": fact["tokens"],
                "filename": Path(fact["file"]).name,
            }
            for fact in facts
        ]
        config = {
            "chunk_bytes": max(fact["bytes"] for fact in facts),
            "chunk_size": None,
            "compression": None,
            "data_format": [f"no_header_tensor:{CODES[layout.dtype.name]}"],
            "data_spec": None,
            "encryption": None,
            "item_loader": "TokensLoader",
        }
        # The time is that of no clock: equal exports have equal bytes.
        write_json(folder / "index.json", {"chunks": chunks, "config": config, "updated_at": "0"})


class LitdataPart:
    """One chunk, whose offsets come first: rows are held until `close`, a part is bounded."""

    def __init__(self, part: Part, path: Path) -> None:
        self.part, self.path = part, path
        self.blocks: list[np.ndarray] = []

    def write(self, block: Block) -> None:
        self.blocks.append(block.tokens)

    def close(self) -> PartFacts:
        length = self.part.layout.length or 1
        tokens = sum(len(block) for block in self.blocks)
        rows = tokens // length
        offsets = np.arange(rows + 1, dtype=np.int64) * length * self.part.layout.dtype.itemsize + 4 * (rows + 2)
        if offsets[-1] > MOST:
            raise UserError(
                f"litdata: a chunk of {offsets[-1]} bytes; the format holds 4 GiB; give a smaller part_tokens"
            )
        file = PartFile(self.path)
        file.write(rows.to_bytes(4, "little") + offsets.astype("<u4").tobytes())
        for block in self.blocks:
            file.write(block.data)
        name = f"{self.part.split}/{self.path.name}"
        return {"file": name, "bytes": file.close(), "sequences": rows, "tokens": tokens}
