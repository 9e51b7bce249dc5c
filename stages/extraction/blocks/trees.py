"""Boosted trees of which every level asks one question, so that NumPy answers all trees and blocks at once.

Oblivious trees (Prokhorenkova et al. 2018, section 4; Friedman 2001 for the boosting): a tree of depth D is D
features with a limit each, and 2^D values; which limits a block is above makes the number of its value.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 2_048  # blocks: some megabytes of answers, however many a page has


@dataclass(frozen=True)
class Trees:
    """`count` trees of one depth, 8 at most, over numbered features."""

    base: float  # log-odds before any tree
    features: NDArray[np.int64]  # (depth, count) rows of the matrix
    limits: NDArray[np.float32]  # (depth, count)
    values: NDArray[np.float32]  # (count, 2 ** depth) log-odds

    @cached_property
    def _asked(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
        """The different questions, feature and limit, and the number of each level's question in each tree."""
        pairs = np.stack([self.features.ravel().astype(np.float64), self.limits.ravel().astype(np.float64)], axis=1)
        unique, number = np.unique(pairs, axis=0, return_inverse=True)
        limits = unique[:, 1].astype(np.float32)[:, None]
        return unique[:, 0].astype(np.int64), limits, number.reshape(self.features.shape)

    def probability(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        """Of each column of a matrix (features, blocks) the probability that it is content."""
        parts = [self._odds(matrix[:, at : at + AT_ONCE]) for at in range(0, matrix.shape[1], AT_ONCE)]
        return np.asarray(1.0 / (1.0 + np.exp(-np.concatenate(parts))))

    def _odds(self, matrix: NDArray[np.float32]) -> NDArray[np.float64]:
        depth, count = self.features.shape
        rows, limits, number = self._asked
        answers = (matrix[rows] > limits).view(np.uint8)
        leaf = answers[number[0]]
        for level in range(1, depth):
            leaf += answers[number[level]] << np.uint8(level)
        place = leaf + (np.arange(count, dtype=np.int32)[:, None] << depth)
        return np.asarray(self.base + self.values.ravel()[place].sum(0, dtype=np.float64))
