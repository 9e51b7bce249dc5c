"""`curate rules diff`: where two sets of rules disagree on a run's own pages."""

from dataclasses import asdict

import click

from curate.commands.completing import runs, sides, stages
from curate.commands.screen import show
from curate.inspect.opened import OpenedRun
from curate.terminal import say, say_json
from curate.what_if.rules_diff import difference, difference_lines, side


@click.group("rules")
def command() -> None:
    """Compare sets of rules."""


@command.command(
    "diff",
    epilog="\b\nExample:\n  curate rules diff gopher.profile=paper gopher.profile=dolma --on out/\n"
    "  curate rules diff run fineweb --on out/ --without url_filter",
)
@click.argument("a", shell_complete=sides)
@click.argument("b", shell_complete=sides)
@click.option(
    "--on",
    "out",
    required=True,
    metavar="OUT",
    shell_complete=runs,
    help="A finished run, on whose pages both are asked.",
)
@click.option(
    "--pages",
    type=click.IntRange(1),
    default=500,
    show_default=True,
    help="How many pages are read again, where the records do not tell.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="STAGE",
    shell_complete=stages,
    help="Leave a stage out of a recipe; may be given again.",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def diff(a: str, b: str, out: str, pages: int, without: tuple[str, ...], as_json: bool) -> None:
    """Tell where the document stages of A and B disagree on the pages of the run at OUT.

    A and B are each a config file, a recipe's name (`curate init`), `run` for the run's own config, or that config with
    changes, as STAGE.OPTION=VALUE, several parted by commas. Where both differ from the run in limits alone, its
    records answer for every page that it measured. Else pages are drawn, read again from the input and sent through
    both; stages that compare documents are left out.
    """
    run = OpenedRun.of(out)
    answer = difference(run, side(run, a, without), side(run, b, without), pages, lambda s: say(s, err=True))
    if as_json:
        say_json(asdict(answer))
    else:
        show(difference_lines(answer, a, b))
