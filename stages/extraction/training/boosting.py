"""Gradient boosting of trees whose levels ask one question each (see `stages.extraction.blocks.trees`).

Newton steps on the cross-entropy of soft labels (Friedman 2001; Chen & Guestrin 2016, equation 6, for gain and
values). One thread, sums in a fixed order and a seeded generator: the same rows give the same trees.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stages.extraction.blocks.trees import SCALE, Trees

Floats = NDArray[np.float64]
MOST = 32_767  # of a value, in parts of SCALE


@dataclass(frozen=True, kw_only=True)
class Boosting:
    """How trees are grown."""

    trees: int = 200
    depth: int = 6
    rate: float = 0.16
    ridge: float = 3.0  # times the mean weight of a row, added to each sum of second derivatives
    columns: float = 0.2  # share of the features tried at a level
    rows: float = 0.5  # share of the rows that a tree is chosen by
    bins: int = 48  # limits of a feature, at most
    seed: int = 1

    def fit(self, matrix: NDArray[np.float32], labels: Floats, weights: Floats) -> Trees:
        """Trees for a matrix (rows, features), labels from 0 to 1 and weights."""
        limits = [_limits(column, self.bins) for column in matrix.T]
        binned = [np.searchsorted(limit, column).astype(np.uint8) for limit, column in zip(limits, matrix.T)]
        usable = np.flatnonzero([len(limit) > 0 for limit in limits])
        random = np.random.default_rng(self.seed)
        prior = float((weights * labels).sum() / weights.sum())
        base = float(np.log(prior / (1 - prior)))
        odds = np.full(len(labels), base)
        ridge = self.ridge * float(weights.mean())
        grown = []
        for _ in range(self.trees):
            likely = 1 / (1 + np.exp(-odds))
            slope, bend = weights * (labels - likely), weights * likely * (1 - likely)
            questions = self._grow(binned, limits, slope, bend, usable, random, ridge)
            leaf = np.zeros(len(labels), np.int64)
            for level, (feature, limit) in enumerate(questions):
                leaf += (binned[feature] > limit).astype(np.int64) << level
            size = 1 << self.depth
            step = np.bincount(leaf, slope, size) / (np.bincount(leaf, bend, size) + ridge)
            values = np.clip(np.round(self.rate * step * SCALE), -MOST, MOST).astype(np.int16)
            odds += values[leaf] / SCALE
            grown.append((questions, values))
        features = np.array([[feature for feature, _ in questions] for questions, _ in grown]).T
        chosen = np.array([[limits[feature][limit] for feature, limit in questions] for questions, _ in grown]).T
        return Trees(base, features, chosen.astype(np.float32), np.array([v for _, v in grown]))

    def _grow(
        self,
        binned: list[NDArray[np.uint8]],
        limits: list[NDArray[np.float32]],
        slope: Floats,
        bend: Floats,
        usable: NDArray[np.int64],
        random: np.random.Generator,
        ridge: float,
    ) -> list[tuple[int, int]]:
        """The questions of one tree, feature and number of the limit, each the best of a random part of them."""
        rows = np.flatnonzero(random.random(len(slope)) < self.rows)
        slope, bend = slope[rows], bend[rows]
        leaf = np.zeros(len(rows), np.int64)
        questions = []
        for level in range(self.depth):
            tried = random.permutation(usable)[: max(1, int(len(usable) * self.columns))]
            best = (-1.0, 0, 0)
            for feature in tried.tolist():
                width = len(limits[feature]) + 1
                key = leaf * width + binned[feature][rows]
                slopes, bends = (np.bincount(key, each, width << level).astype(float) for each in (slope, bend))
                gains = _gains(slopes, bends, width, ridge)
                limit = int(np.argmax(gains))
                if gains[limit] > best[0]:
                    best = (float(gains[limit]), feature, limit)
            questions.append(best[1:])
            leaf += (binned[best[1]][rows] > best[2]).astype(np.int64) << level
        return questions


def _gains(slope: Floats, bend: Floats, width: int, ridge: float) -> Floats:
    """What a split at each limit gains, summed over the leaves of the level."""
    slope, bend = slope.reshape(-1, width), bend.reshape(-1, width)
    left, weight = np.cumsum(slope, 1)[:, :-1], np.cumsum(bend, 1)[:, :-1]
    right, other = slope.sum(1, keepdims=True) - left, bend.sum(1, keepdims=True) - weight
    return np.asarray((left * left / (weight + ridge) + right * right / (other + ridge)).sum(0))


def _limits(column: NDArray[np.float32], most: int) -> NDArray[np.float32]:
    """Values to ask "above?" of: all but the largest, or so many quantiles."""
    values = np.unique(column)
    if len(values) <= most + 1:
        return values[:-1]
    return np.unique(np.quantile(column, np.linspace(0, 1, most + 2)[1:-1], method="lower")).astype(np.float32)
