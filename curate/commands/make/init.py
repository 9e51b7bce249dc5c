"""`curate init`: a config of one's own, out of a recipe."""

import re
from pathlib import Path

import click

from curate.config.recipes import BESIDE, Need, Recipe, folder, names, recipe
from curate.durable import whole
from curate.errors import UserError


@click.command("init", epilog="\b\nExample:\n  curate init fineweb -o my.yaml --input 'crawl/*.warc.gz'")
@click.argument("name", required=False, metavar="[RECIPE]")
@click.option("-o", "target", metavar="FILE", help="Where to write it (default: to standard output).")
@click.option("--without", metavar="STAGE", multiple=True, help="Leave a stage out, as a comment; may be repeated.")
@click.option("--input", "source", metavar="PATH", help="What it reads, in place of the sample crawl.")
@click.option("--force", is_flag=True, help="Write over a file.")
def command(name: str | None, target: str | None, without: tuple[str, ...], source: str | None, force: bool) -> None:
    """Write a RECIPE with its comments as a config of your own; without one, list the recipes.

    A recipe tells the source of each number. What it needs and does not bring (a model, a list) is told with the place
    where it goes; `--without` leaves the stage out that needs it.
    """
    if name is None:
        for known in names():
            click.echo(f"{known:<16} {recipe(known).about}")
        return
    chosen = recipe(name)
    text = chosen.without(without).text
    text = text if source is None else _reading(text, source)
    if target is None:
        click.echo(text, nl=False)
        return
    path = Path(target)
    if path.exists() and not force:
        raise UserError(f"{path}: is there already; give another name, or --force to write over it")
    text, brought = _with_lists(text, path)
    with whole(path) as new:
        new.write_text(text, encoding="utf-8")
    _tell(path, chosen, brought, without)


def _reading(text: str, source: str) -> str:
    """The config with another input."""
    quoted = "'" + source.replace("'", "''") + "'"
    return re.sub(r"^input:.*\n(?:[ #].*\n)*", lambda _: f"input: {quoted}\n", text, count=1, flags=re.MULTILINE)


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
    click.echo(f"{path}: {chosen.about}")
    for place in brought:
        click.echo(f"{place}: an example, to be replaced by a list of yours")
    missing: list[Need] = [need for need in chosen.needs if need.stage not in without]
    for need in missing:
        click.echo(f"{need.stage} needs {need.told}")
    if missing:
        stages = dict.fromkeys([*without, *(need.stage for need in missing)])
        left_out = " ".join(f"--without {stage}" for stage in stages)
        click.echo(f"to run without: curate init {chosen.name} {left_out} -o {path} --force")
    click.echo(f"next: curate check {path}")
