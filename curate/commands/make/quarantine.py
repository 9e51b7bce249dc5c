"""`curate quarantine`: the pages that killed their worker, as a WARC of their own."""

from pathlib import Path

import click

from curate.commands.completing import reasons, runs
from curate.inspect.opened import OpenedRun
from curate.sizes import numbered
from curate.terminal import say
from curate.tools.quarantine import quarantine


@click.command("quarantine", epilog="\b\nExample:\n  curate quarantine out/ -o bad.warc.gz")
@click.argument("out", shell_complete=runs)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The WARC file to write (.warc.gz).",
)
@click.option(
    "--reason",
    "reasons",
    shell_complete=reasons,
    multiple=True,
    help="Records dropped for this reason (default: hung, crashed, out_of_memory).",
)
def command(out: str, output: Path, reasons: tuple[str, ...]) -> None:
    """Write the raw records of the run at OUT that hung, crashed or exhausted memory to a small WARC for replay."""
    count = quarantine(OpenedRun.of(out), output, reasons)
    say(f"{output}: {numbered(count, 'record')}")
