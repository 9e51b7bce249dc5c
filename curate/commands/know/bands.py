"""`curate bands`: which bands find which pairs."""

import click

from curate.commands.screen import show
from curate.decide.bands import band_lines
from curate.errors import UserError


@click.command("bands", epilog="\b\nExample:\n  curate bands --threshold 0.8 --perms 128")
@click.option("--threshold", type=float, default=0.8, show_default=True, help="Jaccard similarity of a near duplicate.")
@click.option(
    "--perms", type=click.IntRange(1, 4096), default=128, show_default=True, help="Permutations of a signature."
)
@click.option("--bands", type=click.IntRange(1), default=25, show_default=True, help="Bands to judge.")
@click.option("--rows", type=click.IntRange(1), default=5, show_default=True, help="Rows of each of them.")
def command(threshold: float, perms: int, bands: int, rows: int) -> None:
    """Print the S-curve of each division into bands, and the recall to expect at the threshold."""
    try:
        lines = band_lines(threshold, perms, (bands, rows))
    except ValueError as error:
        raise UserError(str(error)) from None
    show(lines)
