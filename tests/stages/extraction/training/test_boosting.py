"""Boosting learns what rows say, and the same rows give the same trees."""

import numpy as np

from stages.extraction.training.boosting import Boosting

SMALL = Boosting(trees=30, depth=3, columns=0.5, bins=16)


def rows(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    matrix = random.random((3_000, 6)).astype(np.float32)
    matrix[:, 5] = 1.0  # says nothing
    label = ((matrix[:, 0] > 0.5) ^ (matrix[:, 1] > 0.3)).astype(float)
    return matrix, label, np.ones(len(label))


def test_a_question_of_two_features_is_learnt() -> None:
    trees = SMALL.fit(*rows(1))
    matrix, label, _ = rows(2)
    likely = trees.probability(np.ascontiguousarray(matrix.T))
    assert ((likely > 0.5) == (label > 0.5)).mean() > 0.95


def test_rows_without_weight_say_nothing() -> None:
    matrix, label, weight = rows(1)
    half = len(label) // 2
    weight[half:] = 0.0
    likely = SMALL.fit(matrix, np.where(weight > 0, label, 1 - label), weight).probability(
        np.ascontiguousarray(matrix.T)
    )
    assert ((likely > 0.5) == (label > 0.5)).mean() > 0.95


def test_the_same_rows_give_the_same_trees() -> None:
    first, second = SMALL.fit(*rows(4)), SMALL.fit(*rows(4))
    assert first.values.tobytes() == second.values.tobytes()
    assert first.limits.tobytes() == second.limits.tobytes()
