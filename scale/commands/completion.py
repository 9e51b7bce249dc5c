"""`scale completion` and `curate completion`: the script that teaches a shell to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from scale.commands.group import program
from scale.refusal import Refusal


@click.command(epilog='\b\nExample:\n  eval "$(curate completion bash)"   # or: scale completion')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL; evaluate it in the shell's start-up file."""
    kind, name = get_completion_class(shell), program(ctx)
    if kind is None:
        raise Refusal(f"no completion for {shell}; bash, zsh and fish have one")
    click.echo(kind(ctx.find_root().command, {}, name, f"_{name.upper()}_COMPLETE").source())
