"""Model collapse: a bell curve fitted again and again to its own samples loses its spread."""

import math

import numpy as np

from scale.validation import positive, whole_number


def recursive_gaussian_fit(
    samples: int = 20, generations: int = 200, seed: int = 0, initial_spread: float = 1.0
) -> list[float]:
    """The fitted spread (standard deviation) of every generation; entry 0 is `initial_spread`.

    Each generation draws `samples` numbers from the last fit and fits mean and spread by maximum likelihood
    (dividing by n, not n - 1), so the expected variance shrinks by (n - 1)/n each time (Shumailov et al.
    2024, "AI models collapse when trained on recursively generated data", theory section). The same seed
    gives the same numbers.

    Raises ValueError for fewer than 2 samples, negative generations or seed, or a spread that is not above
    zero.
    """
    count = whole_number("samples", samples, at_least=2)
    generator = np.random.default_rng(whole_number("seed", seed, at_least=0))
    mean, spread = 0.0, positive("initial_spread", initial_spread)
    spreads = [spread]
    for _ in range(whole_number("generations", generations, at_least=0)):
        drawn = generator.normal(mean, spread, count)
        mean, spread = float(drawn.mean()), float(drawn.std())
        spreads.append(spread)
    return spreads


def expected_variance_shrink(samples: int, generations: int) -> float:
    """Expected variance after `generations` fits over the first: ((n - 1)/n)^generations.

    Exact for the mean of the variance; the typical (median) run shrinks faster still. Errors as the
    simulation's.
    """
    count = whole_number("samples", samples, at_least=2)
    return float(((count - 1) / count) ** whole_number("generations", generations, at_least=0))


def expected_spread_shrink(samples: int, generations: int) -> float:
    """Square root of `expected_variance_shrink`: the spread that goes with the expected variance."""
    return math.sqrt(expected_variance_shrink(samples, generations))
