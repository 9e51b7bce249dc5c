"""`curate completion`: the script that teaches a shell to complete commands and options."""

import click
from click.shell_completion import get_completion_class

from curate.errors import UserError


@click.command("completion", epilog='\b\nExample:\n  eval "$(curate completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for SHELL; evaluate it in the shell's start-up file."""
    cls = get_completion_class(shell)
    if cls is None:
        raise UserError(f"no completion for {shell}; bash, zsh and fish have one")
    click.echo(cls(ctx.find_root().command, {}, "curate", "_CURATE_COMPLETE").source())
