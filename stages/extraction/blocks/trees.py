"""Boosted trees of which every level asks one question, so that NumPy answers all trees and blocks at once.

Oblivious trees (Prokhorenkova et al. 2018, section 4; Friedman 2001 for the boosting): a tree of depth D is D
features with a limit each, and 2^D values; which limits a block is above makes the number of its value.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

SCALE = 10_000
AT_ONCE = 2_048  # blocks: some megabytes of answers, however many a page has


@dataclass(frozen=True)
class Trees:
    """`count` trees of one depth, 8 at most, over numbered features."""

    base: float  # log-odds before any tree
    features: NDArray[np.int64]  # (depth, count) rows of the matrix
    limits: NDArray[np.float32]  # (depth, count)
    values: NDArray[np.int16]  # (count, 2 ** depth) log-odds in parts of SCALE, so that their sums are exact

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """Of each tree the place of its first value."""
        return np.arange(len(self.values))[:, None] << len(self.features)

    def probability(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        """Of each column of a matrix (features, blocks) the probability that it is content."""
        parts = [self._odds(matrix[:, at : at + AT_ONCE]) for at in range(0, matrix.shape[1], AT_ONCE)]
        return np.asarray(1.0 / (1.0 + np.exp(-np.concatenate(parts))))

    def _odds(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        depth, count = self.features.shape
        above = matrix.take(self.features.ravel(), axis=0) > self.limits.reshape(-1, 1)
        answers = above.view(np.uint8).reshape(depth, count, -1)
        leaf = answers[-1].copy()
        for level in range(depth - 2, -1, -1):
            leaf += leaf
            leaf += answers[level]
        return np.asarray(self.base + self.values.take(leaf + self._first).sum(0, dtype=np.int32) / SCALE)
