"""Which blocks are taken: those that are expected to score best."""

from itertools import product

import numpy as np
import pytest

from stages.extraction.blocks.around import choose


def expected_f(taken: tuple[bool, ...], probability: np.ndarray, words: np.ndarray, beta: float) -> float:
    hits = sum(p * w for t, p, w in zip(taken, probability, words) if t)
    size = sum(w for t, w in zip(taken, words) if t)
    return (1 + beta**2) * hits / (size + beta**2 * float((probability * words).sum()))


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_no_other_choice_is_expected_to_score_more(beta: float) -> None:
    random = np.random.default_rng(3)
    for _ in range(20):
        probability, words = random.random(7), random.integers(1, 30, 7).astype(float)
        chosen, score = choose(probability, words, beta)
        best = max(
            expected_f(taken, probability, words, beta) for taken in product((False, True), repeat=7) if any(taken)
        )
        assert score == pytest.approx(best)
        assert expected_f(tuple(chosen.tolist()), probability, words, beta) == pytest.approx(best)


def test_recall_takes_in_more_than_precision() -> None:
    probability, words = np.linspace(0.05, 0.95, 10), np.ones(10)
    taken = [int(choose(probability, words, beta)[0].sum()) for beta in (0.5, 1.0, 2.0)]
    assert taken == sorted(taken)
    assert taken[0] < taken[2]
