"""Charts of two runs: A in the first colour, B in the second."""

from collections.abc import Sequence

from curate.report.charts import Spec, axis_label, chart, limit_lines, tip, x_axis, x_scale, y_names
from curate.report.distributions import Distribution

SIDES = ("A", "B")
ROW_HEIGHT, HEIGHT = 34, 150  # pixels


def paired(title: str, rows: Sequence[tuple[str, float | None, float | None]], unit: str) -> Spec:
    """Two horizontal bars a row, in the order of the rows; None where a run has none."""
    values = [
        {"name": name, "run": side, "value": round(value, 3)}
        for name, *both in rows
        for side, value in zip(SIDES, both, strict=True)
        if value is not None
    ]
    bar: Spec = {
        "data": {"values": values},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": y_names([name for name, *_ in rows]),
            "yOffset": {"field": "run", "type": "nominal", "scale": {"domain": list(SIDES)}},
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": unit,
                "axis": {"tickCount": 4, "labelExpr": axis_label(",~r")},
            },
            "color": _colour(),
            "tooltip": [{"field": "name"}, {"field": "run"}, {"field": "value", "format": ",.4~g", "title": unit}],
        },
    }
    return chart(title, [bar], ROW_HEIGHT * len(rows))


def overlaid(one: Distribution, title: str) -> Spec:
    """The shares of each run's pages between the edges, as two lines of steps, and a line at each limit."""
    values = [
        {"at": edge, "run": side, "percent": round(100 * pages / max(1, sum(bars)), 4)}
        for side, bars in zip(SIDES, one.bars, strict=True)
        for edge, pages in zip(one.edges, (*bars, bars[-1]), strict=True)
    ]
    steps: Spec = {
        "data": {"values": values},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "at",
                "type": "quantitative",
                "title": None,
                "scale": x_scale(one),
                "axis": {**x_axis(one), "labelOverlap": "greedy", "labelFlush": True},
            },
            "strokeDash": {**_colour(), "scale": {"domain": list(SIDES), "range": [[1, 0], [6, 3]]}},
            "y": {"field": "percent", "type": "quantitative", "title": None, "axis": {"tickCount": 4}},
            "color": _colour(),
            "tooltip": [tip("at", one.integral), {"field": "run"}, {"field": "percent", "format": ".3~g"}],
        },
    }
    return chart(f"Distribution of {title} in A and B", [steps, *limit_lines(one)], HEIGHT)


def _colour() -> Spec:
    return {
        "field": "run",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": list(SIDES), "range": "category"},
    }
