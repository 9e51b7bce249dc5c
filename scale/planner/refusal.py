"""The one error of the planner: an input that cannot be, with the reason and the way out."""

from __future__ import annotations


class Refusal(ValueError):
    """An impossible or unknown input; `str()` is one sentence for a person (exit status 2 on the command line)."""


def require(condition: bool, reason: str) -> None:
    """Raise `Refusal(reason)` unless `condition` holds."""
    if not condition:
        raise Refusal(reason)


def integer(value: object, place: str, least: int = 0) -> int:
    """`value` as an int of `least` or more; `place` names it in the refusal. A float is refused, not rounded."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Refusal(f"{place} is {value!r}, and must be a whole number of at least {least}")
    return value
