"""`curate train`: classifiers from one's own reference sets."""

from typing import Any

import click

from curate.train import train_naive_bayes


@click.group("train")
def command() -> None:
    """Train a classifier on a reference set of one's own."""


@command.command("naive-bayes", epilog="\b\nExample:\n  curate train naive-bayes good.jsonl bad.jsonl -o model.npz")
@click.argument("good")
@click.argument("bad")
@click.option("-o", "--output", required=True, help="The model file to write.")
@click.option("--text", default="text", show_default=True, help="Column that holds the text.")
def naive_bayes(good: str, bad: str, output: str, text: str) -> None:
    """Train the naive_bayes stage's model on GOOD and BAD texts (JSONL).

    Prints accuracy and AUC on a tenth that was held out.
    """
    told: Any = train_naive_bayes(good, bad, output, text=text)
    click.echo(told)
