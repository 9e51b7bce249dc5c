"""`curate verify`: is a finished run whole?"""

import sys

import click

from curate.commands.screen import show
from curate.inspect.opened import OpenedRun
from curate.sizes import numbered
from curate.tools.verify import verify


@click.command("verify", epilog="\b\nExample:\n  curate verify out/")
@click.argument("out")
def command(out: str) -> None:
    """Check the run at OUT against its manifest: SHA-256, rows, columns, sums. Exit status 1 when it is not whole."""
    run = OpenedRun.of(out)
    faults = list(verify(run))
    for fault in faults:
        show([fault])
    if faults:
        sys.exit(1)
    rows = run.manifest["rows"]
    shards = f"whole: {numbered(len(run.manifest['shards']), 'shard')}, {numbered(rows['written'], 'row')}; "
    show([f"{shards}read {rows['read']:,} = kept {rows['kept']:,} + dropped {rows['dropped']:,}"])
