"""`curate train`: models of stages from one's own reference sets."""

from dataclasses import asdict
from typing import Any

import click

from curate.given import FiniteRange
from curate.plug_ins.options import Option, options
from curate.terminal import say, say_json
from curate.tools.train import Training, train, trainers
from curate.tools.train_on_pages import PageTraining, page_trainers, train_on_pages

TYPES: dict[type[Any], Any] = {bool: bool, int: int, float: FiniteRange(), str: str}
AS_JSON = click.Option(["--json", "as_json"], is_flag=True, help="As JSON.")


class Trainers(click.Group):
    """A command for each stage that says how its model is trained, and each that learns from labelled pages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*(name.replace("_", "-") for name in trainers()), *page_trainers()])

    def get_command(self, ctx: click.Context, word: str) -> click.Command | None:
        name = word.replace("-", "_")
        trainer = trainers().get(name)
        if trainer is not None:
            return _command(name, trainer)
        return _page_command(word) if word in page_trainers() else None


def _command(name: str, trainer: type[Any]) -> click.Command:
    word, (good, bad) = name.replace("_", "-"), trainer.examples
    files = [click.Argument([kind]) for kind in (good, bad)]
    settings = [
        click.Option(["-o", "--output"], required=True, help="The model file to write."),
        click.Option(["--text"], default="text", show_default=True, help="Column that holds the text."),
        *map(_option, options(name, trainer)),
        click.Option(["--seed"], default=0, show_default=True, help="Chooses the tenth that is held out."),
        AS_JSON,
    ]

    def call(output: str, as_json: bool, **given: Any) -> None:
        _tell(train(name, given.pop(good), given.pop(bad), output, **given), as_json)

    return click.Command(
        word,
        params=[*files, *settings],
        callback=call,
        help=f"Train the model of the stage {name} on {good.upper()} and {bad.upper()} texts (JSONL).\n\n"
        "Prints accuracy and AUC on a tenth that was held out.",
        short_help=f"Train the model of the stage {name}.",
        epilog=f"\b\nExample:\n  curate train {word} {good}.jsonl {bad}.jsonl -o model.npz",
    )


def _page_command(word: str) -> click.Command:
    def call(pages: str, output: str, about: str, as_json: bool) -> None:
        _tell(train_on_pages(word, pages, output, about), as_json)

    return click.Command(
        word,
        params=[
            click.Argument(["pages"]),
            click.Option(["-o", "--output"], required=True, help="The model file to write."),
            click.Option(["--about"], default="", help="What the pages are, and their licence; the model says so."),
            AS_JSON,
        ],
        callback=call,
        help=f"Train an {word} on PAGES, a JSONL file with url, html and the true text of each.\n\n"
        "The same pages give the same bytes.",
        short_help=f"Train an {word} on labelled pages.",
        epilog=f"\b\nExample:\n  curate train {word} pages.jsonl -o model.json",
    )


def _tell(trained: Training | PageTraining, as_json: bool) -> None:
    if as_json:
        say_json(asdict(trained))
    else:
        say(str(trained))


def _option(option: Option) -> click.Option:
    """One of a trainer's fields as an option of the command."""
    meaning = option.meaning[0].upper() + option.meaning[1:] + "."
    kind = TYPES.get(type(option.default), str)
    return click.Option(
        [f"--{option.name.replace('_', '-')}"], default=option.default, type=kind, show_default=True, help=meaning
    )


@click.group("train", cls=Trainers)
def command() -> None:
    """Train the model of a stage on reference sets of one's own."""
