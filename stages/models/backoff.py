"""Scores of sentences under an n-gram model with back-off, all words of a text at once (Katz 1987; Heafield 2011).

log p(w | context) is the probability of the longest n-gram of the model that ends in w, and the back-off weights of the
contexts that were too long for it. Whatever holds the n-grams is `Tables`.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]
F64 = npt.NDArray[np.float64]

UNKNOWN = 0  # the word id of <unk>
BEGIN, END = "<s>", "</s>"


class KnownGrams(Protocol):
    """N-grams looked up: which are there, and what the model says of those (parallel arrays of them alone)."""

    @property
    def there(self) -> npt.NDArray[np.bool_]: ...
    @property
    def probability(self) -> F64: ...  # log10
    @property
    def backoff(self) -> F64: ...  # log10; zeros for the longest n-grams
    @property
    def nodes(self) -> npt.NDArray[np.uint64]: ...  # what leads from here to longer ones, whatever that is


class Tables(Protocol):
    """The n-grams of a model, 1 ... order; looked up from the last word backwards."""

    @property
    def order(self) -> int: ...

    def ids(self, words: Sequence[str]) -> I64:
        """Numbers of words; UNKNOWN for others."""
        ...

    def unigrams(self, ids: I64) -> KnownGrams:
        """All of them are there: `there` is all true."""
        ...

    def longer(self, size: int, nodes: U64, before: I64) -> KnownGrams:
        """N-grams of `size` words: those that `nodes` stand for with one more word `before` them."""
        ...


def log10_probabilities(tables: Tables, sentences: Sequence[Sequence[str]]) -> F64:
    """log10 p of each word of all sentences, and of each sentence's end, one after the other."""
    words: list[str] = []
    places: list[npt.NDArray[np.int64]] = []
    for sentence in sentences:
        words += [BEGIN, *sentence, END]
        places.append(np.arange(len(sentence) + 2))
    if not words:
        return np.empty(0)
    place = np.concatenate(places)
    ids = tables.ids(words)
    context = np.minimum(place, tables.order - 1)  # words before this one that count
    found = tables.unigrams(ids)
    probability, length = found.probability.copy(), np.ones(len(ids), np.int64)
    backoffs = np.zeros((tables.order, len(ids)))
    backoffs[1 if tables.order > 1 else 0] = found.backoff
    at, nodes = np.arange(len(ids)), found.nodes
    for size in range(2, tables.order + 1):
        far = context[at] >= size - 1
        at, nodes = at[far], nodes[far]
        found = tables.longer(size, nodes, ids[at - size + 1])
        at, nodes = at[found.there], found.nodes
        probability[at], length[at] = found.probability, size
        if size < tables.order:
            backoffs[size, at] = found.backoff
    for size in range(1, tables.order):
        charged = np.flatnonzero((length <= size) & (size <= context))
        probability[charged] += backoffs[size, charged - 1]
    return probability[place > 0]
