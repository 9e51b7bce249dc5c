"""KenLM's tries: n-grams sorted by their words from the last one backwards, in as few bits as they need.

Layout: lm/trie.hh, quantize.hh and bhiksha.hh. An entry is the word, its weights (or their numbers in a table of the
quantized kinds), and where its longer n-grams begin; they end where those of the next entry begin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stages.models.backoff import F64, I64, U64
from stages.models.kenlm_file import ARRAY_TRIE, QUANTIZED_ARRAY_TRIE, QUANTIZED_TRIE, Header, MappedFile, word_hash
from stages.models.kenlm_probing import Looked, negative

UNIGRAM = np.dtype([("probability", "<f4"), ("backoff", "<f4"), ("next", "<u8")])
SIGN = np.uint32(1 << 31)
PROBABILITY_BITS, BACKOFF_BITS = 31, 32  # where they are not quantized; a probability's sign is always minus
QUANTIZED, ARRAY = (QUANTIZED_TRIE, QUANTIZED_ARRAY_TRIE), (ARRAY_TRIE, QUANTIZED_ARRAY_TRIE)


class BitArray:
    """Numbers of up to 57 bits at any place of a mapped file."""

    def __init__(self, content: MappedFile, size: int) -> None:
        first = content.array(np.uint8, size)
        self.size = size
        self._words = np.ndarray((max(size - 7, 0),), "<u8", first, strides=(1,))

    def read(self, at: U64, bits: int) -> U64:
        """The numbers of so many bits that begin at these bits."""
        found: U64 = self._words[at >> np.uint64(3)] >> (at & np.uint64(7))
        return found & np.uint64((1 << bits) - 1)


@dataclass(frozen=True)
class Bins:
    """The tables of the quantized kinds for one size of n-grams; None where weights are stored whole."""

    probability: npt.NDArray[np.float32] | None
    backoff: npt.NDArray[np.float32] | None


def _floats(found: U64) -> npt.NDArray[np.float32]:
    return found.astype(np.uint32).view(np.float32)


class Pointers:
    """Where the longer n-grams of an entry begin: whole in the entry, or its upper bits in an array (Raj 2003)."""

    def __init__(self, content: MappedFile, entries: int, most: int, array: bool) -> None:
        required = most.bit_length()
        self.bits, self.uppers = required, None
        if array:
            start = content.at
            version, bits = content.array(np.uint8, 2).tolist()
            if version != 0:
                raise ValueError("it has pointers of a version that is not read here; build it anew")
            chop = _chopped(entries + 1, most, required, bits)
            count = (most >> (required - chop)) + 1
            content.at = start + -start % 8 + 8
            self.bits, self.uppers = required - chop, content.array("<u8", count)
            content.at = start  # the size in the file is as if it lay at the worst place
            content.skip(8 * (1 + count) + 7)

    def read(self, packed: BitArray, at: U64, index: U64) -> U64:
        """The pointers of the entries `index`, whose bits lie at `at`."""
        lower = packed.read(at, self.bits)
        if self.uppers is None:
            return lower
        upper = np.searchsorted(self.uppers, index, "right") - 1
        return (upper.astype(np.uint64) << np.uint64(self.bits)) | lower


def _chopped(offsets: int, most: int, required: int, allowed: int) -> int:
    """How many upper bits the writer moved into the array: as many as make the whole smallest."""
    costs = [(most >> (required - chop)) * 64 - offsets * chop for chop in range(min(required, allowed) + 1)]
    return costs.index(min(costs))


class Level:
    """All n-grams of one size. `pointers` is None for the longest."""

    def __init__(self, content: MappedFile, bins: Bins, entries: int, words: int, pointers: Pointers | None) -> None:
        self.bins, self.entries, self.pointers = bins, entries, pointers
        self.word_bits = words.bit_length()
        quantized = bins.probability is not None
        self.probability_bits = _bits(bins.probability) if quantized else PROBABILITY_BITS
        backoff_bits = _bits(bins.backoff) if quantized else BACKOFF_BITS
        self.backoff_bits = backoff_bits if pointers else 0
        self.weight_bits = self.probability_bits + self.backoff_bits
        self.total = self.word_bits + self.weight_bits + (pointers.bits if pointers else 0)
        self.packed = BitArray(content, ((1 + entries) * self.total + 7) // 8 + 8)

    def find(self, words: U64, begin: U64, end: U64) -> I64:
        """Where the words stand among the entries begin ... end - 1, which are sorted; -1 for those that don't."""
        low, high = begin.astype(np.int64), np.minimum(end, np.uint64(self.entries)).astype(np.int64)
        last = high.copy()
        while (open_ := low < high).any():
            middle = (low + high) >> 1
            met = self.packed.read(np.where(open_, middle, 0).astype(np.uint64) * np.uint64(self.total), self.word_bits)
            less = open_ & (met < words)
            low = np.where(less, middle + 1, low)
            high = np.where(open_ & ~less, middle, high)
        inside = low < last
        met = self.packed.read(np.where(inside, low, 0).astype(np.uint64) * np.uint64(self.total), self.word_bits)
        return np.where(inside & (met == words), low, -1)

    def weights(self, index: U64) -> tuple[F64, F64]:
        """log10 probabilities and back-offs of entries."""
        at = index * np.uint64(self.total) + np.uint64(self.word_bits)
        if self.bins.probability is None:
            probability = _floats(self.packed.read(at, PROBABILITY_BITS))
            if not self.pointers:
                return negative(probability), np.zeros(len(at))
            return negative(probability), _floats(self.packed.read(at + np.uint64(31), 32)).astype(float)
        number = self.packed.read(at + np.uint64(self.backoff_bits), self.probability_bits)
        probability = self.bins.probability[number.astype(np.int64)]
        if self.bins.backoff is None or not self.pointers:
            return negative(probability), np.zeros(len(at))
        backoff = self.bins.backoff[self.packed.read(at, self.backoff_bits).astype(np.int64)]
        return negative(probability), backoff.astype(float)

    def nexts(self, index: U64) -> tuple[U64, U64]:
        """Where the longer n-grams of entries begin and end."""
        if self.pointers is None:
            return index, index
        at = index * np.uint64(self.total) + np.uint64(self.word_bits + self.weight_bits)
        one = np.uint64(1)
        begin = self.pointers.read(self.packed, at, index)
        return begin, self.pointers.read(self.packed, at + np.uint64(self.total), index + one)


def _bits(bins: npt.NDArray[Any] | None) -> int:
    return 0 if bins is None else len(bins).bit_length() - 1


class Trie:
    """The n-grams of a trie as the file has them. A node is the place of its entry."""

    def __init__(self, header: Header, content: MappedFile) -> None:
        counts = header.counts
        self.order = len(counts)
        known = int(content.array("<u8", 1)[0])
        self._words = content.array("<u8", counts[0])[:known]
        bins = _all_bins(content, self.order) if header.kind in QUANTIZED else [Bins(None, None)] * (self.order - 1)
        self._unigrams = content.array(UNIGRAM, counts[0] + 2)
        self._levels = []
        for size, some in enumerate(bins, 2):
            longest = size == self.order
            entries = counts[size - 1]
            pointers = None if longest else Pointers(content, entries, counts[size], header.kind in ARRAY)
            self._levels.append(Level(content, some, entries, counts[0], pointers))

    def ids(self, words: Sequence[str]) -> I64:
        hashes = np.fromiter(map(word_hash, words), np.uint64, len(words))
        place = np.searchsorted(self._words, hashes)
        inside = np.minimum(place, max(len(self._words) - 1, 0))
        there = (place < len(self._words)) & (self._words[inside] == hashes) if len(self._words) else place < 0
        return np.where(there, place + 1, 0)

    def unigrams(self, ids: I64) -> Looked:
        found = self._unigrams[ids]
        there = np.ones(len(ids), np.bool_)
        return Looked(there, negative(found["probability"]), found["backoff"].astype(float), ids.astype(np.uint64))

    def longer(self, size: int, nodes: U64, before: I64) -> Looked:
        level = self._levels[size - 2]
        if size == 2:
            at = nodes.astype(np.int64)
            begin, end = self._unigrams["next"][at], self._unigrams["next"][at + 1]
        else:
            begin, end = self._levels[size - 3].nexts(nodes)
        places = level.find(before.astype(np.uint64), begin, end)
        there = places >= 0
        index = places[there].astype(np.uint64)
        probability, backoff = level.weights(index)
        return Looked(there, probability, backoff, index)


def _all_bins(content: MappedFile, order: int) -> list[Bins]:
    """The tables of weights for the n-grams of 2 ... `order` words."""
    version, probability_bits, backoff_bits = content.array(np.uint8, 8)[:3].tolist()
    if version != 2 or not (1 <= probability_bits <= 25 and 1 <= backoff_bits <= 25):
        raise ValueError("it has quantized weights of a version that is not read here; build it anew")
    found = []
    for _ in range(order - 2):
        probability = content.array("<f4", 1 << probability_bits)
        found.append(Bins(probability, content.array("<f4", 1 << backoff_bits)))
    return [*found, Bins(content.array("<f4", 1 << probability_bits), None)]
