"""Tasks that each kind of executor is tried with; at module level, where workers find them."""

import errno

from curate.errors import UserError


def double(number: int) -> int:
    return 2 * number


def raising(kind: str) -> None:
    """Raises what a person can mend (`user`, `full`), or a bug."""
    if kind == "user":
        raise UserError("input.web: the sentence")
    if kind == "full":
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere/part")
    raise ValueError("a bug in a task")
