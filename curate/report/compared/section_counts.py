"""Key figures, configs, stages and reasons of two runs."""

from collections.abc import Callable

from markupsafe import Markup

from curate.inspect.difference import KEPT, Difference
from curate.inspect.funnel import Passed, funnel, kept_tokens
from curate.inspect.opened import OpenedRun
from curate.report.compared.charts import paired
from curate.report.compared.differing import APART, change, points
from curate.report.figures import Figures
from curate.report.markup import TableRow, count, element, join, measured, share, size, table, words

Figure = tuple[str, Callable[[OpenedRun], float], Callable[[float], str]]
FIGURES: tuple[Figure, ...] = (
    ("pages read", lambda run: run.stats["read"]["documents"], count),
    ("crawl files", lambda run: run.stats["read"]["bytes"], size),
    ("pages kept", lambda run: run.stats["kept"]["documents"], count),
    ("words kept", lambda run: run.stats["kept"]["words"], count),
    ("text kept", lambda run: run.stats["kept"]["bytes"], size),
    ("tokens kept", lambda run: kept_tokens(run.stats), count),
    ("alarms", lambda run: len(run.stats["alarms"]), count),
    ("CPU seconds of the scan", lambda run: run.timings["scan_cpu_seconds"], measured),
    ("seconds in all", lambda run: round(sum(run.timings["wall_seconds"].values()), 1), measured),
)


def overview(a: OpenedRun, b: OpenedRun) -> Markup:
    """What came in and was kept in both."""
    shares = [_kept_share(run) for run in (a, b)]
    kept = [run.stats["kept"]["documents"] for run in (a, b)]
    said = (
        f"A kept {count(kept[0])} of {count(a.stats['read']['documents'])} pages ({share(kept[0], _read(a))}), "
        f"B {count(kept[1])} of {count(_read(b))} ({share(kept[1], _read(b))})."
    )
    rows: list[list[object]] = []
    for name, of, shown in FIGURES:
        values = of(a), of(b)
        rows.append([name, *map(shown, values), change(*values, shown), _relative(*values)])
        if name == "pages kept":
            rows.append(["kept share", *(f"{100 * one:.1f} %" for one in shares), points(*shares), ""])
    shown_table = table("Key figures", ["figure", "A", "B", APART, "in %"], rows)
    return join([element("p", said, class_="lead"), shown_table])


def _relative(a: float, b: float) -> str:
    return "=" if a == b else f"{100 * (b - a) / a:+.1f} %".replace("-", "−") if a else "–"


def _read(run: OpenedRun) -> int:
    return run.stats["read"]["documents"]


def _kept_share(run: OpenedRun) -> float:
    return run.stats["kept"]["documents"] / max(1, _read(run))


def config(compared: Difference) -> Markup:
    """How the configs differ, and what else may shape the output."""
    sentences = [line.removeprefix("config: ").replace("else: ", "besides: ", 1) for line in compared.config()]
    return element("ul", [element("li", line) for line in sentences], class_="plain")


def stages(compared: Difference, figures: Figures) -> Markup:
    """Pages left after each stage in both, and what each reason cost."""
    runs = compared.before, compared.after
    left = [{row["stage"]: 100 * row["kept"] / max(1, _read(run)) for row in funnel(run.stats)} for run in runs]
    names = list(dict.fromkeys(row["stage"] for row in compared.funnel() if row["stage"] != KEPT))
    title = "Pages left after each stage, in % of those read"
    chart = figures.chart(
        paired(title, [(name, left[0].get(name), left[1].get(name)) for name in names], "% of the pages read"),
        f"{title}.",
        ["kept", "here"],
        ["A", "B"],
    )
    return join([chart, _table(compared)])


def _words(number: int) -> str:
    """Words of texts; what was dropped before it had a text has none."""
    return count(number) if number else "–"


def _table(compared: Difference) -> Markup:
    read = [max(1, _read(run)) for run in (compared.before, compared.after)]
    passed: list[dict[str, Passed]] = [
        {row["stage"]: row for row in funnel(run.stats)} for run in (compared.before, compared.after)
    ]
    head = ["stage and reason", "A", "B", APART, "A of read", "B of read", "change", "words A", "words B"]
    lines: list[TableRow | list[object]] = []
    for row in compared.funnel():
        numbers = [row["before"], row["after"]]
        shares = [number / of for number, of in zip(numbers, read, strict=True)]
        cells: list[object] = [
            *map(count, numbers),
            change(numbers[0], numbers[1], count),
            *(share(*pair) for pair in zip(numbers, read)),
        ]
        cells += [points(shares[0], shares[1]), *(_words(row[name]) for name in ("words_before", "words_after"))]
        if row["stage"] == KEPT:
            lines.append(TableRow("total", [element("strong", KEPT), *cells]))
        elif row["reason"]:
            lines.append(TableRow("part", [words(row["reason"]), *cells]))
        else:
            absent = [side for side, of in zip("AB", passed, strict=True) if row["stage"] not in of]
            note = f" (not in {absent[0]})" if len(absent) == 1 else ""
            lines.append([[element("strong", row["stage"]), note], *cells])
    return table("Pages dropped by stage and reason", head, lines, kind="funnel")
