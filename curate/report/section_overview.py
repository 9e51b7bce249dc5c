"""What came in and was kept, alarms, and the funnel."""

from markupsafe import Markup

from curate.inspect.alarms import sentences
from curate.inspect.funnel import Lost, Passed, cut_out, funnel
from curate.inspect.limits import declared_of
from curate.inspect.opened import OpenedRun
from curate.output.facts import Kept, Stats
from curate.report.charts import kept_and_dropped
from curate.report.figures import Figures
from curate.report.markup import TableRow, count, element, folded, join, share, short, size, table, words


def overview(run: OpenedRun) -> Markup:
    """Key figures, and the costliest reasons in a sentence."""
    stats, manifest = run.stats, run.manifest
    read, kept = stats["read"], stats["kept"]
    tokens = sum(manifest["tokens_by_source"].values())
    damaged = sum(row["documents"] for row in stats["dropped"] if row["reason"] == "damaged")
    figures = [
        ("pages read", short(read["documents"]), size(read["bytes"]) + " of crawl files"),
        ("pages kept", short(kept["documents"]), share(kept["documents"], read["documents"]) + " of those read"),
        ("words kept", short(kept["words"]), size(kept["bytes"]) + " of text"),
        ("tokens kept", short(tokens), manifest["tokens_are"]),
        ("alarms", count(len(stats["alarms"])), "see below" if stats["alarms"] else "none"),
        ("damaged records", count(damaged), "each is a row of the ledger" if damaged else "none"),
    ]
    cards = [
        element("div", element("dt", name), element("dd", value), element("dd", note, class_="note"), class_="card")
        for name, value, note in figures
    ]
    return join([element("p", _sentence(stats, run.limit), class_="lead"), element("dl", *cards, class_="cards")])


def _sentence(stats: Stats, limit: int | None) -> str:
    read, kept = stats["read"]["documents"], stats["kept"]["documents"]
    reasons = [
        (total["documents"], f"{words(reason)} ({row['stage']}, {share(total['documents'], read)})")
        for row in funnel(stats)
        for reason, total in row["reasons"].items()
    ]
    costliest = [text for _, text in sorted(reasons, key=lambda pair: (-pair[0], pair[1]))[:3]]
    trial = "" if limit is None else f" in a trial run (--limit {limit})"
    said = f"Of {count(read)} pages read{trial}, {count(kept)} were kept ({share(kept, read)})."
    said += f" Most were dropped for: {', '.join(costliest)}." if costliest else ""
    return " ".join([said, *(f"{part}." for part in cut_out(stats))])


def alarms(run: OpenedRun) -> Markup:
    """Alarms, advice, and the notes that corpus stages made."""
    raised = [
        element("li", element("strong", name), f": {said}.", class_="alarm") for name, said in sentences(run.stats)
    ]
    advised = [element("li", said, class_="advice") for said in advice(run.stats)]
    shown = (
        element("ul", *raised, *advised, class_="alarms") if raised or advised else element("p", "No alarm was raised.")
    )
    notes = [
        (stage, words(name), count(value))
        for stage, of_stage in run.stats["notes"].items()
        for name, value in of_stage.items()
        if isinstance(value, int | float)
    ]
    noted = table("What the corpus stages noted", ["stage", "note", "number"], notes, texts=2)
    return join([shown, folded("What the corpus stages noted", noted) if notes else None])


def advice(stats: Stats) -> list[str]:
    """What the figures advise, a sentence each."""
    said = []
    for row in funnel(stats):
        worth = declared_of(row["stage"]).worth
        if worth is not None and row["in"] and row["dropped"] < worth * row["in"]:
            dropped = f"{row['stage']} dropped only {share(row['dropped'], row['in'])} of its pages"
            costs = f"under {worth * 100:.0f} % it costs more time than it saves"
            said.append(f"{dropped}; {costs}: take it out of the config.")
    return said


def funnel_section(run: OpenedRun, figures: Figures) -> Markup:
    """Pages left after each stage, and what each reason cost."""
    rows = funnel(run.stats)
    read = run.stats["read"]["documents"]
    chart = figures.chart(
        kept_and_dropped(
            "Pages that each stage passed on and dropped", [(row["stage"], row["kept"], row["dropped"]) for row in rows]
        ),
        "Pages that each stage passed on and dropped, in the order of the config.",
        ["kept", "here"],
        ["passed on", "dropped"],
    )
    return join([chart, _funnel_table(rows, read, run.stats["kept"])])


def _funnel_table(rows: list[Passed], read: int, kept: Kept) -> Markup:
    head = ["stage and reason", "in", "dropped", "of its pages", "left of all", "words", "text", "in the crawl"]
    lines: list[TableRow | list[object]] = []
    for row in rows:
        lost = [count(row["in"]), count(row["dropped"]), share(row["dropped"], row["in"])]
        summed = [sum(total[name] for total in row["reasons"].values()) for name in ("words", "bytes", "crawl_bytes")]
        lines.append([element("strong", row["stage"]), *lost, share(row["kept"], read), *_sizes(*summed)])
        lines += [TableRow("part", _reason(reason, total, row["in"])) for reason, total in row["reasons"].items()]
    left = [share(kept["documents"], read), count(kept["words"]), size(kept["bytes"]), ""]
    lines.append(TableRow("total", [element("strong", "kept"), count(kept["documents"]), "", "", *left]))
    return table("Funnel by stage and reason", head, lines, kind="funnel")


def _reason(reason: str, total: Lost, entered: int) -> list[object]:
    lost = [count(total["documents"]), share(total["documents"], entered)]
    return [words(reason), "", *lost, "", *_sizes(total["words"], total["bytes"], total["crawl_bytes"])]


def _sizes(number: int, text: int, crawl: int) -> list[str]:
    """Words and bytes of texts, which what was dropped before it had one has not, and bytes of the crawl."""
    return [count(number) if text else "–", size(text) if text else "–", size(crawl) if crawl else "–"]
