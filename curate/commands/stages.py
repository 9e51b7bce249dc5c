"""`curate stages`: what stages there are, their options, defaults and reasons."""

import dataclasses
import inspect
import json
from typing import Any

import click

from curate.registry import installed, stage_class


def described(name: str) -> dict[str, Any]:
    """A stage's kind, one-line description, options with defaults, attributes, measures and reasons."""
    cls = stage_class(name)
    options: dict[str, dict[str, Any]] = {}
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        if field.default is not dataclasses.MISSING:
            options[field.name] = {"default": field.default}
        elif field.default_factory is not dataclasses.MISSING:
            options[field.name] = {"default": field.default_factory()}
        else:
            options[field.name] = {"required": True}
    return {
        "name": name,
        "kind": "corpus" if hasattr(cls, "decide") else "document",
        "about": (inspect.getdoc(cls) or "").split("\n")[0],
        "options": options,
        "adds": {key: str(kind) for key, kind in cls.adds.items()},
        "measures": {key: str(kind) for key, kind in getattr(cls, "measures", {}).items()},
        "reasons": list(cls.reasons),
    }


@click.command("stages", epilog="\b\nExample:\n  curate stages gopher")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(name: str | None, as_json: bool) -> None:
    """List the stages, or show the options, measures and reasons of one."""
    if as_json:
        shown = [described(word) for word in ([name] if name else installed())]
        click.echo(json.dumps(shown, indent=1, default=list))
        return
    if name is None:
        for word in installed():
            told = described(word)
            click.echo(f"{word:<14}{told['kind']:<10}{told['about']}")
        return
    told = described(name)
    click.echo(f"{name}: {told['about']}\n\noptions")
    wide = max(map(len, [*told["options"], *told["adds"], *told["measures"]]), default=0) + 2
    for option, about in told["options"].items():
        value = "required" if about.get("required") else f"default {json.dumps(about['default'], default=list)}"
        click.echo(f"  {option:<{wide}}{value}")
    for title in ("adds", "measures"):
        if told[title]:
            click.echo(title)
            for key, kind in told[title].items():
                click.echo(f"  {key:<{wide}}{kind}")
    click.echo("reasons\n  " + ("\n  ".join(told["reasons"]) or "none"))
