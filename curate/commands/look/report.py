"""`curate report`: one page to look at."""

from pathlib import Path

import click

from curate.commands.completing import runs
from curate.inspect.opened import OpenedRun
from curate.terminal import say


@click.command(
    "report", epilog="\b\nExample:\n  curate report out/\n  curate report out/ --output review.html --samples 20"
)
@click.argument("out", shell_complete=runs)
@click.option("--output", type=click.Path(dir_okay=False), help="File to write (default: report.html in OUT).")
@click.option(
    "--samples", type=click.IntRange(0), default=6, show_default=True, help="Dropped pages shown of each rule."
)
def command(out: str, output: str | None, samples: int) -> None:
    """Write report.html: the run at OUT as one self-contained page.

    Funnel, distribution of every measure with its limits, languages, domains, lengths, duplicates, sampled drops,
    timings and config. It opens offline in any browser and loads nothing from the network.
    """
    from curate.report import page

    run = OpenedRun.of(out)
    target = Path(output) if output else run.folder / page.NAME
    written = page.write(run, target, samples)
    say(f"{target} ({written / 1e6:.1f} MB)")
