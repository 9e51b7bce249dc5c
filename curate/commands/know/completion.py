"""`curate completion`: the script that teaches a shell to complete commands and options."""

from scale.commands.completion import completion as command

__all__ = ["command"]
