"""Where the bars of a histogram begin and end."""

import numpy as np

BARS = 40
TAIL = 200  # one page of so many may lie outside the bars on either side; the end bars take it in
Bound = tuple[float, bool]  # a limit; True where values below it break it, False where those above do


def edges(
    ordered: np.ndarray, bounds: list[Bound], integral: bool, spike: float | None = None
) -> tuple[np.ndarray, bool]:
    """Edges of about BARS bars over sorted values; True where they are logarithmic.

    They span the bulk of the values, all limits, and a part of what lies beyond a limit; an even scale also reaches
    to the `spike`, an end value that is not among the sorted ones.
    """
    tail = len(ordered) // TAIL
    least, most = float(ordered[0]), float(ordered[-1])
    low, high, median = (float(ordered[place]) for place in (tail, -1 - tail, len(ordered) // 2))
    if integral and most - least <= BARS:
        low, high = least, most
    low, high = min([low, *(value for value, _ in bounds)]), max([high, *(value for value, _ in bounds)])
    logarithmic = low >= 0 and median > 0 and high > 20 * median and high > (20 if integral else 0)
    span = high - low
    for value, lower in bounds:  # room for those that break it
        if lower:
            low = min(low, max(least, value / 3 if logarithmic else value - span / 8))
        else:
            high = max(high, min(most, value * 3 if logarithmic else value + span / 8))
    if logarithmic:
        return _logarithmic(low, high, median, integral), True
    ends = [low, high] if spike is None else [low, high, spike]
    return _even(min(ends), max(ends), integral), False


def _logarithmic(low: float, high: float, median: float, integral: bool) -> np.ndarray:
    first = max(low, 1.0 if integral else min(median, high) / 1000)
    found = np.geomspace(first, max(high, 2 * first) * 1.0001, BARS + 1)
    found = np.unique(np.floor(found)) if integral else found
    return np.concatenate([[0.0], found]) if low < found[0] else found


def _even(low: float, high: float, integral: bool) -> np.ndarray:
    finest = 8 * float(np.spacing(max(abs(low), abs(high))))
    step = _round_step(max((high - low) / BARS, finest) if high > low else 0.0, integral)
    first, last = np.floor(low / step * (1 + 1e-12)), np.floor(high / step * (1 + 1e-12)) + 1
    decimals = max(0, 3 - int(np.floor(np.log10(step))))
    return np.round(np.arange(first, last + 1) * step, decimals)


def _round_step(step: float, integral: bool) -> float:
    """The next of 1, 2, 2.5, 5 × 10^k from `step` on; whole numbers for whole values."""
    if step <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(step))
    rounded = float(next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= step * (1 - 1e-9)))
    return max(1.0, float(np.ceil(rounded))) if integral else rounded
