"""The group `scale`, mounted as `curate scale` as well: how its commands read numbers, refuse and print."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable
from shutil import get_terminal_size
from typing import IO, Any

import click

from curate.errors import UserError, brief, mistakes_printable, printable
from scale.refusal import Refusal
from scale.units import read_number, round_numbers

GAP = re.compile(r"\S {2,}\S")  # between the columns of a table or a grid
LEAST_ROOM = 40  # columns


class Refused(click.ClickException):
    """An impossible input on the command line: one sentence behind the program's name, exit status 2."""

    exit_code = 2

    def __init__(self, sentence: str, program: str) -> None:
        super().__init__(sentence)
        self.program = program

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence to standard error."""
        click.echo(f"{self.program}: {brief(self.message)}", file=file, err=True)


def program(ctx: click.Context) -> str:
    """The name that the program was called by: `scale`, or `curate` where the group is mounted."""
    return ctx.find_root().info_name or "scale"


class RefusingGroup(click.Group):
    """A group whose commands end an impossible input in one sentence and exit status 2, without a traceback."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; a mistake goes out printable, whatever the argument holds."""
        with mistakes_printable():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a refused input (or a formula's ValueError) becomes its sentence."""
        try:
            with mistakes_printable():
                return super().invoke(ctx)
        except UserError as error:
            raise Refused(str(error), program(ctx)) from error


class Quantity(click.ParamType[float]):
    """A number that may be written 7e9, 7B or 15T."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse, or fail in click's own words."""
        try:
            return read_number(value, param.opts[0] if param else "number")
        except Refusal as error:
            self.fail(str(error), param, ctx)


class AnyFloat(Quantity):
    """A number as `Quantity` reads it, or inf or nan."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse, or fail in click's own words."""
        if str(value).strip().lower().lstrip("+-") in ("inf", "infinity", "nan"):
            return float(value)
        return super().convert(value, param, ctx)


AMOUNT = Quantity()
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def show(answer: Any, text: str, as_json: bool, numbers: Callable[[Any], Any] = round_numbers) -> None:
    """Print the answer as JSON, its floats by way of `numbers`, or as text."""
    if as_json:
        click.echo(json.dumps(numbers(answer), indent=2))
    else:
        click.echo(fitted(printable(text)), nl=False)


def fitted(text: str) -> str:
    """Sentences in the width of the terminal that they go to; rows of tables and grids, and all for a pipe, stay."""
    if not sys.stdout.isatty():
        return text
    room = max(LEAST_ROOM, get_terminal_size().columns)
    lines = text.split("\n")
    return "\n".join(line if len(line) <= room or GAP.search(line) else _wrapped(line, room) for line in lines)


def _wrapped(line: str, room: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


@click.group("scale", cls=RefusingGroup, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Training at scale: what a run takes, and the maths behind it.

    GB is 10^9 bytes and GiB 2^30; MFU says which attention it counts. Exit status 2: an impossible input.
    """
