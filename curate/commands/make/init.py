"""`curate init`: a config of one's own, out of a recipe."""

import re
from pathlib import Path

import click

from curate.commands.completing import recipes, stages
from curate.commands.screen import page_width, show, wrapped
from curate.config.recipes import BESIDE, Need, Recipe, folder, names, recipe
from curate.durable import atomic
from curate.errors import UserError
from curate.shipped import shipped
from curate.terminal import say

START = "start"  # the recipe of a config of one's own
TARGET = "curate.yaml"
SAMPLE = "sample_crawl"


@click.command(
    "init",
    epilog="\b\nExample:\n  curate init --sample && curate run curate.yaml\n"
    "  curate init fineweb -o my.yaml --input 'crawl/*.warc.gz'",
)
@click.argument("name", required=False, default=START, metavar="[RECIPE]", shell_complete=recipes)
@click.option("-o", "target", metavar="FILE", default=TARGET, show_default=True, help="Where to write it; - prints it.")
@click.option("--sample", is_flag=True, help="Write the sample crawl as well, beside the config, and read that.")
@click.option("--list", "listed", is_flag=True, help="List the recipes.")
@click.option(
    "--without",
    metavar="STAGE",
    shell_complete=stages,
    multiple=True,
    help="Leave a stage out, as a comment; may be repeated.",
)
@click.option("--input", "source", metavar="PATH", help="What it reads, in place of the sample crawl.")
@click.option("--force", is_flag=True, help="Write over a file.")
def command(
    name: str, target: str, sample: bool, listed: bool, without: tuple[str, ...], source: str | None, force: bool
) -> None:
    """Write a config of your own, with comments: a plain one, or that of a RECIPE (`--list`).

    A recipe tells the source of each number. What it needs and does not bring (a model, a list) is told with the place
    where it goes; `--without` leaves the stage out that needs it.
    """
    if listed:
        show(part for name in names() for part in wrapped(f"{name:<16} {recipe(name).about}", page_width(), 17))
        return
    chosen = recipe(name)
    text = chosen.without(without).text
    text = text if source is None else _reading(text, source)
    if target == "-":
        say(text, nl=False)
        return
    path = Path(target)
    if sample and source is not None:
        raise UserError("--sample reads the sample crawl, --input something else; give one of the two")
    if path.exists() and not force:
        raise UserError(f"{path}: is there already; give another name, or --force to write over it")
    if sample:
        text = _reading(text, f"{_with_sample(path.parent).as_posix()}/*.warc*")
    text, brought = _with_lists(text, path)
    with atomic(path) as new:
        new.write_text(text, encoding="utf-8")
    _tell(path, chosen, brought, without)


def _reading(text: str, source: str) -> str:
    """The config with another input."""
    quoted = "'" + source.replace("'", "''") + "'"
    return re.sub(r"^input:.*\n(?:[ #].*\n)*", lambda _: f"input: {quoted}\n", text, count=1, flags=re.MULTILINE)


def _with_sample(folder: Path) -> Path:
    """The sample crawl in a folder of its own; files that are there already stay."""
    place = folder / SAMPLE
    place.mkdir(parents=True, exist_ok=True)
    for file in sorted(shipped(SAMPLE).glob("*.warc*")):
        if not (place / file.name).exists():
            with atomic(place / file.name) as new:
                new.write_bytes(file.read_bytes())
    return place


def _with_lists(text: str, path: Path) -> tuple[str, list[Path]]:
    """The config with the lists that come along beside it; those that are there already stay."""
    brought = []
    for inner in dict.fromkeys(BESIDE.findall(text)):
        place = path.parent / f"{path.stem}-lists" / Path(inner).name
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text((folder() / inner).read_text(encoding="utf-8"), encoding="utf-8")
            brought.append(place)
        text = text.replace(f"configs/{inner}", place.as_posix())
    return text, brought


def _tell(path: Path, chosen: Recipe, brought: list[Path], without: tuple[str, ...]) -> None:
    say(f"{path}: {chosen.about}")
    for place in brought:
        say(f"{place}: an example, to be replaced by a list of yours")
    missing: list[Need] = [need for need in chosen.needs if need.stage not in without]
    for need in missing:
        say(f"{need.stage} needs {need.comment}")
    if missing:
        stages = dict.fromkeys([*without, *(need.stage for need in missing)])
        left_out = " ".join(f"--without {stage}" for stage in stages)
        say(f"to run without: curate init {chosen.name} {left_out} -o {path} --force")
    say(f"next: curate check {path}, then curate run {path}")
