"""Distributions: lengths of the texts, and every measure with its limits."""

from collections.abc import Iterable

from markupsafe import Markup

from curate.inspect.limits import absence
from curate.report import charts
from curate.report.distributions import HERE, QUANTILES, Categories, Distribution, LimitLine
from curate.report.figures import Figures, legend
from curate.report.markup import count, element, folded, join, measured, share, table, words
from curate.sizes import numbered

COLOURS = ["kept", "here", "elsewhere"]
UNRECORDED = (
    "No rule stage measured a page in this run, so nothing is recorded here. Stages such as language and gopher "
    "record their measures for kept and dropped pages alike."
)


def lengths(found: list[Distribution | Categories], figures: Figures) -> Markup:
    """Words and bytes of the texts of all pages that reached a rule stage."""
    own = [one for one in found if isinstance(one, Distribution) and not one.stage]
    if not own:
        return element("p", UNRECORDED)
    said = {"words": "Words of a text", "bytes": "Bytes of a text, as UTF-8"}
    return join(
        [
            legend(["kept", "elsewhere"], ["kept", "dropped"]),
            element("div", *[_figure(one, said[one.measure], figures, 3) for one in own], class_="grid two"),
        ]
    )


def measures(found: list[Distribution | Categories], figures: Figures) -> Markup:
    """Every measure of every rule stage."""
    own = [one for one in found if one.stage]
    if not own:
        return element("p", UNRECORDED)
    parts: list[Markup | None] = [
        element(
            "p",
            "Each chart shows all pages that were measured, also those that another stage had dropped before. The "
            "dashed lines are the limits of the config: try another with ",
            element("code", "curate what-if"),
            ".",
        ),
        legend(COLOURS, list(charts.VERDICTS)),
    ]
    for stage in dict.fromkeys(one.stage for one in own):
        of_stage = [one for one in own if one.stage == stage]
        shown = [
            _figure(one, words(one.measure), figures, 4) if isinstance(one, Distribution) else _names(one, figures)
            for one in of_stage
            if one.pages
        ]
        blank = [one for one in of_stage if not one.pages]
        parts += [element("h3", stage), element("div", *shown, class_="grid") if shown else None]
        parts.append(_blank(stage, [one.measure for one in blank]) if blank else None)
    return join(parts)


def _blank(stage: str, measures: list[str]) -> Markup:
    """One sentence a reason for the measures that no page has, in place of boxes with nothing in them."""
    whys: dict[str, list[str]] = {}
    for measure in measures:
        whys.setdefault(absence(stage, measure), []).append(words(measure))
    said = [f"No page has a value of {', '.join(names)}: {why}." for why, names in whys.items()]
    return element("p", " ".join(said), class_="note")


def _figure(one: Distribution, title: str, figures: Figures, level: int) -> Markup:
    return figures.chart(
        charts.histogram(one, title), None, title=element(f"h{level}", title), facts=_facts(one), rows=_rows(one, title)
    )


def _facts(one: Distribution) -> list[Markup]:
    """What one sees at a glance in words: spread, limits, and what the chart leaves out."""
    low, middle, high = (measured(one.quantiles[QUANTILES.index(q)]) for q in (0.05, 0.5, 0.95))
    spread = f"Median {middle}; 90 % of {numbered(one.pages, 'page')} between {low} and {high}."
    facts = [element("p", spread), *(element("p", _cost(line, one), class_="cost") for line in one.lines)]
    left_out = []
    if one.spike is not None:
        alike = f"{numbered(one.at_spike, 'page')} ({share(one.at_spike, one.pages)})"
        left_out.append(f"{alike} with exactly {measured(one.spike)} not drawn")
    if one.below:
        left_out.append(f"the first bar takes in {numbered(one.below, 'page')} below")
    if one.above:
        left_out.append(f"the last bar takes in {numbered(one.above, 'page')} above, up to {measured(one.most)}")
    if one.logarithmic:
        left_out.append("logarithmic axis")
    if left_out:
        said = "; ".join(left_out)
        facts.append(element("p", said[0].upper() + said[1:] + ".", class_="note"))
    return facts


def _cost(line: LimitLine, one: Distribution | Categories) -> list[object]:
    side = "with another value" if line.names else "below" if line.least else "above"
    limit = ", ".join(line.names) or measured(line.value)
    said: list[object] = [element("code", f"{line.option} {limit}"), f": {numbered(line.beyond, 'page')} {side}"]
    if line.beyond:
        said.append(f" ({share(line.beyond, one.pages)}), {count(line.alone)} of them within all other limits")
    return said


def _rows(one: Distribution, title: str) -> Markup:
    quantiles = ", ".join(f"{100 * q:g} %: {measured(value)}" for q, value in zip(QUANTILES, one.quantiles))
    lines = [
        (f"{measured(low)} to {measured(high)}", *map(count, bars))
        for low, high, *bars in zip(one.edges[:-1], one.edges[1:], *one.bars)
        if any(bars)
    ]
    unmeasured = f" {numbered(one.unmeasured, 'page')} without a value." if one.unmeasured else ""
    return join(
        [
            element(
                "p",
                f"Smallest {measured(one.least)}, largest {measured(one.most)}. Quantiles: {quantiles}.{unmeasured}",
                class_="note",
            ),
            _merged(title, lines, one.stage),
        ]
    )


def _merged(title: str, lines: Iterable[tuple[str, ...]], stage: str) -> Markup:
    head = [
        "from, to below",
        "kept",
        f"dropped by {stage}" if stage else "",
        "dropped by another stage" if stage else "dropped",
    ]
    if stage:
        return table(f"{title}: pages", head, lines)
    return table(
        f"{title}: pages",
        [name for name in head if name],
        [[cell for place, cell in enumerate(line) if place != HERE + 1] for line in lines],
    )


def _names(one: Categories, figures: Figures) -> Markup:
    """Pages by name: bars, or where the names say nothing by themselves how many there are."""
    title = words(one.measure)
    heading = element("h4", title)
    more = f", the {len(one.rows)} most frequent of {count(one.values)}" if one.values > len(one.rows) else ""
    head = [title, "kept", f"dropped by {one.stage}", "dropped by another stage"]
    rows = table(f"{title}: pages", head, [(value, *map(count, counts)) for value, counts in one.rows])
    costs = [element("p", _cost(line, one), class_="cost") for line in one.lines]
    if not one.drawn:
        said = f"{numbered(one.pages, 'page')} with {numbered(one.values, 'different value')}; names, so not drawn."
        facts = element("div", element("p", said), costs, class_="facts")
        return element("figure", element("figcaption", heading), facts, folded(f"Most frequent{more}", rows))
    summary = [element("p", f"{numbered(one.pages, 'page')}{more}."), *costs]
    return figures.chart(charts.categories(one, title), None, title=heading, facts=summary, rows=rows)
