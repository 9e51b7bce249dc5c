"""A cache of a stage's own results, bounded in bytes: a payload met twice is worked on once."""

from collections import OrderedDict
from dataclasses import dataclass, field

OVERHEAD_BYTES = 200  # key, entry and string headers


@dataclass
class Memo:
    """Least recently used texts by key, `limit` bytes at most."""

    limit: int
    size: int = 0
    texts: OrderedDict[bytes, str] = field(default_factory=OrderedDict)

    def get(self, key: bytes) -> str | None:
        """The text kept under the key, or None."""
        text = self.texts.get(key)
        if text is not None:
            self.texts.move_to_end(key)
        return text

    def put(self, key: bytes, text: str) -> None:
        """Keeps the text; the texts not used for longest go. One too large for the whole cache isn't kept."""
        cost = _cost(text)
        if cost > self.limit or key in self.texts:
            return
        self.texts[key] = text
        self.size += cost
        while self.size > self.limit:
            _, oldest = self.texts.popitem(last=False)
            self.size -= _cost(oldest)


def _cost(text: str) -> int:
    return OVERHEAD_BYTES + len(text) * (1 if text.isascii() else 4)
