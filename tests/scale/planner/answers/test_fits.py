"""`scale fit`: laws and mixtures recovered from data made by known ones, with intervals that hold them."""

import numpy as np
import pytest

from scale.budget import BESIROGLU, Law
from scale.planner.answers.fits import NAMES, fit_law, fit_mixture
from scale.refusal import Refusal


def runs(law: Law, count: int, noise: float, seed: int = 3) -> tuple[list[float], list[float], list[float]]:
    rng = np.random.default_rng(seed)
    n, d = 10 ** rng.uniform(7.5, 10.2, count), 10 ** rng.uniform(9, 11.7, count)
    losses = [law.loss(a, b) * float(np.exp(rng.normal(0, noise))) for a, b in zip(n, d)]
    return n.tolist(), d.tolist(), losses


def test_a_law_is_recovered_exactly_without_noise() -> None:
    law = fit_law(*runs(BESIROGLU, 60, 0.0), resamples=3).law
    found = (law.floor, law.a, law.b, law.alpha, law.beta)
    assert found == pytest.approx((1.81686, 482.00572, 2085.4342, 0.34781, 0.36585), rel=1e-5)


def test_intervals_hold_the_truth_under_noise() -> None:
    fit = fit_law(*runs(BESIROGLU, 100, 0.003), resamples=100)
    truth = dict(zip(NAMES, (1.81686, 482.00572, 2085.4342, 0.34781, 0.36585)))
    held = [low <= truth[name] <= high for name, (low, high) in fit.intervals.items()]
    assert sum(held) >= 4
    assert 0.002 < fit.rmse < 0.004
    low, high = fit.intervals["alpha"]
    assert 0 < high - low < 0.1


def test_a_single_outlier_does_not_bend_the_law() -> None:
    n, d, losses = runs(BESIROGLU, 80, 0.0)
    losses[7] *= 1.5
    assert fit_law(n, d, losses, resamples=3).law.alpha == pytest.approx(BESIROGLU.alpha, rel=0.02)


@pytest.mark.parametrize(
    ("n", "d", "loss", "message"),
    [
        ([1e8] * 7, [1e9] * 7, [3.0] * 7, "too few"),
        ([1e8] * 9, list(np.geomspace(1e9, 1e11, 9)), [3.0] * 9, "3 values"),
        ([0.0, *np.geomspace(1e8, 1e9, 8)], list(np.geomspace(1e9, 1e11, 9)), [3.0] * 9, "above zero"),
        ([1e8] * 9, [1e9] * 8, [3.0] * 9, "same number"),
    ],
)
def test_points_that_cannot_be_fitted_are_refused(
    n: list[float], d: list[float], loss: list[float], message: str
) -> None:
    with pytest.raises(Refusal, match=message):
        fit_law(n, d, loss)


def test_a_mixture_is_recovered_and_its_best_lies_between_those_tried() -> None:
    rng = np.random.default_rng(5)
    weights = rng.dirichlet([2, 2, 2], 30)
    truth = np.array([2.5, 2.9, 3.2])
    losses = weights @ truth + rng.normal(0, 0.01, 30)
    fit = fit_mixture(dict(zip(("web", "code", "books"), weights.T.tolist())), losses.tolist())
    for value, (effect, low, high) in zip(truth, fit.effects.values()):
        assert effect == pytest.approx(value, abs=0.03) and low < effect < high
    assert sum(fit.best.values()) == pytest.approx(1)
    assert fit.best["web"] <= weights[:, 0].max() + 1e-9
    assert fit.best_loss[1] <= fit.best_loss[0] <= fit.best_loss[2]
    assert fit.measured_best_loss == losses.min()
    assert fit.residual == pytest.approx(0.01, rel=0.5)


@pytest.mark.parametrize(
    ("weights", "losses", "message"),
    [
        ({"a": [1.0, 1.0]}, [2.0, 2.0], "two sources"),
        ({"a": [0.5, 0.4], "b": [0.5, 0.6]}, [2.0, 2.1], "more runs"),
        ({"a": [0.5, 0.4, 0.3], "b": [0.6, 0.6, 0.7]}, [2.0, 2.1, 2.0], "row 1 add to 1.1"),
        ({"a": [0.5] * 4, "b": [0.5] * 4}, [2.0, 2.1, 2.0, 2.2], "vary"),
        ({"a": [1.5, 0.4, 0.3], "b": [-0.5, 0.6, 0.7]}, [2.0, 2.1, 2.0], "negative"),
    ],
)
def test_mixtures_that_cannot_be_told_apart_are_refused(
    weights: dict[str, list[float]], losses: list[float], message: str
) -> None:
    with pytest.raises(Refusal, match=message):
        fit_mixture(weights, losses)
