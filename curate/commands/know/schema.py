"""`curate schema`: the JSON Schema of config files, for editors."""

import click

from curate.config.file import json_schema
from curate.terminal import say_json


@click.command("schema", epilog="\b\nExample:\n  curate schema > curate.output.schema.json")
def command() -> None:
    """Print the JSON Schema of config files.

    In an editor with a YAML language server, this first line of a config switches completion and checks on:
    # yaml-language-server: $schema=curate.output.schema.json
    """
    say_json(json_schema())
