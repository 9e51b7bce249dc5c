"""`curate bands`: which bands find which pairs."""

import click

from curate.bands import describe


@click.command("bands", epilog="\b\nExample:\n  curate bands --threshold 0.8 --perms 128")
@click.option("--threshold", type=click.FloatRange(0, 1), default=0.8, show_default=True, help="Jaccard similarity of a near duplicate.")
@click.option("--perms", type=click.IntRange(1), default=128, show_default=True, help="Permutations of a signature.")
def command(threshold: float, perms: int) -> None:
    """Print the S-curve of each division into bands, and the recall to expect at the threshold."""
    for line in describe(threshold, perms):
        click.echo(line)
