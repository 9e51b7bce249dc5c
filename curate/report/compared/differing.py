"""Differences as people read them, B less A."""

from collections.abc import Callable

from markupsafe import Markup

from curate.report.markup import element

APART = "B\u00a0−\u00a0A"


def change(a: float, b: float, shown: Callable[[float], str]) -> Markup:
    """A difference with its sign, as values of its kind are shown; = for none."""
    if a == b:
        return element("span", "=", class_="same")
    return element("span", f"{'+' if b > a else '−'}{shown(abs(b - a))}")


def points(a: float, b: float) -> Markup:
    """A difference of two shares in percentage points."""
    return change(round(100 * a, 1), round(100 * b, 1), lambda number: f"{number:.1f} points")
