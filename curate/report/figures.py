"""Figures of the page: a chart with its caption and its table, and the specifications for the script to draw."""

import json
from typing import Any

from markupsafe import Markup

from curate.report.markup import element, folded

Spec = dict[str, Any]


class Figures:
    """Collects the specifications of all charts of a page; `chart` gives the place where each is drawn."""

    def __init__(self) -> None:
        self.specs: list[Spec] = []

    def chart(
        self,
        spec: Spec,
        caption: object,
        colours: list[str] | None = None,
        labels: list[str] | None = None,
        facts: object = None,
        rows: Markup | None = None,
        title: object = None,
    ) -> Markup:
        """A figure: `colours` and `labels` make its legend, `facts` stand under it, `rows` is its table, folded."""
        number = len(self.specs)
        self.specs.append(spec)
        return element(
            "figure",
            element("figcaption", title, element("p", caption, id=f"caption-{number}") if caption else None),
            legend(colours, labels) if colours and labels else None,
            element("div", class_="chart", data_chart=number, role="img", aria_label=spec["description"]),
            element("div", facts, class_="facts") if facts else None,
            folded("Table of this chart", rows) if rows else None,
        )

    def json(self) -> Markup:
        """The specifications as JSON that may stand in a script element."""
        plain = json.dumps(self.specs, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        return Markup(plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def legend(colours: list[str], labels: list[str]) -> Markup:
    """What the colours of a chart mean."""
    items = [
        element("li", element("span", class_=f"swatch {colour}", aria_hidden="true"), label)
        for colour, label in zip(colours, labels)
    ]
    return element("ul", *items, class_="legend")
