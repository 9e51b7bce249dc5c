"""The errors a person sees: one sentence with the place, the fault and the way out."""


class UserError(Exception):
    """A mistake in input, config or surroundings; the command line prints it and exits with status 2."""


class SourceError(UserError):
    """An input file that can't be opened, listed or read, after all retries; names the file."""
