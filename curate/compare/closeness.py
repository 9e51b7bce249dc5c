"""How close a sample is to a target: KL divergence of hashed n-grams, and the target's perplexity under the sample.

Both can be asked again for any weights of the texts, so that intervals can be had by resampling.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from curate.compare.n_grams import Counted, SampleTokens

BUCKETS = 10_000  # as in DSIR (Xie et al. 2023, section 3.1): unigrams and bigrams, hashed
PRIOR = 30.0  # tokens: the weight of the shorter context in the language model (MacKay and Peto 1995)
UNSEEN = 0.5  # what each word of the vocabulary counts besides
Weights = npt.NDArray[Any]
F64 = npt.NDArray[np.float64]


class HashedGrams:
    """The distribution of a sample over hashed unigrams and bigrams."""

    def __init__(self, tokens: SampleTokens) -> None:
        parts = [tokens.grams(n) for n in (1, 2)]
        keys = np.concatenate([keys for keys, _ in parts])
        text = np.concatenate([text for _, text in parts])
        self.counted = Counted((keys % np.uint64(BUCKETS)).astype(np.int64), text, BUCKETS)

    def shares(self, weights: Weights) -> F64:
        """Share of each bucket, every one counted once besides."""
        held = self.counted.total(weights) + 1
        shares: F64 = held / held.sum()
        return shares


def divergence(target: F64, of: F64) -> float:
    """KL(target || of) in nats. Its difference between two samples is DSIR's "KL reduction" (section 5)."""
    return float((target * np.log(target / of)).sum())


class TargetGrams:
    """The n-grams of a target, each with the contexts that a trigram model needs."""

    def __init__(self, tokens: SampleTokens) -> None:
        self.tokens = tokens
        (one, _), (two, _), (three, self.text) = (tokens.grams(n) for n in (1, 2, 3))
        inside = _starts(tokens, 3)
        second = _starts(tokens, 2)
        place = np.full(len(tokens.hashes) + 1, -1)
        place[second] = np.arange(len(second))
        self.wanted = [np.unique(keys) for keys in (one, two, three)]
        word = np.searchsorted(self.wanted[0], one)
        pair = np.searchsorted(self.wanted[1], two)
        self.word, self.before = word[inside + 2], word[inside + 1]
        self.pair, self.context = pair[place[inside + 1]], pair[place[inside]]
        self.triple = np.searchsorted(self.wanted[2], three)


def _starts(tokens: SampleTokens, n: int) -> npt.NDArray[np.int64]:
    """Where the n-grams begin that lie within one text."""
    count = max(0, len(tokens.hashes) - n + 1)
    return np.flatnonzero(tokens.text[:count] == tokens.text[n - 1 : n - 1 + count])


class TrigramModel:
    """A trigram model of a sample with Dirichlet smoothing, asked for the target alone.

    P(w | uv) = (c(uvw) + m P(w | v)) / (c(uv) + m), and so on down to single words: the hierarchical Dirichlet model of
    MacKay and Peto 1995, with one m for all contexts.
    """

    def __init__(self, tokens: SampleTokens, target: TargetGrams, vocabulary: int) -> None:
        self.target, self.vocabulary, self.lengths = target, vocabulary, tokens.lengths
        self.counted = [
            Counted.of(*tokens.grams(n), wanted) for n, wanted in zip((1, 2, 3), target.wanted, strict=True)
        ]

    def surprise(self, weights: Weights) -> F64:
        """-ln P of each trigram's last word in the target."""
        target = self.target
        one, two, three = (counted.total(weights) for counted in self.counted)
        total = float((self.lengths * weights).sum())
        single = (one[target.word] + UNSEEN) / (total + UNSEEN * self.vocabulary)
        double = (two[target.pair] + PRIOR * single) / (one[target.before] + PRIOR)
        triple = (three[target.triple] + PRIOR * double) / (two[target.context] + PRIOR)
        surprise: F64 = -np.log(triple)
        return surprise

    def perplexity(self, weights: Weights, target_weights: Weights) -> float:
        """exp of the mean surprise over the target's texts."""
        heavy = target_weights[self.target.text]
        return float(np.exp((self.surprise(weights) * heavy).sum() / max(1, heavy.sum())))
