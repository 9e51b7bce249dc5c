"""A reproducible sample of what was dropped: the texts with the smallest hashes of seed and address."""

import heapq
from pathlib import Path
from typing import Any

import xxhash

from curate.scan.spill import batches

SAMPLE_CHARACTERS = 100_000


class Samples:
    """Per stage and reason the `most` dropped texts with the smallest hash(seed, address)."""

    def __init__(self, most: int, seed: int) -> None:
        self.most, self.seed = most, seed
        self.heaps: dict[tuple[str, str], list[int]] = {}

    def hash(self, source: str, file: str, offset: int) -> int:
        return xxhash.xxh3_64_intdigest(f"{source}\0{file}\0{offset}".encode(), seed=self.seed & (2**64 - 1))

    def offer(self, row: dict[str, Any], text: str) -> dict[str, Any] | None:
        """The sample row, if the text is among the smallest so far."""
        value = self.hash(row["source"], row["file_path"], row["offset"])
        if not self._admit((row["stage"], row["reason"]), value):
            return None
        return {
            "hash": value,
            "text": text[:SAMPLE_CHARACTERS],
            **{
                name: row.get(name)
                for name in ("stage", "reason", "source", "file_path", "offset", "url", "value", "limit")
            },
        }

    def _admit(self, key: tuple[str, str], value: int) -> bool:
        heap = self.heaps.setdefault(key, [])
        if len(heap) < self.most:
            heapq.heappush(heap, -value)
            return True
        if not heap or value >= -heap[0]:
            return False
        heapq.heapreplace(heap, -value)
        return True

    def restore(self, path: Path) -> None:
        for batch in batches(path):
            for row in batch.select(["stage", "reason", "hash"]).to_pylist():
                self._admit((row["stage"], row["reason"]), row["hash"])
