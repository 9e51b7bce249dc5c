"""`curate stages`: what stages there are, their options, defaults and reasons."""

import inspect
import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from curate.plug_ins.options import Option, options
from curate.plug_ins.registry import installed, stage_class
from curate.rules import rules_of

WIDTH = 110


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
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the stages, or show the options, measures and reasons of one.

    An option comes with its default, what may be given, and its meaning. `curate what-if` can change those with a *
    without another run.
    """
    if as_json:
        shown = [described(word) for word in ([name] if name else installed())]
        click.echo(json.dumps(shown, indent=1, default=list))
    elif name is None:
        for word in installed():
            told = described(word)
            click.echo(f"{word:<14}{told['kind']:<10}{told['about']}")
    else:
        click.echo("\n".join(_lines(name)))


def _lines(name: str) -> Iterator[str]:
    told = described(name)
    yield f"{name}: {told['about']}"
    yield "\noptions" + (" (* can be changed by `curate what-if`, without another run)" if told["limits"] else "")
    for option in options(name, stage_class(name)):
        default = option.default_text if option.required else f"default {option.default_text}"
        star = "*" if option.name in told["limits"] else ""
        yield from _wrapped(f"{option.name}{star}: {'; '.join(filter(None, [default, option.allowed]))}", 2, 8)
        yield from _wrapped(option.meaning, 6, 6)
    if not told["options"]:
        yield "  none"
    wide = max(map(len, [*told["adds"], *told["measures"]]), default=0) + 2
    for title in ("adds", "measures"):
        if told[title]:
            yield title
            yield from (f"  {key:<{wide}}{kind}" for key, kind in told[title].items())
    yield "reasons"
    yield from _wrapped(", ".join(told["reasons"]) or "none", 2, 2)


def _wrapped(text: str, first: int, next_lines: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * first, subsequent_indent=" " * next_lines,
                         break_long_words=False, break_on_hyphens=False)  # fmt: skip
