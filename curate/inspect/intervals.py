"""Confidence intervals of shares."""

from math import sqrt
from typing import NamedTuple

Z95 = 1.959963984540054  # of the normal distribution: 95 % lie within


class Share(NamedTuple):
    """An estimated share with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} (95 % interval {self.low:.3f} to {self.high:.3f})"


def wilson(hits: int, trials: int, z: float = Z95) -> Share:
    """Share of hits with Wilson's score interval (Wilson 1927), which holds for small and extreme shares too.

    Without trials nothing is known: 0 to 1, and not a number as the value.
    """
    if trials == 0:
        return Share(float("nan"), 0.0, 1.0)
    share, spread = hits / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return Share(share, max(0.0, middle - half), min(1.0, middle + half))
