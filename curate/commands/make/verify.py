"""`curate verify`: is a finished run whole?"""

import sys

import click

from curate.commands.completing import runs
from curate.commands.screen import show
from curate.inspect.opened import OpenedRun
from curate.sizes import numbered
from curate.terminal import say_json
from curate.tools.verify import verify


@click.command("verify", epilog="\b\nExample:\n  curate verify out/")
@click.argument("out", shell_complete=runs)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(out: str, as_json: bool) -> None:
    """Check the run at OUT against its manifest: SHA-256, rows, columns, sums. Exit status 1 when it is not whole."""
    run = OpenedRun.of(out)
    faults = list(verify(run))
    rows = run.manifest["rows"]
    if as_json:
        say_json({"whole": not faults, "faults": faults, "shards": len(run.manifest["shards"]), "rows": rows})
    for fault in [] if as_json else faults:
        show([fault])
    if faults:
        sys.exit(1)
    if as_json:
        return
    shards = f"whole: {numbered(len(run.manifest['shards']), 'shard')}, {numbered(rows['written'], 'row')}; "
    show([f"{shards}read {rows['read']:,} = kept {rows['kept']:,} + dropped {rows['dropped']:,}"])
