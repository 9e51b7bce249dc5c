"""`curate compare`: which of two runs is better data?"""

from dataclasses import asdict

import click

from curate.commands.completing import runs
from curate.commands.screen import show
from curate.compare.compare import ComparedMeasure, compare
from curate.compare.sample import sample
from curate.sizes import numbered
from curate.terminal import say_json

VERDICTS = {"a": "A", "b": "B", "none": "no difference", "other": "they differ"}


@click.command(
    "compare", epilog="\b\nExample:\n  curate compare out-a/ out-b/ --target encyclopedia.jsonl --words 500000"
)
@click.argument("a", shell_complete=runs)
@click.argument("b", shell_complete=runs)
@click.option(
    "--target", required=True, metavar="FILE", help="Texts as the data should be: a .jsonl file with a 'text' a line."
)
@click.option("--words", type=click.IntRange(1000), default=300_000, show_default=True, help="Of each sample.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the samples.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(a: str, b: str, target: str, words: int, seed: int, as_json: bool) -> None:
    """Compare the data of the runs at A and B (or two .jsonl files of texts), by equally large samples.

    Cheap proxies, each with the interval of the difference; all intervals hold together at 95 %. None of them is the
    accuracy of a trained model: docs/compare.md says what each shows and what it does not.
    """
    samples = [sample(place, words, seed) for place in (a, b)]
    aim = sample(target, words, seed)
    rows = compare(samples[0], samples[1], aim)
    if as_json:
        say_json([{**asdict(row), "verdict": row.verdict} for row in rows])
        return
    least = min(one.words for one in samples)
    show([f"A {a}", f"B {b}", f"{numbered(least, 'word')} of each, {numbered(aim.words, 'word')} of {target}", ""])
    show([f"{'':22}{'A':>9}{'B':>9}{'B - A':>24}  better"])
    show(line for row in rows for line in (_line(row), f"  {row.shows}"))


def _line(row: ComparedMeasure) -> str:
    around = f"{row.low:+.4g} … {row.high:+.4g}"
    return f"{row.measure:22}{row.a:9.4g}{row.b:9.4g}{around:>24}  {VERDICTS[row.verdict]}"
