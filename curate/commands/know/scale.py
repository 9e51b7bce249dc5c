"""`curate scale`: the training maths, the same group as the command `scale`."""

from scale.cli import main as command

__all__ = ["command"]
