"""`curate propose`: limits from the quantiles that a run recorded."""

from dataclasses import asdict

import click

from curate.commands.completing import runs, stages
from curate.commands.screen import show
from curate.given import FiniteRange
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import Recorded
from curate.terminal import say_json
from curate.what_if.propose import proposal_lines, propose


@click.command(
    "propose",
    epilog="\b\nExample:\n  curate propose out/ --keep 0.9\n  curate propose out/ --keep 0.9 --together --stage gopher",
)
@click.argument("out", shell_complete=runs)
@click.option(
    "--keep",
    type=FiniteRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    help="Share of the pages that each rule alone is to keep.",
)
@click.option("--together", is_flag=True, help="All rules together are to keep that share.")
@click.option(
    "--stage",
    "stages",
    multiple=True,
    metavar="STAGE",
    shell_complete=stages,
    help="Only rules of this stage; may be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(out: str, keep: float, together: bool, stages: tuple[str, ...], as_json: bool) -> None:
    """Propose limits for the rules of the run at OUT, as lines of a config, with what each would drop.

    The limits are quantiles of what the run measured, in three digits, rounded to the side that drops less; of two
    limits of one measure each takes half. They are chosen on one half of the pages and judged on the other. Rules that
    are off stay off, and pages that no number decides on (another language, a listed word) do not count.
    """
    proposed = propose(Recorded.of(OpenedRun.of(out)), keep, together, stages)
    if as_json:
        say_json(asdict(proposed))
    else:
        show(proposal_lines(proposed))
