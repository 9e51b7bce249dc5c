"""The one way out for what commands print: names are data, and data does nothing to a terminal.

Tables and sentences are always made printable. What programs read goes to a pipe as it is: JSON escapes what a terminal
would obey, other data is made printable only where a terminal is the reader.
"""

import io
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import click

from curate.errors import UNSEEN, printable


def any_letter() -> None:
    """Lets standard output and error print letters that their encoding lacks, as `\\u6f22`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str = "", err: bool = False, nl: bool = True) -> None:
    """Prints text for people, on standard error if `err`, with a line break at the end unless `nl` is off."""
    click.echo(printable(text), err=err, nl=nl)


def say_styled(line: str, painted: bool, err: bool = False) -> None:
    """Prints a line that was made printable and then styled; where it is not `painted`, without its styles."""
    click.echo(line, color=painted, err=err)


def say_json(
    content: Any,
    indent: int | None = 1,
    ascii_only: bool = True,
    default: Callable[[Any], Any] | None = None,
) -> None:
    """Prints a value as JSON; without `ascii_only` letters stand as themselves and controls as `\\u009b`."""
    text = json.dumps(content, indent=indent, ensure_ascii=ascii_only, default=default)
    click.echo(UNSEEN.sub(_escaped, text))


def say_data(data: str | bytes, nl: bool = True) -> None:
    """Prints what programs read: the same bytes to a pipe or file, printable text to a terminal."""
    if sys.stdout.isatty():
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        click.echo(printable(text), nl=nl)
    else:
        click.echo(data, nl=nl)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
