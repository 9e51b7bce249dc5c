"""Near duplicates in plain words, as the primer that this project implements states them (1f): the reference.

Nothing of a run uses it: `near_dedup` does the same by arrays with other hash functions, and tests hold it to this.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import xxhash


def shingles(text: str, k: int = 5) -> set[str]:
    """The windows of k words of a text; a text of fewer words is one window, an empty text has none."""
    words = text.split()
    return {" ".join(words[start : start + k]) for start in range(max(1, len(words) - k + 1))} if words else set()


MERSENNE = (1 << 61) - 1


@dataclass(frozen=True)
class MinHasher:
    """`permutations` hash functions (a x + b) mod p, p = 2^61 - 1, drawn from a seed."""

    permutations: int = 128
    seed: int = 1
    functions: tuple[tuple[int, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        draw = np.random.RandomState(self.seed)
        a = draw.randint(1, MERSENNE, self.permutations, dtype=np.uint64).tolist()
        b = draw.randint(0, MERSENNE, self.permutations, dtype=np.uint64).tolist()
        object.__setattr__(self, "functions", tuple(zip(a, b)))

    def signature(self, items: Set[str]) -> tuple[int, ...]:
        """The minimum of each function over the items' xxh3-64 hashes; p where there are none."""
        values = [xxhash.xxh3_64_intdigest(item.encode("utf-8", "surrogatepass")) for item in items]
        return tuple(min(((a * x + b) % MERSENNE for x in values), default=MERSENNE) for a, b in self.functions)


def estimate_jaccard(a: Sequence[int], b: Sequence[int]) -> float:
    """Share of slots in which two signatures agree; its standard error is sqrt(J (1 - J) / slots)."""
    if len(a) != len(b):
        raise ValueError(f"signatures of {len(a)} and {len(b)} slots can't be compared")
    return sum(x == y for x, y in zip(a, b)) / len(a)


def near_duplicate_pairs(
    documents: Sequence[str],
    threshold: float = 0.8,
    k: int = 5,
    bands: int = 25,
    rows: int = 5,
    seed: int = 1,
) -> list[tuple[int, int, float]]:
    """Near duplicates (i, j, estimated similarity), i < j: signatures, buckets, candidate pairs, check."""
    hasher = MinHasher(bands * rows, seed)
    sets = [shingles(document, k) for document in documents]
    signatures = [hasher.signature(items) for items in sets]
    buckets: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for number, signature in enumerate(signatures):
        for band in range(bands if sets[number] else 0):
            buckets.setdefault((band, signature[band * rows : (band + 1) * rows]), []).append(number)
    candidates = {pair for holders in buckets.values() for pair in combinations(holders, 2)}
    checked = [(i, j, estimate_jaccard(signatures[i], signatures[j])) for i, j in sorted(candidates)]
    return [(i, j, score) for i, j, score in checked if score >= threshold]
