"""`curate stages`: what stages there are, their options, defaults and reasons."""

import inspect
from collections.abc import Collection, Iterator
from typing import Any

import click

from curate.commands.completing import stages as complete_stages
from curate.commands.screen import page_width, show, wrapped
from curate.config.file import PARTS
from curate.inspect.tables import lines as table
from curate.plug_ins.options import Option, options
from curate.plug_ins.registry import installed, stage_class
from curate.rules import rules_of
from curate.terminal import say_json


def described(name: str) -> dict[str, Any]:
    """A stage's kind, one-line description, options with meanings, attributes, measures and reasons."""
    cls = stage_class(name)
    return {
        "name": name,
        "kind": "corpus" if hasattr(cls, "decide") else "document",
        "about": (inspect.getdoc(cls) or "").split("\n")[0],
        "options": {option.name: _plain(option) for option in options(name, cls)},
        "limits": list(rules_of(cls).limits),
        "adds": {key: str(kind) for key, kind in cls.adds.items()},
        "measures": {key: str(kind) for key, kind in rules_of(cls).measures.items()},
        "reasons": list(cls.reasons),
    }


def _plain(option: Option) -> dict[str, Any]:
    default = {"required": True} if option.required else {"default": option.default}
    return {**default, "allowed": option.allowed, "meaning": option.meaning}


@click.command("stages", epilog="\b\nExample:\n  curate stages gopher")
@click.argument("name", required=False, shell_complete=complete_stages)
@click.option("--config", "of_config", is_flag=True, help="The keys of a config that are no stage's instead.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(name: str | None, of_config: bool, as_json: bool) -> None:
    """List the stages, or show the options, measures and reasons of one.

    An option comes with its default, what may be given, and its meaning. `curate what-if` can change those with a *
    without another run.
    """
    if of_config and as_json:
        keys = {part: {option.name: _plain(option) for option in options("", cls)} for part, (cls, _) in PARTS.items()}
        say_json(keys, default=list)
    elif of_config:
        for part, (cls, says) in PARTS.items():
            show([f"{part}: {says.replace('`', '')}", *_options("", cls, ()), ""])
    elif as_json:
        shown = [described(word) for word in ([name] if name else installed())]
        say_json(shown, default=list)
    elif name is None:
        show(table([described(word) for word in installed()], ("name", "kind", "about"))[1:])
    else:
        show(_lines(name))


def _lines(name: str) -> Iterator[str]:
    description = described(name)
    yield f"{name}: {description['about']}"
    yield "\noptions" + (
        " (* can be changed by `curate what-if`, without another run)" if description["limits"] else ""
    )
    yield from _options(name, stage_class(name), description["limits"])
    if not description["options"]:
        yield "  none"
    wide = max(map(len, [*description["adds"], *description["measures"]]), default=0) + 2
    for title in ("adds", "measures"):
        if description[title]:
            yield title
            yield from (f"  {key:<{wide}}{kind}" for key, kind in description[title].items())
    yield "reasons"
    yield from _wrapped(", ".join(description["reasons"]) or "none", 2, 2)


def _options(name: str, cls: type[Any], limits: Collection[str]) -> Iterator[str]:
    for option in options(name, cls):
        default = option.default_text if option.required else f"default {option.default_text}"
        star = "*" if option.name in limits else ""
        yield from _wrapped(f"{option.name}{star}: {'; '.join(filter(None, [default, option.allowed]))}", 2, 8)
        yield from _wrapped(option.meaning, 6, 6)


def _wrapped(text: str, first: int, next_lines: int) -> list[str]:
    return wrapped(" " * first + text, page_width(), next_lines)
