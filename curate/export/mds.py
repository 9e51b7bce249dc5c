"""MosaicML Streaming's shards (streaming/base/format/mds): one sample a sequence, with one column `tokens`.

A shard: u32 samples n; u32[n + 1] offsets from the file's begin; the JSON of the columns; the samples. A sample: u32
bytes of its column, then the array: one byte (dimensions << 2 | width of the sizes: 0 u8, 1 u16, 2 u32), its size, its
values. `index.json` repeats the columns and names the shards.
"""

import json
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from curate.durable import write_json
from curate.errors import UserError
from curate.export.formats import Block, Part, PartFacts
from curate.export.part_file import PartFile

MOST = (1 << 32) - 1  # bytes of a shard: its offsets are u32


class Mds:
    """A folder for each split with `shard.00000.mds`, … and `index.json`. Read by `streaming.StreamingDataset`.

    The column is `ndarray:uint16` or `ndarray:uint32`, of any length; of rows of one length the sample's size stands
    in each, too.
    """

    needs: ClassVar[Literal["tokens"]] = "tokens"

    def path(self, part: Part) -> Path:
        return part.final / part.split / f"shard.{part.number:05d}.mds"

    def open(self, part: Part) -> "MdsPart":
        return MdsPart(part, self.path(part))

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        shards = [
            {
                **columns(parts[0]),
                "raw_data": {"basename": Path(fact["file"]).name, "bytes": fact["bytes"], "hashes": {}},
                "samples": fact["sequences"],
                "zip_data": None,
            }
            for fact in facts
        ]
        write_json(parts[0].final / parts[0].split / "index.json", {"shards": shards, "version": 2})


def columns(part: Part) -> dict[str, Any]:
    """What a shard and the index say of the samples."""
    return {
        "column_encodings": [f"ndarray:{part.layout.dtype.name}"],
        "column_names": ["tokens"],
        "column_sizes": [None],
        "compression": None,
        "format": "mds",
        "hashes": [],
        "size_limit": None,
        "version": 2,
    }


class MdsPart:
    """One shard. Its offsets come first, so the samples are held until `close`: a part is bounded."""

    def __init__(self, part: Part, path: Path) -> None:
        self.part, self.path = part, path
        self.samples: list[bytes] = []
        self.tokens = 0

    def write(self, block: Block) -> None:
        start = 0
        for end in block.ends.tolist():
            self.samples.append(sample(block.tokens[start:end]))
            start = end
        self.tokens += len(block.tokens)

    def close(self) -> PartFacts:
        head = json.dumps(columns(self.part), sort_keys=True).encode()
        count = len(self.samples)
        sizes = np.fromiter((len(sample) for sample in self.samples), np.int64, count)
        offsets = np.concatenate([[0], np.cumsum(sizes)]) + 4 + 4 * (count + 1) + len(head)
        if offsets[-1] > MOST:
            raise UserError(f"mds: a shard of {offsets[-1]} bytes; the format holds 4 GiB; give a smaller part_tokens")
        file = PartFile(self.path)
        file.write(count.to_bytes(4, "little") + offsets.astype("<u4").tobytes() + head)
        for some in self.samples:
            file.write(some)
        name = f"{self.part.split}/{self.path.name}"
        return {"file": name, "bytes": file.close(), "sequences": count, "tokens": self.tokens}


def sample(tokens: np.ndarray) -> bytes:
    """One sample: its size, and the array as `ndarray` encodes it."""
    count = len(tokens)
    width = 0 if count < 1 << 8 else 1 if count < 1 << 16 else 2
    array = bytes([1 << 2 | width]) + count.to_bytes(1 << width, "little") + tokens.tobytes()
    return len(array).to_bytes(4, "little") + array
