"""`curate what-if`: other limits, without another run."""

from dataclasses import asdict
from pathlib import Path

import click

from curate.commands.completing import limits, runs
from curate.commands.screen import show
from curate.inspect.opened import OpenedRun
from curate.terminal import say_json
from curate.what_if.curve import curve, curve_lines, parse_sweep, write_plot
from curate.what_if.redecide import parse_changes
from curate.what_if.what_if import WhatIf, answer_lines


@click.command(
    "what-if",
    epilog="\b\nExample:\n  curate what-if out/ gopher.min_words=30 language.min_score=0.5\n"
    "  curate what-if out/ --sweep gopher.min_words=20:100:10",
)
@click.argument("out", shell_complete=runs)
@click.argument("changes", nargs=-1, metavar="[STAGE.OPTION=VALUE]...", shell_complete=limits)
@click.option(
    "--sweep",
    shell_complete=limits,
    metavar="STAGE.OPTION=FROM:TO:STEP",
    help="One limit from FROM to TO, as a table and a curve.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    help="Write the curve of --sweep to an image, .svg or .png (needs matplotlib).",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(out: str, changes: tuple[str, ...], sweep: str | None, plot: str | None, as_json: bool) -> None:
    """Tell what the run at OUT would have kept with other limits, from what it recorded; the crawl is not read.

    Exact for the document stages. What a stage keeps that compares documents after that is an estimate, marked "about",
    since the texts of new pages were not compared. Only limits of rule stages can be changed (`curate stages NAME`).
    Values are as in a config: a number, [en, de], null for off. OPTION alone will do where one stage has it, and for a
    stage of your own its class alone.
    """
    run = OpenedRun.of(out)
    given = parse_changes(run.config, changes)
    if sweep is None and not given:
        raise click.UsageError("give STAGE.OPTION=VALUE, or --sweep STAGE.OPTION=FROM:TO:STEP")
    asked = WhatIf(run)
    if sweep is None:
        outcome = asked.ask(given)
        if as_json:
            say_json(asdict(outcome))
        else:
            show(answer_lines(outcome))
        return
    stage, option, values = parse_sweep(run.config, sweep)
    points = curve(asked, given, stage, option, values)
    if plot:
        write_plot(points, f"{stage}.{option}", Path(plot))
    now = getattr(next(entry.stage for entry in run.config.stages if entry.name == stage), option)
    if as_json:
        say_json([asdict(point) for point in points])
    else:
        show(curve_lines(points, f"{stage}.{option}", now))
