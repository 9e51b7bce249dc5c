"""The numbers of `curate bands`."""

import numpy as np
import pytest

from curate.decide.bands import (
    band_lines,
    confirmed_probability,
    curves,
    lsh_candidate_probability,
    pair_recall,
    steepest,
)


def test_the_curve_is_that_of_simulated_signatures() -> None:
    rng = np.random.default_rng(1)
    for similarity in (0.5, 0.7):
        equal = rng.random((20_000, 25, 5)) < similarity
        seen = equal.all(axis=2).any(axis=1).mean()
        assert lsh_candidate_probability(similarity, 25, 5) == pytest.approx(seen, abs=0.015)


def test_published_layouts() -> None:
    """14 x 8 at 0.7, 0.8 and 0.9, as FineWeb's is quoted; the seed's threshold of 20 x 5."""
    assert [round(lsh_candidate_probability(s, 14, 8), 3) for s in (0.7, 0.8, 0.9)] == [0.565, 0.924, 1.0]
    assert round(lsh_candidate_probability(0.8, 9, 13), 2) == 0.4
    assert round(steepest(20, 5), 2) == 0.55 and round(steepest(14, 8), 3) == 0.719


def test_confirmation_is_a_binomial_tail() -> None:
    assert confirmed_probability(1.0, 0.8, 128) == 1.0 and confirmed_probability(0.0, 0.8, 128) == 0.0
    assert confirmed_probability(0.5, 0.5, 1) == 0.5 and confirmed_probability(0.5, 1.0, 3) == 0.125
    rng = np.random.default_rng(2)
    seen = (rng.binomial(128, 0.85, 50_000) / 128 >= 0.8).mean()
    assert confirmed_probability(0.85, 0.8, 128) == pytest.approx(seen, abs=0.01)
    assert pair_recall(0.85, 0.8, 128, 25, 5) == pytest.approx(seen, abs=0.01)


def test_lines_show_chosen_layout_and_recall() -> None:
    lines = band_lines(curves(0.8, 128))
    assert any("25x5*" in line for line in lines)
    assert any(line.split()[:1] == ["0.80"] and "0.924" in line for line in lines)
    assert lines[-1].startswith("  a pair of similarity 0.90: 1.000")
    assert "9x13" not in "".join(band_lines(curves(0.5, 64, (8, 8)))) and len(
        band_lines(curves(0.97, 64, (8, 8)))
    ) < len(lines)


@pytest.mark.parametrize("wrong", [(0.0, 128, (25, 5)), (1.5, 128, (25, 5)), (0.8, 64, (25, 5))])
def test_impossible_requests_are_refused(wrong: tuple[float, int, tuple[int, int]]) -> None:
    with pytest.raises(ValueError):
        curves(*wrong)


def test_probabilities_refuse_what_is_none() -> None:
    for wrong in ((-0.1, 20, 5), (1.1, 20, 5), (0.5, 0, 5), (0.5, 20, 0)):
        with pytest.raises(ValueError):
            lsh_candidate_probability(*wrong)
