"""The minimum of a smooth convex function by L-BFGS (Liu and Nocedal 1989; Nocedal and Wright, algorithm 7.5)."""

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Loss = Callable[[F64], tuple[float, F64]]

MEMORY, MOST_STEPS, MOST_TRIES = 10, 500, 40
ENOUGH = 1e-4  # of a promised decrease must come true (Armijo)
TOLERANCE = 1e-6  # of the gradient at the start is left at the end


def _dot(a: F64, b: F64) -> float:
    """Summed by NumPy and not by a BLAS of many threads, so that it rounds the same on each run."""
    return float((a * b).sum())


def _direction(gradient: F64, steps: deque[tuple[F64, F64]]) -> F64:
    """Down the slope, with the curvature that the last steps met: the two loops."""
    found, shares = -gradient, []
    for step, change in reversed(steps):
        share = _dot(step, found) / _dot(step, change)
        found = found - share * change
        shares.append(share)
    if steps:
        step, change = steps[-1]
        found = found * (_dot(step, change) / _dot(change, change))
    for (step, change), share in zip(steps, reversed(shares), strict=True):
        found = found + (share - _dot(change, found) / _dot(step, change)) * step
    return found


def minimize(loss: Loss, start: F64) -> F64:
    """Where `loss`, which gives value and gradient, is least, to within `TOLERANCE` of the first gradient."""
    at = start
    value, gradient = loss(at)
    enough = TOLERANCE * max(float(np.abs(gradient).max()), 1e-12)
    steps: deque[tuple[F64, F64]] = deque(maxlen=MEMORY)
    for _ in range(MOST_STEPS):
        if float(np.abs(gradient).max()) <= enough:
            break
        direction = _direction(gradient, steps)
        slope = _dot(direction, gradient)
        length = 1.0 if steps else 1 / max(float(np.abs(gradient).sum()), 1.0)
        for _ in range(MOST_TRIES):
            new_value, new_gradient = loss(at + length * direction)
            if new_value <= value + ENOUGH * length * slope:
                break
            length /= 2
        else:
            break  # as low as the numbers can tell
        step, change = length * direction, new_gradient - gradient
        if _dot(step, change) > 0:
            steps.append((step, change))
        at, value, gradient = at + step, new_value, new_gradient
    return at
