"""`curate stats`: the drop report."""

import click

from curate.report.funnel import summary
from curate.report.opened import OpenedRun


@click.command("stats", epilog="\b\nExample:\n  curate stats out/ --by language")
@click.argument("out")
def command(out: str) -> None:
    """What came in, what was kept, and what each stage dropped for which reason in the run at OUT."""
    click.echo(summary(OpenedRun.of(out).stats))
