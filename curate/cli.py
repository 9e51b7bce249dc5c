"""The command line. Commands are loaded when they are called, so that `curate --help` answers at once."""

import ast
import importlib.util
import sys
from importlib.abc import InspectLoader
from typing import Any

import click

from curate import __version__
from curate.errors import UserError, brief, explained, mistakes_printable
from curate.terminal import any_letter, say

# Name of each command and the module that defines it as `command`.
COMMANDS = {
    "run": "curate.commands.make.run",
    "init": "curate.commands.make.init",
    "pack": "curate.commands.make.pack",
    "check": "curate.commands.make.check",
    "stages": "curate.commands.know.stages",
    "try": "curate.commands.make.try_page",
    "top": "curate.commands.look.top",
    "stats": "curate.commands.look.stats",
    "why": "curate.commands.look.why",
    "what-if": "curate.commands.look.what_if",
    "propose": "curate.commands.look.propose",
    "rules": "curate.commands.look.rules",
    "sample": "curate.commands.look.sample",
    "report": "curate.commands.look.report",
    "diff": "curate.commands.look.diff",
    "audit": "curate.commands.look.audit",
    "compare": "curate.commands.look.compare",
    "estimate": "curate.commands.make.estimate",
    "bands": "curate.commands.know.bands",
    "train": "curate.commands.make.train",
    "verify": "curate.commands.make.verify",
    "export": "curate.commands.make.export",
    "quarantine": "curate.commands.make.quarantine",
    "doctor": "curate.commands.know.doctor",
    "schema": "curate.commands.know.schema",
    "completion": "curate.commands.know.completion",
    "scale": "curate.commands.know.scale",
}

INTERRUPTED = 130
EXIT_STATUS = {
    "0": "done",
    "1": "nothing was kept, or what was checked does not hold",
    "2": "a mistake in input, config or surroundings; the sentence says which and the way out",
    "3": "--strict was given and the input was damaged",
    "130, 143": "stopped by Ctrl-C or SIGTERM; the same command goes on",
}


def first_sentence(module: str, name: str = "command") -> str:
    """The first sentence that a command says of itself, read from its source: to import them all takes a second."""
    spec = importlib.util.find_spec(module)
    source = spec.loader.get_source(module) if spec and isinstance(spec.loader, InspectLoader) else None
    for node in ast.parse(source or "").body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return click.Command(name, help=ast.get_docstring(node)).get_short_help_str(300)
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return first_sentence(node.module, alias.name)
    return ""


class Commands(click.Group):
    """A group whose commands are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with its whole first sentence, where click would cut it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, first_sentence(module)) for name, module in COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the exit status says."""
        with formatter.section("Exit status"):
            formatter.write_dl(list(EXIT_STATUS.items()))

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with mistakes_printable():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with mistakes_printable():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            say("curate: stopped by Ctrl-C", err=True)
            ctx.exit(INTERRUPTED)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        near = get_close_matches(args[0], COMMANDS, n=1) if args else []
        if args and args[0] not in COMMANDS and near:
            ctx.fail(f"no such command '{args[0]}', did you mean '{near[0]}'?")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="curate")
def cli() -> None:
    """Turn web crawl files into LLM pretraining data; every drop explained.

    \b
    Start with:  curate init --sample
    then:        curate run curate.yaml
                 curate stats out/
    to read:     curate sample out/ --reason too_few_words
    and ask:     curate why out/ URL
                 curate what-if out/ gopher.min_words=30
    """


def main(arguments: list[str] | None = None) -> Any:
    """Runs the command line; mistakes of people become one sentence and exit status 2."""
    any_letter()
    try:
        return cli.main(args=arguments, prog_name="curate")
    except UserError as error:
        fail(str(error))
    except UnicodeEncodeError as error:
        wrong = ascii(error.object[max(0, error.start - 20) : error.start + 1])
        fail(f"{wrong}: ends in what is no character of UTF-8; give names and values in UTF-8")
    except OSError as error:
        sentence = explained(error)
        if sentence is None:
            raise
        fail(sentence)


def fail(sentence: str) -> None:
    """Prints a sentence to standard error and exits with status 2."""
    say(f"curate: {brief(sentence)}", err=True)
    sys.exit(2)
