"""Charts as Vega-Lite specifications, and the library that draws them in the browser.

Colours are not named here: marks carry the styles and the range that `page.js` fills in for a light or a dark page.
The library is taken from the installed package vl-convert-python (BSD-3-Clause), which brings Vega, Vega-Lite and
vega-embed (all BSD-3-Clause) as one script.
"""

from types import ModuleType
from typing import Any

from curate.errors import UserError
from curate.report.distributions import KEPT, Categories, Distribution
from curate.report.markup import measured, words

Spec = dict[str, Any]
VERDICTS = ("kept", "dropped by this stage", "dropped by another stage")
ROW_HEIGHT = 22  # pixels of a horizontal bar with its gap
HEIGHT = 150  # pixels of a histogram


def _bundle() -> ModuleType:
    try:
        import vl_convert  # 84 MB: an extra, which nothing but a report needs
    except ImportError:
        raise UserError(
            "a report needs the package that draws its charts: python -m pip install vl-convert-python"
        ) from None
    return vl_convert


def library() -> str:
    """Vega, Vega-Lite and vega-embed as one script that sets `vegaEmbed`. Raises UserError where it is missing."""
    script: str = _bundle().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return script


def versions() -> str:
    """Which versions `library` is."""
    vl_convert = _bundle()
    return (
        f"Vega {vl_convert.get_vega_version()}, Vega-Lite {vl_convert.get_vegalite_versions()[-1]}, "
        f"vega-embed {vl_convert.get_vega_embed_version()}"
    )


def chart(description: str, layers: list[Spec], height: int) -> Spec:
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "description": description,
        "layer": layers,
    }


def histogram(one: Distribution, title: str) -> Spec:
    """The bars of a distribution, stacked by verdict, and a line at each limit."""
    rows = [
        {"from": low, "to": high, "verdict": VERDICTS[verdict], "pages": pages}
        for verdict, bars in enumerate(one.bars)
        for low, high, pages in zip(one.edges[:-1], one.edges[1:], bars)
        if pages
    ]
    x = {
        "field": "from",
        "bin": {"binned": True},
        "type": "quantitative",
        "title": None,
        "scale": x_scale(one),
        "axis": {**x_axis(one), "labelOverlap": "greedy", "labelFlush": True},
    }
    bars: Spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "tooltip": True, "binSpacing": 0.5},
        "encoding": {
            "x": x,
            "x2": {"field": "to"},
            "y": _pages(max(map(sum, zip(*one.bars)))),
            "color": _verdict(VERDICTS),
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [
                tip("from", one.integral),
                tip("to", one.integral),
                {"field": "verdict"},
                tip("pages", True),
            ],
        },
        "transform": [{"calculate": f"indexof({list(VERDICTS)!r}, datum.verdict)", "as": "order"}],
    }
    return chart(f"Histogram of {title}", [bars, *limit_lines(one)], HEIGHT)


def x_scale(one: Distribution) -> Spec:
    domain = [one.edges[0], one.edges[-1]]
    if not one.logarithmic:
        return {"domain": domain, "nice": False, "zero": False}
    if one.edges[0] > 0:
        return {"type": "log", "domain": domain, "nice": False}
    return {"type": "symlog", "constant": one.edges[1], "domain": domain, "nice": False}


def x_axis(one: Distribution) -> Spec:
    if not one.logarithmic:
        return {"tickCount": 5, "labelExpr": axis_label(",~r" if one.edges[-1] < 1e5 else "~s")}
    powers = [10.0**power for power in range(-8, 13)]
    values = [power for power in powers if one.edges[0] <= power <= one.edges[-1]]
    if len(values) < 3:
        values = [
            power * factor
            for power in powers
            for factor in (1, 2, 5)
            if one.edges[0] <= power * factor <= one.edges[-1]
        ]
    return {
        "values": [0.0, *values] if one.edges[0] == 0 else values,
        "labelExpr": axis_label("~s" if one.integral else "~r"),
    }


def limit_lines(one: Distribution) -> list[Spec]:
    """A line and its label for each limit; among whole numbers an upper one stands after the bar of its value."""
    layers: list[Spec] = []
    for line in one.lines:
        at = line.value + 1 if one.integral and not line.least and line.value.is_integer() else line.value
        at = min(max(at, one.edges[0]), one.edges[-1])
        right = _fraction(one, at) > 0.5
        x = {"field": "at", "type": "quantitative", "scale": x_scale(one)}
        label = f"{line.option.partition('_')[0]} {measured(line.value)}"
        data = {"values": [{"at": at, "label": label}]}
        text = {"type": "text", "style": "limit-label", "align": "right" if right else "left", "dx": 3 if right else -3}
        layers.append({"data": data, "mark": {"type": "rule", "style": "limit"}, "encoding": {"x": x}})
        layers.append(
            {"data": data, "mark": text, "encoding": {"x": x, "y": {"value": -6}, "text": {"field": "label"}}}
        )
    return layers


def _fraction(one: Distribution, at: float) -> float:
    """Where a value lies between the left (0) and the right (1) of the chart, roughly: by bars."""
    return sum(edge < at for edge in one.edges) / len(one.edges)


def categories(one: Categories, title: str) -> Spec:
    """Pages by value of a measure that is a name."""
    rows = [
        {"name": value, "verdict": VERDICTS[verdict], "pages": pages[verdict]}
        for value, pages in one.rows
        for verdict in range(len(VERDICTS))
        if pages[verdict]
    ]
    return _bars(f"Pages by {title}", rows, [value for value, _ in one.rows], VERDICTS)


def kept_and_dropped(title: str, rows: list[tuple[str, int, int]]) -> Spec:
    """Horizontal bars of kept and dropped pages, in the order of the rows (name, kept, dropped)."""
    labels = (VERDICTS[KEPT], "dropped")
    values = [
        {"name": name, "verdict": label, "pages": pages}
        for name, *both in rows
        for label, pages in zip(labels, both)
        if pages
    ]
    return _bars(title, values, [name for name, _, _ in rows], labels)


def single(title: str, rows: list[tuple[str, float]], unit: str) -> Spec:
    """Horizontal bars of one value each, in the order of the rows."""
    values = [{"name": name, "value": value} for name, value in rows]
    bar: Spec = {
        "data": {"values": values},
        "mark": {"type": "bar", "style": "plain", "tooltip": True},
        "encoding": {
            "y": y_names([name for name, _ in rows]),
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": unit,
                "axis": {"tickCount": 4, "labelExpr": axis_label(",~r")},
            },
            "tooltip": [{"field": "name"}, {"field": "value", "format": ",~g", "title": unit}],
        },
    }
    return chart(title, [bar], ROW_HEIGHT * len(rows))


def _bars(title: str, rows: list[Spec], names: list[str], labels: tuple[str, ...]) -> Spec:
    bar: Spec = {
        "data": {"values": rows},
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "y": y_names(names),
            "x": {**_pages(_longest(rows)), "title": "pages"},
            "color": _verdict(labels),
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [{"field": "name"}, {"field": "verdict"}, tip("pages", True)],
        },
        "transform": [{"calculate": f"indexof({list(labels)!r}, datum.verdict)", "as": "order"}],
    }
    return chart(title, [bar], ROW_HEIGHT * len(names))


def columns(title: str, rows: list[tuple[str, int]], unit: str) -> Spec:
    """Upright bars on a logarithmic scale, in the order of the rows (name, count at least 1)."""
    values = [{"name": name, "count": count} for name, count in rows]
    bar: Spec = {
        "data": {"values": values},
        "mark": {"type": "bar", "style": "plain", "tooltip": True},
        "encoding": {
            "x": {"field": "name", "type": "nominal", "sort": None, "title": unit, "axis": {"labelAngle": 0}},
            "y": {
                "field": "count",
                "type": "quantitative",
                "title": None,
                "scale": {"type": "symlog"},
                "axis": {"values": [0, *(10**power for power in range(9))], "labelExpr": axis_label("~s")},
            },
            "tooltip": [{"field": "name", "title": unit}, tip("count", True)],
        },
    }
    return chart(title, [bar], HEIGHT)


def y_names(names: list[str]) -> Spec:
    return {"field": "name", "type": "nominal", "sort": names, "title": None, "scale": {"domain": names}}


def _pages(most: int) -> Spec:
    """The axis of counts of pages up to `most`; Vega would put halves between few pages."""
    ticks: Spec = {"values": list(range(most + 1))} if most < 5 else {"tickCount": 4}
    return {
        "field": "pages",
        "type": "quantitative",
        "title": None,
        "stack": "zero",
        "axis": {**ticks, "labelExpr": axis_label("~s")},
    }


def axis_label(form: str) -> str:
    """Each label for itself; Vega's `format` would use one unit for all, "0k" too."""
    return f"format(datum.value, '{form}')"


def _longest(rows: list[Spec]) -> int:
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["name"]] = sums.get(row["name"], 0) + row["pages"]
    return max(sums.values(), default=0)


def _verdict(labels: tuple[str, ...]) -> Spec:
    return {
        "field": "verdict",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": list(labels), "range": "category"},
    }


def tip(field: str, integral: bool) -> Spec:
    return {"field": field, "type": "quantitative", "format": ",.0f" if integral else ",.4~g", "title": words(field)}
