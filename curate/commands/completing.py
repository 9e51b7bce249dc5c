"""What a shell offers where a command wants a run, a config, a recipe, a stage, a reason or a limit.

Nothing here raises: a word that can't be completed gets no offers, and the shell its own. What each needs is imported
in it, since every command imports this module and few calls complete a word.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

CONFIGS = (".yaml", ".yml", ".json")
Offers = list[CompletionItem]
Completer = Callable[[click.Context, click.Parameter, str], Offers]


def _offered(words: Iterable[str], begun: str) -> Offers:
    return [CompletionItem(word) for word in dict.fromkeys(words) if word.startswith(begun)]


def _here(begun: str) -> Iterator[tuple[str, Path]]:
    """What lies in the folder that a begun path leads into, each as it would be typed."""
    folder = begun.rpartition("/")[0] + "/" if "/" in begun else ""
    try:
        for path in sorted(Path(folder or ".").expanduser().iterdir()):
            yield f"{folder}{path.name}", path
    except OSError:
        return


def _or_shell(offers: Offers, begun: str, kind: str) -> Offers:
    """The offers; where there are none, the shell's own for files or folders."""
    return offers or [CompletionItem(begun, type=kind)]


def _runs(begun: str) -> list[str]:
    return [typed for typed, path in _here(begun) if (path / "manifest.json").is_file()]


def _configs(begun: str) -> list[str]:
    return [typed for typed, path in _here(begun) if path.suffix in CONFIGS and path.is_file()]


def runs(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Folders of finished runs."""
    return _or_shell(_offered(_runs(begun), begun), begun, "dir")


def configs(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Config files."""
    return _or_shell(_offered(_configs(begun), begun), begun, "file")


def configs_or_runs(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Config files, and runs, whose config it is then."""
    return _or_shell(_offered([*_configs(begun), *_runs(begun)], begun), begun, "file")


def recipes(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Names of recipes."""
    from curate.config.recipes import names

    return _offered(names(), begun)


def sides(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """What stands for a set of rules: the run's own, a recipe, a config file."""
    from curate.config.recipes import names

    return _or_shell(_offered(["run", *names(), *_configs(begun)], begun), begun, "file")


def stages(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Names of stages: those of the run, where one stands before on the line, else all that are installed."""
    from curate.plug_ins.registry import installed

    return _offered(_of_run(ctx, "stages") or installed(), begun)


def reasons(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Reasons for which the run that stands before on the line dropped pages, by the stages named so far."""
    named = ctx.params.get("stages") or ()
    rows = _of_run(ctx, "dropped")
    return _offered((row["reason"] for row in rows if not named or row["stage"] in named), begun)


def limits(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Limits of the run that stands before on the line, as `what-if` takes them."""
    from curate.plug_ins.registry import installed, stage_class
    from curate.rules import rules_of

    own = [name for name in _of_run(ctx, "stages") if name in installed()]
    return _offered((f"{name}.{option}=" for name in own for option in rules_of(stage_class(name)).limits), begun)


def formats(ctx: click.Context, parameter: click.Parameter, begun: str) -> Offers:
    """Formats of exports."""
    from curate.export.formats import installed

    return _offered(installed(), begun)


def _of_run(ctx: click.Context, key: str) -> list[Any]:
    """A list of stats.json of the run that the command line names."""
    out = ctx.params.get("out") or next(iter(ctx.args), "")  # among the rest where an option still lacks its value
    try:
        stats = json.loads((Path(out) / "stats.json").read_bytes())
    except (OSError, ValueError):
        return []
    found = stats.get(key) if isinstance(stats, dict) else None
    return found if isinstance(found, list) else []
