"""Numbers for people: counts with K, M, B, T (powers of 1000), shares in percent, money in dollars."""

from __future__ import annotations


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


def duration(days: float) -> str:
    """`55.13 days`; below a day hours, minutes or seconds."""
    for unit, length in (("days", 1.0), ("hours", 24.0), ("minutes", 1440.0)):
        if days * length >= 1:
            return f"{days * length:.2f} {unit}"
    return f"{days * 86400:.3g} seconds"


def money(dollars: float) -> str:
    """Dollars: with cents below a hundred, whole below ten thousand, else K and M."""
    if dollars < 100:
        return f"${dollars:.2f}"
    if dollars >= 1e6:
        return f"${dollars / 1e6:,.2f}M"
    return f"${dollars / 1e3:,.1f}K" if dollars >= 1e4 else f"${dollars:,.0f}"
