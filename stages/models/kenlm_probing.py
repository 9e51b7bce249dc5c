"""KenLM's probing models: one hash table of n-grams for each size (lm/search_hashed.hh, util/probing_hash_table.hh)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stages.models.backoff import F64, I64, U64
from stages.models.kenlm_file import REST_PROBING, Header, MappedFile, word_hash

VOCABULARY = np.dtype([("key", "<u8"), ("value", "<u4")])  # packed: 12 bytes
LONGEST = np.dtype([("key", "<u8"), ("probability", "<f4")])
_NODE, _WORD = np.uint64(8978948897894561157), np.uint64(17894857484156487943)  # odd, KenLM's


@dataclass(frozen=True)
class Looked:
    """N-grams looked up, see `stages.models.backoff.Found`."""

    there: npt.NDArray[np.bool_]
    probability: F64
    backoff: F64
    nodes: U64


def negative(probability: npt.NDArray[Any]) -> F64:
    """log10 probabilities without the sign, in which the files say whether longer n-grams end in this one."""
    return -np.abs(probability.astype(np.float64))


class Probing:
    """The n-grams of a probing model as the file has them."""

    def __init__(self, header: Header, content: MappedFile) -> None:
        counts, rest = header.counts, header.kind == REST_PROBING
        self.order = len(counts)
        weights = [("probability", "<f4"), ("backoff", "<f4"), *([("rest", "<f4")] if rest else [])]
        middle = np.dtype([("key", "<u8"), *weights])
        content.skip(8)  # version and number of words
        self._words = content.array(VOCABULARY, _buckets(counts[0], header.multiplier))
        self._unigrams = content.array(np.dtype(weights), counts[0] + 1)
        self._longer = [content.array(middle, _buckets(count, header.multiplier)) for count in counts[1:-1]]
        self._longer.append(content.array(LONGEST, _buckets(counts[-1], header.multiplier)))

    def ids(self, words: Sequence[str]) -> I64:
        hashes = np.fromiter(map(word_hash, words), np.uint64, len(words))
        places = _find(self._words, hashes)
        there = places >= 0
        found = np.zeros(len(words), np.int64)
        found[there] = self._words["value"][places[there]]
        return np.where(found < len(self._unigrams), found, 0)

    def unigrams(self, ids: I64) -> Looked:
        found = self._unigrams[ids]
        there = np.ones(len(ids), np.bool_)
        return Looked(there, negative(found["probability"]), found["backoff"].astype(float), ids.astype(np.uint64))

    def longer(self, size: int, nodes: U64, before: I64) -> Looked:
        table = self._longer[size - 2]
        keys = nodes * _NODE ^ (before.astype(np.uint64) + np.uint64(1)) * _WORD
        places = _find(table, keys)
        there = places >= 0
        found = table[places[there]]
        backoff = found["backoff"].astype(float) if size < self.order else np.zeros(len(found))
        return Looked(there, negative(found["probability"]), backoff, keys[there])


def _buckets(entries: int, multiplier: float) -> int:
    """How many places a table has; the product is taken in single precision, as the file's writer does."""
    return max(entries + 1, int(np.float32(multiplier) * np.float32(entries)))


def _find(table: npt.NDArray[Any], keys: U64) -> I64:
    """Where the keys stand in a table, -1 for those that don't: from the ideal place on, up to an empty one (key 0)."""
    stored = table["key"]
    place = (keys % np.uint64(len(table))).astype(np.int64)
    found = np.full(len(keys), -1, np.int64)
    seeking = np.arange(len(keys))
    for _ in range(len(table)):
        met = stored[place[seeking]]
        hit = met == keys[seeking]
        found[seeking[hit]] = place[seeking[hit]]
        seeking = seeking[~hit & (met != 0)]
        if not len(seeking):
            break
        place[seeking] += 1
        place[seeking] %= len(table)
    return found
