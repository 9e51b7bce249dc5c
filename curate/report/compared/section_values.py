"""Lengths and measures of the kept pages of two runs."""

from markupsafe import Markup

from curate.inspect.opened import OpenedRun
from curate.report.compared.charts import overlaid
from curate.report.compared.differing import APART, change
from curate.report.compared.values import Values, apart, values_of
from curate.report.figures import Figures, legend
from curate.report.markup import element, folded, join, measured, table, words
from curate.sizes import numbered

MOST_CHARTS = 24
SAID = (
    "Of the pages that each run kept. The distance is the largest difference of the shares of pages up to a value "
    "(Kolmogorov and Smirnov's): 0 where both are alike, 1 where no value is shared. Most different first; drawn are "
    "the lengths and the measures that differ most, in % of the pages, with the limits of both configs."
)
HEAD = ["measure", "distance", "mean A", "mean B", "median A", "median B", APART, "5–95 % A", "5–95 % B"]


def values(a: OpenedRun, b: OpenedRun, figures: Figures) -> Markup:
    """A table of all measures of both, and charts of those that differ most."""
    found = sorted(values_of(a, b), key=lambda one: -one.distance)
    only = [_only(side, names) for side, names in zip("AB", apart(a, b), strict=True)]
    if not found:
        return join([element("p", "The two runs recorded no measure in common."), *only])
    differing = [one for one in found if one.distance > 0]
    alike = [one for one in found if one.distance == 0]
    drawn = sorted(differing, key=lambda one: ("." in one.name, -one.distance))[:MOST_CHARTS]
    charts = [_chart(one, figures) for one in drawn]
    same = f"{numbered(len(alike), 'measure')} of which the kept pages have the same values"
    return join(
        [
            element("p", SAID),
            table("Measures of the kept pages", HEAD, map(_line, differing), found="measure") if differing else None,
            folded(same, table("Measures alike", HEAD, map(_line, alike), found="measure")) if alike else None,
            *only,
            legend(["kept", "here"], ["A", "B"]) if drawn else None,
            element("div", charts, class_="grid"),
        ]
    )


def _only(side: str, names: list[str]) -> Markup | None:
    return element("p", f"Measured by {side} alone: {', '.join(names)}.", class_="note") if names else None


def _title(one: Values) -> str:
    return f"{one.shown.stage}: {words(one.shown.measure)}" if one.shown.stage else f"{one.name} of a text"


def _line(one: Values) -> list[object]:
    (low_a, middle_a, high_a), (low_b, middle_b, high_b) = one.quantiles
    return [
        _title(one),
        f"{one.distance:.3f}",
        *map(measured, one.means),
        measured(middle_a),
        measured(middle_b),
        change(middle_a, middle_b, measured),
        f"{measured(low_a)} to {measured(high_a)}",
        f"{measured(low_b)} to {measured(high_b)}",
    ]


def _chart(one: Values, figures: Figures) -> Markup:
    title = _title(one)
    (_, middle_a, _), (_, middle_b, _) = one.quantiles
    said = f"Median {measured(middle_a)} in A, {measured(middle_b)} in B; distance {one.distance:.3f}."
    facts = [element("p", said), element("p", "Logarithmic axis.", class_="note") if one.shown.logarithmic else None]
    return figures.chart(overlaid(one.shown, title), None, title=element("h3", title), facts=facts)
