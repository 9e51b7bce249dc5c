"""The errors a person sees: one sentence with the place, the fault and the way out."""

from collections.abc import Collection


class UserError(Exception):
    """A mistake in input, config or surroundings; the command line prints it and exits with status 2."""


class SourceError(UserError):
    """An input file that can't be opened, listed or read, after all retries; names the file."""


class Stopped(SystemExit):
    """SIGTERM asked this process to stop; unlike a stage's own `sys.exit` it passes through everything."""


def hint(word: str, known: Collection[str], cutoff: float = 0.6) -> str:
    """What a mistyped word may mean: the nearest known one, or all of them where none is `cutoff` alike (0 to 1)."""
    from difflib import get_close_matches  # not needed by a run without mistakes

    near = get_close_matches(word, known, n=1, cutoff=cutoff)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
