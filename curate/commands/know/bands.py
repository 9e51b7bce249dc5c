"""`curate bands`: which bands find which pairs."""

from dataclasses import asdict

import click

from curate.commands.screen import show
from curate.decide.bands import band_lines, curves
from curate.errors import UserError
from curate.given import FiniteRange
from curate.terminal import say_json


@click.command("bands", epilog="\b\nExample:\n  curate bands --threshold 0.8 --perms 128")
@click.option(
    "--threshold", type=FiniteRange(), default=0.8, show_default=True, help="Jaccard similarity of a near duplicate."
)
@click.option(
    "--perms", type=click.IntRange(1, 4096), default=128, show_default=True, help="Permutations of a signature."
)
@click.option("--bands", type=click.IntRange(1), default=25, show_default=True, help="Bands to judge.")
@click.option("--rows", type=click.IntRange(1), default=5, show_default=True, help="Rows of each of them.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(threshold: float, perms: int, bands: int, rows: int, as_json: bool) -> None:
    """Print the S-curve of each division into bands, and the recall to expect at the threshold."""
    try:
        found = curves(threshold, perms, (bands, rows))
    except ValueError as error:
        raise UserError(str(error)) from None
    if as_json:
        say_json(asdict(found))
    else:
        show(band_lines(found))
