"""Where pages come from: languages, sources, domains."""

from markupsafe import Markup

from curate.inspect.breakdown import breakdown
from curate.inspect.opened import OpenedRun
from curate.report import charts
from curate.report.domains import domains
from curate.report.figures import Figures
from curate.report.markup import count, element, folded, join, share, table

MOST_BARS, MOST_ROWS = 15, 300
COLOURS, LABELS = ["kept", "here"], ["kept", "dropped"]
Row = tuple[str, int, int, int | None]  # name, pages kept, pages dropped, words kept


def languages(run: OpenedRun, figures: Figures) -> Markup:
    """Pages by language."""
    return _groups("language", _rows(run, "language"), figures)


def sources(run: OpenedRun, figures: Figures) -> Markup:
    """Pages by source where there are several, then by domain."""
    by_source = _rows(run, "source")
    found, number = domains(run, MOST_ROWS)
    rows: list[Row] = [(one.name or "(none)", one.kept, one.dropped, None) for one in found]
    said = element("p", f"{count(number)} domains; the {len(rows)} with the most pages are listed.")
    parts = (
        [element("h3", "Sources"), _groups("source", by_source, figures), element("h3", "Domains")]
        if len(by_source) > 1
        else []
    )
    return join([*parts, said, _groups("domain", rows, figures)])


def _rows(run: OpenedRun, by: str) -> list[Row]:
    return [
        (row[by] or "(not known)", row["kept"], row["pages"] - row["kept"], row["words"]) for row in breakdown(run, by)
    ]


def _groups(key: str, rows: list[Row], figures: Figures) -> Markup:
    if not rows:
        return element("p", "No page was read.")
    spec = charts.kept_and_dropped(f"Kept and dropped pages by {key}", [row[:3] for row in rows[:MOST_BARS]])
    with_words = rows[0][3] is not None
    lines = [
        [
            name,
            count(kept + dropped),
            count(kept),
            count(dropped),
            share(kept, kept + dropped),
            *([count(number)] if with_words else []),
        ]
        for name, kept, dropped, number in rows[:MOST_ROWS]
    ]
    head = [key, "pages", "kept", "dropped", "share kept", *(["words kept"] if with_words else [])]
    more = f" The first {MOST_BARS} are drawn." if len(rows) > MOST_BARS else ""
    return join(
        [
            figures.chart(spec, f"Kept and dropped pages by {key}, most pages first.{more}", COLOURS, LABELS),
            _long(table(f"Pages by {key}", head, lines, found=key), f"All {len(lines)} rows", len(lines) > 12),
        ]
    )


def _long(shown: Markup, summary: str, is_long: bool) -> Markup:
    return folded(summary, shown) if is_long else shown
