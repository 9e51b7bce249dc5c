"""The one error of the planner: an input that cannot be, with the reason and the way out."""

from __future__ import annotations


class Refusal(ValueError):
    """An impossible or unknown input; `str()` is one sentence for a person (exit status 2 on the command line)."""


def require(condition: bool, reason: str) -> None:
    """Raise `Refusal(reason)` unless `condition` holds."""
    if not condition:
        raise Refusal(reason)
