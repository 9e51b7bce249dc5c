"""Mixture weights from small models: regress the loss on the weights they were trained with, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scale.planner.arrays import Array
from scale.planner.refusal import require

SEED, RESAMPLES, CANDIDATES = 0, 1000, 4000
WEIGHT_TOLERANCE = 0.02


@dataclass(frozen=True)
class MixtureFit:
    """loss = Σ w_i·b_i (weights add to 1, so there is no intercept: Scheffé 1958).

    `effects` are the predicted losses of training on one source alone with 95 % intervals, `best` the weights of
    least predicted loss among mixtures between those tried, `best_loss` with its interval; `measured_best` is the
    tried mixture of least measured loss. `residual` is the standard error of one run, in nats.
    """

    sources: tuple[str, ...]
    effects: dict[str, tuple[float, float, float]]
    best: dict[str, float]
    best_loss: tuple[float, float, float]
    measured_best: dict[str, float]
    measured_best_loss: float
    residual: float
    r_squared: float
    runs: int


def fit_mixture(weights: Mapping[str, Sequence[float]], losses: Sequence[float]) -> MixtureFit:
    """Least squares of `losses` (nats) on `weights` (fractions, by source, one value per run), intervals by a
    residual bootstrap.

    Raises `Refusal` when weights do not add to 1, when runs are not more than sources, or when the tried mixtures
    do not vary enough to tell the sources apart.
    """
    sources = tuple(weights)
    x = np.array([weights[name] for name in sources], dtype=np.float64).T
    y = np.asarray(losses, dtype=np.float64)
    x = _checked(x, y, len(sources))
    effects, residual, samples = _regress(x, y)
    candidates = _between(x)
    chosen = int(np.argmin(candidates @ effects))
    predictions = samples @ candidates[chosen]
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    spread = float(np.sum((y - y.mean()) ** 2))
    freedom = len(y) - len(sources)
    return MixtureFit(
        sources,
        {n: (float(e), float(a), float(b)) for n, e, a, b in zip(sources, effects, low, high)},
        {n: float(w) for n, w in zip(sources, candidates[chosen])},
        (
            float(candidates[chosen] @ effects),
            float(np.percentile(predictions, 2.5)),
            float(np.percentile(predictions, 97.5)),
        ),
        {n: float(w) for n, w in zip(sources, x[int(np.argmin(y))])},
        float(y.min()),
        float(np.sqrt(np.sum(residual**2) / freedom)),
        1 - float(np.sum(residual**2)) / spread if spread else 1.0,
        len(y),
    )


def _checked(x: Array, y: Array, sources: int) -> Array:
    """The weights, each row scaled to add to exactly 1; refuses tables that no regression can read."""
    require(sources >= 2, "mixtures: name at least two sources as columns next to `loss`")
    require(len(y) > sources, f"mixtures: {len(y)} runs cannot tell {sources} sources apart; give more runs")
    require(bool(np.all(np.isfinite(x)) and np.all(np.isfinite(y))), "mixtures: every weight and loss must be a number")
    require(bool(np.all(x >= 0)), "mixtures: weights cannot be negative")
    for row, total in enumerate(x.sum(axis=1), start=1):
        require(abs(total - 1) <= WEIGHT_TOLERANCE, f"mixtures: the weights of row {row} add to {total:.4g}, not 1")
    x = x / x.sum(axis=1, keepdims=True)
    require(
        np.linalg.matrix_rank(x, tol=1e-6) == sources,
        "mixtures: the tried mixtures do not vary enough to tell the sources apart; vary each weight on its own",
    )
    return x


def _regress(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """(effects, residuals, bootstrap effects): residuals are widened by their leverage before resampling."""
    solve = np.linalg.pinv(x)
    effects = solve @ y
    residual = y - x @ effects
    leverage = np.einsum("ij,ji->i", x, solve)
    widened = residual / np.sqrt(np.maximum(1 - leverage, 0.05))
    widened = widened - widened.mean()
    rng = np.random.default_rng(SEED)
    drawn = widened[rng.integers(0, len(y), (RESAMPLES, len(y)))]
    return effects, residual, (solve @ (x @ effects + drawn).T).T


def _between(x: Array) -> Array:
    """The tried mixtures and random blends of them: the model is not asked about mixtures far from any tried."""
    rng = np.random.default_rng(SEED)
    blends = rng.dirichlet(np.full(len(x), 0.3), CANDIDATES) @ x
    return np.concatenate([x, blends])
