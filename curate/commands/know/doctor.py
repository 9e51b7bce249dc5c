"""`curate doctor`: is this installation whole?"""

import sys
from dataclasses import asdict

import click

from curate.commands.screen import show, width, wrapped
from curate.terminal import say, say_json
from curate.tools.doctor import findings

WORDS = {"ok": "ok", "optional": "note", "missing": "MISSING"}


@click.command("doctor", epilog="\b\nExample:\n  curate doctor")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(as_json: bool) -> None:
    """Check versions, models, stages, extras, disk and memory; tell what is missing and the command that mends it.

    Exit status 1 when something is missing that every run needs.
    """
    found = list(findings())
    if as_json:
        say_json([asdict(finding) for finding in found])
    else:
        for finding in found:
            lines = [f"{WORDS[finding.state]:<9}{finding.about:<26}{finding.found}"]
            lines += [f"{'':35}mend: {finding.mend}"] if finding.mend else []
            show(part for line in lines for part in wrapped(line, width() or len(line), 35))
    missing = [finding.about for finding in found if finding.state == "missing"]
    if missing:
        say(f"curate: {len(missing)} missing: {', '.join(missing)}", err=True)
        sys.exit(1)
