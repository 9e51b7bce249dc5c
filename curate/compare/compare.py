"""Two samples side by side: each measure with the interval of its difference, and what that says.

Intervals come from random halves: of the texts of both samples and of the target, each half without replacement (the
delete-half jackknife, Shao and Wu 1989); the spread of a measure over halves is that of the measure over samples. Equal
texts fall into the same half on both sides, so that what two runs share does not widen the interval. All intervals hold
together at 95 % (Bonferroni).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from curate.compare.closeness import HashedGrams, TargetGrams, TrigramModel, divergence
from curate.compare.n_grams import SampleTokens
from curate.compare.sample import Sample, copies, halves
from curate.compare.variety import Variety

DRAWS = 60
LANGUAGES = 3
Weights = npt.NDArray[Any]
LOWER, HIGHER, NEITHER = "lower", "higher", ""


@dataclass(frozen=True)
class ComparedMeasure:
    """One measure of both samples."""

    measure: str
    a: float
    b: float
    low: float  # of b - a
    high: float
    better: str  # which way is: lower, higher, or "" where neither is
    shows: str

    @property
    def verdict(self) -> str:
        """a, b, `none` where the interval holds 0, or `other` where they differ and neither is better."""
        if self.low <= 0 <= self.high:
            return "none"
        if not self.better:
            return "other"
        return "b" if (self.b < self.a) == (self.better == LOWER) else "a"


class Side:
    """One sample with its measures, each a function of the weights of its texts and of the target's."""

    def __init__(
        self, sample: Sample, tokens: SampleTokens, target: TargetGrams, aims: HashedGrams, vocabulary: int
    ) -> None:
        self.sample, self.aims = sample, aims
        self.buckets, self.model = HashedGrams(tokens), TrigramModel(tokens, target, vocabulary)
        self.variety = Variety(sample, tokens)

    def divergence(self, weights: Weights, aims: Weights) -> float:
        return divergence(self.aims.shares(aims), self.buckets.shares(weights))


Measured = Callable[[Side, Weights, Weights], float]


def _measures(a: Side, b: Side) -> Iterator[tuple[str, Measured, str, str]]:
    yield (
        "KL to the target",
        Side.divergence,
        LOWER,
        "nats, hashed words and pairs; its fall is DSIR's KL reduction, which tracked accuracy after training",
    )
    yield (
        "target's perplexity",
        lambda side, own, aims: side.model.perplexity(own, aims),
        LOWER,
        "under a trigram model of the sample; says nothing of what the target has not",
    )
    yield (
        "distinct trigrams",
        lambda side, own, aims: side.variety.distinct(own),
        HIGHER,
        "of all; noise is distinct, too",
    )
    yield (
        "compressed size",
        lambda side, own, aims: side.variety.compressed(own),
        HIGHER,
        "of the bytes; what repeats shrinks, and noise does not",
    )
    yield (
        "exact copies",
        lambda side, own, aims: side.variety.exact(own),
        LOWER,
        "of the documents; holds for the whole run",
    )
    yield (
        "near copies",
        lambda side, own, aims: side.variety.nearly(own),
        LOWER,
        "of the texts, within the sample: a whole run has more",
    )
    for name in {**a.variety.top_languages(LANGUAGES), **b.variety.top_languages(LANGUAGES)}:
        yield f"language {name}", _share_of(name), NEITHER, "of the documents"


def _share_of(language: str) -> Measured:
    return lambda side, own, aims: side.variety.language(own, language)


def compare(a: Sample, b: Sample, target: Sample, draws: int = DRAWS) -> list[ComparedMeasure]:
    """All measures of two samples, which are cut to equally many words first."""
    words = min(a.words, b.words)
    a, b = a.first(words), b.first(words)
    tokens = [SampleTokens.of(sample) for sample in (a, b, target)]
    vocabulary = len(np.unique(np.concatenate([some.hashes for some in tokens])))
    goal, aims = TargetGrams(tokens[2]), HashedGrams(tokens[2])
    sides = Side(a, tokens[0], goal, aims, vocabulary), Side(b, tokens[1], goal, aims, vocabulary)
    measures = list(_measures(*sides))
    z = NormalDist().inv_cdf(1 - 0.025 / len(measures))
    weights_of = [(copies(side.sample), copies(target)) for side in sides]
    drawn = [[(halves(side.sample, draw), halves(target, draw)) for draw in range(draws)] for side in sides]
    rows = []
    for name, measure, better, shows in measures:
        one, other = (measure(side, *weights) for side, weights in zip(sides, weights_of, strict=True))
        apart = [measure(sides[1], *right) - measure(sides[0], *left) for left, right in zip(*drawn, strict=True)]
        spread = float(np.std(apart, ddof=1))
        rows.append(
            ComparedMeasure(name, one, other, other - one - z * spread, other - one + z * spread, better, shows)
        )
    return rows
