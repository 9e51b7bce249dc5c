"""Which of two runs is closer to a target, as `curate compare` tells."""

from markupsafe import Markup

from curate.compare.compare import ComparedMeasure
from curate.report.markup import element, join, measured, table

VERDICTS = {"a": "A", "b": "B", "none": "no difference", "other": "they differ"}


def quality(rows: list[ComparedMeasure], target: str) -> Markup:
    """The measures of `curate compare` with the interval of each difference."""
    said = [
        "Equally large samples of both against ",
        element("code", target),
        ". The intervals hold together at 95 %; none of these is the accuracy of a trained model (docs/compare.md).",
    ]
    lines = [
        [
            row.measure,
            VERDICTS[row.verdict],
            row.shows,
            measured(row.a),
            measured(row.b),
            f"{measured(row.low)} to {measured(row.high)}",
        ]
        for row in rows
    ]
    head = ["measure", "better", "what it shows", "A", "B", "B\u00a0−\u00a0A between"]
    return join([element("p", said), table("Quality by proxies", head, lines, texts=3)])
