"""`curate train`: classifiers from one's own reference sets."""

import click

from curate.tools.train import train_naive_bayes


@click.group("train")
def command() -> None:
    """Train a classifier on a reference set of one's own."""


@command.command("naive-bayes", epilog="\b\nExample:\n  curate train naive-bayes good.jsonl bad.jsonl -o model.npz")
@click.argument("good")
@click.argument("bad")
@click.option("-o", "--output", required=True, help="The model file to write.")
@click.option("--text", default="text", show_default=True, help="Column that holds the text.")
@click.option("--order", default=1, show_default=True, help="Longest n-grams, in words; above 1 they are hashed.")
@click.option("--bits", default=20, show_default=True, help="Hash n-grams into 2^BITS buckets.")
@click.option("--min-count", default=1, show_default=True, help="Leave out what was counted fewer times.")
@click.option("--seed", default=0, show_default=True, help="Chooses the tenth that is held out.")
def naive_bayes(good: str, bad: str, output: str, text: str, order: int, bits: int, min_count: int, seed: int) -> None:
    """Train the naive_bayes stage's model on GOOD and BAD texts (JSONL).

    Prints accuracy and AUC on a tenth that was held out.
    """
    told = train_naive_bayes(good, bad, output, text=text, order=order, bits=bits, min_count=min_count, seed=seed)
    click.echo(str(told))
