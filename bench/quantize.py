"""Speed of `scale.floats.quantize` on float64 arrays: millions of values a second per format and policy,
one core.

Run from the project root:  python bench/quantize.py [--values 4000000] [--repeats 7]
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray

from scale.floats import FORMATS, FloatFormat, quantize


def inputs(values: int, fmt: FloatFormat) -> dict[str, NDArray[np.float64]]:
    """Ordinary activations, and values spread over the whole float64 range so that half of them over- or
    underflow."""
    generator = np.random.default_rng(20240501)
    spread = generator.uniform(1.0, 2.0, values) * 2.0 ** generator.integers(
        2 * fmt.min_exponent, 2 * fmt.max_exponent, values
    )
    return {
        "normal": generator.normal(0.0, 1.0, values),
        "spread": spread * generator.choice([-1.0, 1.0], values),
    }


def values_per_second(x: NDArray[np.float64], fmt: FloatFormat, overflow: str, repeats: int) -> float:
    """Median over `repeats` timed calls, after one call that is not timed."""
    quantize(x, fmt, overflow)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        quantize(x, fmt, overflow)
        seconds.append(time.perf_counter() - start)
    return float(x.size / np.median(seconds))


def main() -> None:
    """Print one row per format, policy and kind of input."""
    parser = argparse.ArgumentParser(description="values per second of quantize")
    parser.add_argument("--values", type=int, default=4_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(f"{'format':10} {'overflow':9} {'input':7} {'million values/s':>16}")
    for name, fmt in FORMATS.items():
        for kind, x in inputs(options.values, fmt).items():
            for overflow in ("ieee", "saturate"):
                rate = values_per_second(x, fmt, overflow, options.repeats)
                print(f"{name:10} {overflow:9} {kind:7} {rate / 1e6:16.0f}")


if __name__ == "__main__":
    main()
