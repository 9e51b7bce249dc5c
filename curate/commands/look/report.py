"""`curate report`: one page to look at."""

from pathlib import Path

import click

from curate.commands.completing import runs
from curate.inspect.opened import OpenedRun
from curate.terminal import say


@click.command(
    "report",
    epilog="\b\nExample:\n  curate report out/\n  curate report out/ --output review.html --samples 20\n"
    "  curate report out-a/ out-b/",
)
@click.argument("out", metavar="OUT", shell_complete=runs)
@click.argument("other", metavar="[OTHER]", required=False, shell_complete=runs)
@click.option(
    "--output",
    type=click.Path(dir_okay=False),
    help="File to write (default: report.html in OUT, comparison.html in OTHER).",
)
@click.option(
    "--samples", type=click.IntRange(0), default=6, show_default=True, help="Dropped pages shown of each rule."
)
@click.option(
    "--target", metavar="FILE", help="With OTHER: texts as the data should be, as `curate compare` takes them."
)
def command(out: str, other: str | None, output: str | None, samples: int, target: str | None) -> None:
    """Write report.html: the run at OUT as one self-contained page; or comparison.html: OUT beside OTHER.

    Funnel, distribution of every measure with its limits, languages, domains, lengths, duplicates, kept and dropped
    pages, timings and config. It opens offline in any browser and loads nothing from the network.
    """
    run = OpenedRun.of(out)
    if other is None:
        if target:
            raise click.UsageError("--target compares two runs: name the other one, too")
        from curate.report import page

        file = Path(output) if output else run.folder / page.NAME
        written = page.write(run, file, samples)
    else:
        from curate.report.compared import page as comparison

        beside = OpenedRun.of(other)
        file = Path(output) if output else beside.folder / comparison.NAME
        written = comparison.write(run, beside, file, comparison.TargetTexts(target) if target else None)
    say(f"{file} ({written / 1e6:.1f} MB)")
