"""A cache of a stage's own results, bounded in bytes: a payload met twice is worked on once."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

OVERHEAD_BYTES = 200  # key, entry and string headers


class Extracted(NamedTuple):
    """A page's main text, and how sure its extractor is of it, 0 to 1 (None where it does not say)."""

    text: str
    confidence: float | None


@dataclass
class Memo:
    """Least recently used results by key, `limit` bytes at most."""

    limit: int
    size: int = 0
    results: OrderedDict[bytes, Extracted] = field(default_factory=OrderedDict)

    def get(self, key: bytes) -> Extracted | None:
        """The result kept under the key, or None."""
        found = self.results.get(key)
        if found is not None:
            self.results.move_to_end(key)
        return found

    def put(self, key: bytes, found: Extracted) -> None:
        """Keeps the result; those not used for longest go. One too large for the whole cache isn't kept."""
        cost = _cost(found.text)
        if cost > self.limit or key in self.results:
            return
        self.results[key] = found
        self.size += cost
        while self.size > self.limit:
            _, oldest = self.results.popitem(last=False)
            self.size -= _cost(oldest.text)


def _cost(text: str) -> int:
    return OVERHEAD_BYTES + len(text) * (1 if text.isascii() else 4)
