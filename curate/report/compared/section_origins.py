"""Languages, sources and domains of two runs."""

from markupsafe import Markup

from curate.inspect.breakdown import breakdown
from curate.inspect.opened import OpenedRun
from curate.report.compared.charts import paired
from curate.report.compared.differing import APART, change, points
from curate.report.domains import domains
from curate.report.figures import Figures
from curate.report.markup import count, element, join, share, table

MOST_BARS, MOST_ROWS = 12, 200
EVERY = 1 << 62
Pages = dict[str, tuple[int, int]]  # kept and all pages by name


def groups(a: OpenedRun, b: OpenedRun, by: str, figures: Figures) -> Markup:
    """Pages by language or source."""
    sides = [{row[by] or "(not known)": (row["kept"], row["pages"]) for row in breakdown(run, by)} for run in (a, b)]
    return _side_by_side(by, sides[0], sides[1], figures)


def origins(a: OpenedRun, b: OpenedRun, figures: Figures) -> Markup:
    """Pages by source where there are several, then by domain."""
    sides: list[Pages] = []
    for run in (a, b):
        found, _ = domains(run, EVERY)
        sides.append({one.name or "(none)": (one.kept, one.kept + one.dropped) for one in found})
    by_domain = _side_by_side("domain", sides[0], sides[1], figures)
    sources = {source for run in (a, b) for source, *_ in run.manifest["inputs"]}
    if len(sources) < 2:
        return by_domain
    titles = element("h3", "Sources"), element("h3", "Domains")
    return join([titles[0], groups(a, b, "source", figures), titles[1], by_domain])


def _side_by_side(key: str, a: Pages, b: Pages, figures: Figures) -> Markup:
    """The groups whose kept pages differ most go first in the table, those with most pages in the chart."""
    nothing = (0, 0)
    names = sorted({*a, *b}, key=lambda name: (-a.get(name, nothing)[1] - b.get(name, nothing)[1], name))
    if not names:
        return element("p", "No page was read.")
    drawn = [(name, float(a.get(name, nothing)[0]), float(b.get(name, nothing)[0])) for name in names[:MOST_BARS]]
    title = f"Kept pages by {key}"
    chart = figures.chart(
        paired(title, drawn, "pages kept"), f"{title}, most pages first.", ["kept", "here"], ["A", "B"]
    )
    apart = sorted(names, key=lambda name: -abs(b.get(name, nothing)[0] - a.get(name, nothing)[0]))[:MOST_ROWS]
    lines = [_line(name, a.get(name, nothing), b.get(name, nothing)) for name in apart]
    head = [key, "pages A", "pages B", "kept A", "kept B", APART, "share A", "share B", "change"]
    more = len(names) - len(apart)
    return join(
        [
            chart,
            table(f"{title}, most different first", head, lines, found=key),
            element("p", f"and {count(more)} more", class_="note") if more else None,
        ]
    )


def _line(name: str, a: tuple[int, int], b: tuple[int, int]) -> list[object]:
    shares = [kept / pages if pages else None for kept, pages in (a, b)]
    apart = "–" if shares[0] is None or shares[1] is None else points(shares[0], shares[1])
    return [
        name,
        count(a[1]),
        count(b[1]),
        count(a[0]),
        count(b[0]),
        change(a[0], b[0], count),
        share(*a),
        share(*b),
        apart,
    ]
