"""Fits to small runs with bootstrap intervals: a scaling law L = E + A/N^alpha + B/D^beta, and mixture weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scale.budget import Law
from scale.planner.step.arrays import Array, array
from scale.refusal import require

HUBER_DELTA = 1e-3  # on log loss (Hoffmann et al. 2022 appendix D.2)
SEED, RESAMPLES, STEPS = 0, 200, 300
NAMES = ("E", "A", "B", "alpha", "beta")
LEAST_POINTS = 8


@dataclass(frozen=True)
class LawFit:
    """A fitted law; `intervals` are 95 % bootstrap percentiles by name, `rmse` is of the log loss."""

    law: Law
    intervals: dict[str, tuple[float, float]]
    rmse: float
    points: int


def fit_law(
    parameters: Sequence[float], tokens: Sequence[float], losses: Sequence[float], resamples: int = RESAMPLES
) -> LawFit:
    """Huber regression of log loss by the method of Hoffmann et al. 2022 (equation 3), from a grid of starts.

    `parameters` and `tokens` are counts, `losses` nats per token. Raises `Refusal` for fewer than 8 points, values
    not above zero, or points that do not vary in both parameters and tokens.
    """
    n, d, y = array(parameters), array(tokens), array(losses)
    require(len(n) == len(d) == len(y), "points: N, D and loss must have the same number of values")
    require(len(n) >= LEAST_POINTS, f"points: {len(n)} runs are too few for 5 constants; give at least {LEAST_POINTS}")
    require(
        bool(np.all(np.isfinite([n, d, y])) and np.all(np.array([n, d, y]) > 0)),
        "points: every N, D and loss must be a number above zero",
    )
    require(
        len(np.unique(n)) > 2 and len(np.unique(d)) > 2,
        "points: N and D must each take at least 3 values, or their exponents cannot be told apart",
    )
    log_n, log_d, log_y = np.log(n), np.log(d), np.log(y)
    best = min(
        (_descend(start, log_n, log_d, log_y) for start in _starts(log_n, log_d, log_y)), key=lambda fit: fit[1]
    )[0]
    rng = np.random.default_rng(SEED)
    samples = []
    for _ in range(resamples):
        rows = rng.integers(0, len(n), len(n))
        samples.append(_named(_descend(best, log_n[rows], log_d[rows], log_y[rows])[0]))
    low, high = np.percentile(np.array(samples), [2.5, 97.5], axis=0)
    values = _named(best)
    residual = _predict(best, log_n, log_d) - log_y
    return LawFit(
        Law("fitted here", *(float(v) for v in values)),
        {name: (float(a), float(b)) for name, a, b in zip(NAMES, low, high)},
        float(np.sqrt(np.mean(residual**2))),
        len(n),
    )


def _named(x: Array) -> Array:
    """(E, A, B, alpha, beta) of the search space (log E, log A, log B, alpha, beta)."""
    return np.concatenate([np.exp(x[:3]), x[3:]])


def _starts(log_n: Array, log_d: Array, log_y: Array) -> list[Array]:
    """Starts whose two terms each explain a share of the loss above the floor, at the middle of the data."""
    middle_n, middle_d, lowest = float(np.mean(log_n)), float(np.mean(log_d)), float(np.min(log_y))
    starts = []
    for floor in (0.5, 0.8, 0.95):
        for alpha in (0.2, 0.35, 0.6):
            for beta in (0.2, 0.35, 0.6):
                above = np.log(max(float(np.exp(np.mean(log_y)) - floor * np.exp(lowest)), 1e-6) / 2)
                starts.append(
                    np.array([np.log(floor) + lowest, above + alpha * middle_n, above + beta * middle_d, alpha, beta])
                )
    return starts


def _terms(x: Array, log_n: Array, log_d: Array) -> Array:
    return np.stack([np.full_like(log_n, x[0]), x[1] - x[3] * log_n, x[2] - x[4] * log_d])


def _predict(x: Array, log_n: Array, log_d: Array) -> Array:
    terms = _terms(x, log_n, log_d)
    top = terms.max(axis=0)
    return np.asarray(top + np.log(np.exp(terms - top).sum(axis=0)))


def _descend(start: Array, log_n: Array, log_d: Array, log_y: Array) -> tuple[Array, float]:
    """Levenberg-Marquardt on the Huber loss by reweighting; returns the point and its loss."""
    x, damping = start.copy(), 1e-2
    best = _huber(_predict(x, log_n, log_d) - log_y)
    for _ in range(STEPS):
        terms = _terms(x, log_n, log_d)
        predicted = _predict(x, log_n, log_d)
        share = np.exp(terms - predicted)
        residual = predicted - log_y
        weight = np.minimum(1.0, HUBER_DELTA / np.maximum(np.abs(residual), 1e-15))
        jacobian = np.stack([share[0], share[1], share[2], -share[1] * log_n, -share[2] * log_d], axis=1)
        normal = jacobian.T @ (weight[:, None] * jacobian)
        gradient = jacobian.T @ (weight * residual)
        step = np.linalg.lstsq(normal + damping * np.diag(np.diag(normal) + 1e-12), -gradient, rcond=None)[0]
        trial = x + np.clip(step, -1.0, 1.0)
        value = _huber(_predict(trial, log_n, log_d) - log_y)
        if value < best:
            done = best - value < 1e-13 * (1 + best)
            x, best, damping = trial, value, max(damping / 3, 1e-9)
            if done:
                break
        else:
            damping *= 4
            if damping > 1e9:
                break
    return x, best


def _huber(residual: Array) -> float:
    size = np.abs(residual)
    return float(np.sum(np.where(size <= HUBER_DELTA, 0.5 * residual**2, HUBER_DELTA * (size - 0.5 * HUBER_DELTA))))


MIXTURE_RESAMPLES, CANDIDATES = 1000, 4000
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
    drawn = widened[rng.integers(0, len(y), (MIXTURE_RESAMPLES, len(y)))]
    return effects, residual, (solve @ (x @ effects + drawn).T).T


def _between(x: Array) -> Array:
    """The tried mixtures and random blends of them: the model is not asked about mixtures far from any tried."""
    rng = np.random.default_rng(SEED)
    blends = rng.dirichlet(np.full(len(x), 0.3), CANDIDATES) @ x
    return np.concatenate([x, blends])
