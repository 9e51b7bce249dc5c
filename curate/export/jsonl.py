"""JSON Lines: one document a line, as text or as tokens; read by everything."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

from curate.export.formats import Block, Part, PartFacts
from curate.export.part_file import PartFile


class Jsonl:
    """`train-00000.jsonl`, …: `id`, `url` and `text`, or with a tokenizer `tokens`; a packed row has `tokens` alone.

    Read by `datasets.load_dataset("json", data_files=…)` and by Megatron's `preprocess_data.py`.
    """

    needs: ClassVar[Literal["any"]] = "any"

    def path(self, part: Part) -> Path:
        return part.final / f"{part.split}-{part.number:05d}.jsonl"

    def open(self, part: Part) -> "JsonlPart":
        return JsonlPart(part, self.path(part))

    def finish(self, parts: list[Part], facts: list[PartFacts]) -> None:
        """Nothing to join: each file is whole by itself."""


class JsonlPart:
    """One file of lines."""

    def __init__(self, part: Part, path: Path) -> None:
        self.part, self.path, self.file = part, path, PartFile(path)
        self.sequences = self.tokens = 0

    def write(self, block: Block) -> None:
        for row in self._rows(block):
            self.file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.sequences += len(block.ends)
        self.tokens += len(block.tokens)

    def _rows(self, block: Block) -> Iterator[dict[str, Any]]:
        about = [{}] * len(block.ends) if block.documents is None else block.documents.to_pylist()
        start = 0
        for row, end in zip(about, block.ends.tolist(), strict=True):
            some = block.tokens[start:end]
            yield {**row, **({"text": some.tobytes().decode()} if self.part.layout.text else {"tokens": some.tolist()})}
            start = end

    def close(self) -> PartFacts:
        size = self.file.close()
        return {"file": self.path.name, "bytes": size, "sequences": self.sequences, "tokens": self.tokens}
