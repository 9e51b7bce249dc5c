"""The one error of `scale`: an input that cannot be, with the reason and the way out."""

from __future__ import annotations

from curate.errors import UserError, cause


class Refusal(UserError, ValueError):
    """An impossible or unknown input; `str()` is one sentence for a person (exit status 2 on the command line).

    A `UserError` as every mistake in input is, and a `ValueError` as Python's own functions raise it.
    """


def unusable(place: object, what: str, error: OSError | UnicodeDecodeError, way_out: str) -> Refusal:
    """The refusal of a file that cannot be read or written: the path once, the cause without its number, a way out."""
    reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else cause(error)
    return Refusal(f"{place}: cannot be {what} ({reason}); {way_out}")


def require(condition: bool, reason: str) -> None:
    """Raise `Refusal(reason)` unless `condition` holds."""
    if not condition:
        raise Refusal(reason)


def integer(value: object, place: str, least: int = 0) -> int:
    """`value` as an int of `least` or more; `place` names it in the refusal. A float is refused, not rounded."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Refusal(f"{place} is {value!r}, and must be a whole number of at least {least}")
    return value


def flag(value: object, place: str) -> bool:
    """`value` as true or false; a text such as `"false"`, which Python takes for true, is refused."""
    if not isinstance(value, bool):
        raise Refusal(f"{place} is {value!r}, and must be true or false")
    return value
