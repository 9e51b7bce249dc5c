"""`curate stats`: the drop report, whole or by group, and what the run cost."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from curate.commands.completing import runs
from curate.commands.screen import show
from curate.given import FiniteRange
from curate.inspect import breakdown, costs, funnel
from curate.inspect.opened import OpenedRun
from curate.inspect.tables import comma_separated, lines
from curate.sizes import numbered
from curate.terminal import say_data, say_json

TOP = 20


@click.command("stats", epilog="\b\nExample:\n  curate stats out/ --by language")
@click.argument("out", shell_complete=runs)
@click.option("--by", type=click.Choice(["stage", *breakdown.GROUPS]), default="stage", show_default=True)
@click.option("--json", "form", flag_value="json", help="As JSON.")
@click.option("--csv", "form", flag_value="csv", help="As CSV.")
@click.option(
    "--price", type=FiniteRange(0), metavar="DOLLARS_PER_CPU_HOUR", help="Tell what a million kept tokens cost."
)
@click.option(
    "--top", type=click.IntRange(1), default=TOP, show_default=True, help="Groups shown as text; JSON and CSV have all."
)
def command(out: str, by: str, form: str | None, price: float | None, top: int) -> None:
    """What came in, what was kept, and what each stage dropped for which reason in the run at OUT.

    Words, bytes and tokens are those of texts; `~` marks estimates from the number of words.
    """
    run = OpenedRun.of(out)
    rows: Sequence[Mapping[str, Any]] = funnel.rows(run.stats) if by == "stage" else breakdown.breakdown(run, by)
    if form == "json":
        say_json(_plain(run, by, rows, price))
    elif form == "csv":
        say_data(_csv(run, by, rows))
    else:
        table = _stages_text(run, price) if by == "stage" else _groups(run, by, rows, top)
        show([*_trial(run), *table])


def _trial(run: OpenedRun) -> list[str]:
    return [] if run.limit is None else [f"a trial run: --limit {run.limit}"]


def _stages_text(run: OpenedRun, price: float | None) -> list[str]:
    return [*funnel.summary_lines(run.stats, run.tokens_counted), "", *costs.cost_lines(run.stats, run.timings, price)]


def _plain(run: OpenedRun, by: str, rows: Sequence[Mapping[str, Any]], price: float | None) -> dict[str, Any]:
    stats, timings = run.stats, run.timings
    kept = {**stats["kept"], "tokens": funnel.kept_tokens(stats)}
    totals: dict[str, Any]
    totals = {
        "read": stats["read"],
        "limit": run.limit,
        "kept": kept,
        "tokens_counted": run.tokens_counted,
        "by": by,
        "rows": rows,
        "records": stats["records"],
        "notes": stats["notes"],
        "alarms": stats["alarms"],
        "timings": {**timings, "stages": costs.stage_costs(stats, timings), "cpu_hours": costs.cpu_hours(timings)},
    }
    if price is not None:
        totals["dollars_per_million_kept_tokens"] = costs.price_per_million(stats, timings, price)
    return totals


def _csv(run: OpenedRun, by: str, rows: Sequence[Mapping[str, Any]]) -> str:
    if by == "stage":
        return comma_separated(rows, funnel.FUNNEL)
    stages = _stages(run, rows)
    flat = [{**row, **{f"dropped.{stage}": row["dropped"].get(stage, 0) for stage in stages}} for row in rows]
    dropped = (f"dropped.{stage}" for stage in stages)
    return comma_separated(flat, (by, "pages", *dropped, "kept", "kept_share", "words", "bytes", "tokens"))


def _groups(run: OpenedRun, by: str, rows: Sequence[Mapping[str, Any]], top: int) -> list[str]:
    stages = _stages(run, rows)
    flat = [
        {
            **row,
            **{f"-{stage}": lost for stage, lost in row["dropped"].items()},
            by: "(not known)" if row[by] is None else row[by],
            "kept_share": f"{row['kept_share']:.1%}".rjust(6),
        }
        for row in rows[:top]
    ]
    titles = {"kept_share": " share", "bytes": "text bytes", "tokens": "tokens" if run.tokens_counted else "~tokens"}
    dropped = (f"-{stage}" for stage in stages)
    table = lines(flat, (by, "pages", *dropped, "kept", "kept_share", "words", "bytes", "tokens"), titles)
    left = rows[top:]
    if left:
        pages = numbered(sum(row["pages"] for row in left), "page")
        table.append(f"and {len(left):,} more with {pages} (--top, --json, --csv)")
    return table


def _stages(run: OpenedRun, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The stages that dropped something, in their order."""
    return [stage for stage in run.stats["stages"] if any(stage in row["dropped"] for row in rows)]
