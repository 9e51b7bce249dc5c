"""Numbers as people write and read them: K, M, B, T are powers of 1000, shares in percent, money in dollars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from curate.sizes import parse_number
from scale.refusal import Refusal, require


def count(value: float) -> str:
    """`8.03B`, `15.6T`: three significant digits."""
    for factor, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if abs(value) >= factor:
            return f"{float(f'{value / factor:.3g}'):g}{letter}"
    return f"{value:g}"


def quantity(value: float) -> str:
    """Scientific notation with three digits: `3.79e+25`."""
    return f"{value:.2e}"


def percent(fraction: float) -> str:
    """A fraction as percent with one decimal."""
    return f"{100 * fraction:.1f} %"


def figure(value: float) -> str:
    """Whole with commas from 100 on, else three significant digits, so that what is small is not 0."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def measure(value: float, digits: int = 2) -> str:
    """A measured number: whole with commas from 1,000 on, else so many digits behind the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}f}"


def repeats(epochs: float) -> str:
    """Passes over a source: two digits behind the point below ten, one from there, none from 1,000 on."""
    return measure(epochs, 2 if abs(epochs) < 10 else 1)


def duration(days: float) -> str:
    """`55.13 days`; below a day hours, minutes or seconds."""
    for unit, length in (("days", 1.0), ("hours", 24.0), ("minutes", 1440.0)):
        if days * length >= 1:
            return f"{measure(days * length)} {unit}"
    return f"{days * 86400:.3g} seconds"


def money(dollars: float) -> str:
    """Dollars: with cents below a hundred, whole below ten thousand, else K and M."""
    if dollars < 100:
        return f"${dollars:.2f}"
    if dollars >= 1e6:
        return f"${dollars / 1e6:,.2f}M"
    return f"${dollars / 1e3:,.1f}K" if dollars >= 1e4 else f"${dollars:,.0f}"


def read_number(value: Any, place: str) -> float:
    """A finite number, also as text such as `15e12` (which YAML 1.1 reads as a word) or `15T`, `500 B`."""
    try:
        result = parse_number(value)
    except ValueError:
        raise Refusal(f"{place}: {value!r} is no number; write it as 15e12 or 15T") from None
    require(math.isfinite(result), f"{place}: {value!r} is not finite")
    return result


def read_whole(value: Any, place: str) -> int:
    """A positive whole number."""
    result = read_number(value, place)
    require(result == int(result) and result > 0, f"{place}: {value!r} is not a positive whole number")
    return int(result)


def round_numbers(value: Any) -> Any:
    """Floats to 6 significant digits, so that the output is the same on every machine; integers stay exact,
    and what is infinite (the time to a failure that never comes) is null."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: round_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [round_numbers(item) for item in value]
    return value
