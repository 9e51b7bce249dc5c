"""The errors a person sees: one sentence with the place, the fault and the way out."""

import errno
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

# Told by type, since file systems behind a URL raise these without a number.
CAUSES: dict[type[OSError], str] = {
    FileNotFoundError: "no such file",
    IsADirectoryError: "it is a folder",
    NotADirectoryError: "a part of the path is no folder",
    PermissionError: "permission denied",
    FileExistsError: "a file of that name is there",
}


class UserError(Exception):
    """A mistake in input, config or surroundings; the command line prints it and exits with status 2."""


class SourceError(UserError):
    """An input file that can't be opened, listed or read, after all retries; names the file."""


class Stopped(SystemExit):
    """SIGTERM asked this process to stop; unlike a stage's own `sys.exit` it passes through everything."""


# What a name could do to a terminal: controls (escape sequences begin with one), line ends of Unicode, and marks that
# turn the direction.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


LONG_WORD = re.compile(r"\S{600,}")  # longer than a path that somebody would look for


def printable(sentence: str) -> str:
    """A sentence fit for a terminal: names of files and keys are data, so their controls are shown as `\\x1b`."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), sentence)


def brief(sentence: str) -> str:
    """A printable sentence in which a value of thousands of characters does not drown the rest."""
    return LONG_WORD.sub(lambda found: f"{found[0][:80]}…{found[0][-20:]}", printable(sentence))


def one_line(name: str) -> str:
    """A name fit for a cell of a table: as `printable` makes it, line breaks and tabs as `\\n` and `\\t`."""
    return printable(name).replace("\n", "\\n").replace("\t", "\\t")


@contextmanager
def mistakes_printable() -> Iterator[None]:
    """What click says of a wrong argument goes out printable, too."""
    import click  # here, since stages and the library need no command line
    from click.exceptions import NoArgsIsHelpError

    try:
        yield
    except NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        raise click.UsageError(brief(error.format_message()), error.ctx) from None


def hint(word: str, known: Collection[str]) -> str:
    """What a mistyped word may mean: the nearest known one, or all of them where none is near."""
    from difflib import get_close_matches  # not needed by a run without mistakes

    near = get_close_matches(word, known, n=1, cutoff=0.65)
    return f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"


def cause(error: BaseException) -> str:
    """What went wrong, in a few words: what the system or library says, without its error number and the path again."""
    for kind, words in CAUSES.items():
        if isinstance(error, kind) and error.errno != 0:  # 0: a server's own words
            return words
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    reason = str(error).strip().partition("\n")[0].rstrip(".")
    return reason or type(error).__name__


def explained(error: OSError) -> str | None:
    """A sentence for an error of the system, with the way out; None where the system did not name one."""
    if error.errno is None:
        return None
    place = f"{error.filename}: " if error.filename else ""
    reason = {
        errno.ENOSPC: "no space left on the disk; free some and run again, the run goes on where it was",
        errno.EDQUOT: "the disk quota is used up; free some and run again, the run goes on where it was",
        errno.EACCES: "permission denied; give a folder that you may write",
        errno.EROFS: "the file system is read-only; give another output",
        errno.EFBIG: "a file would be larger than is allowed here; raise `ulimit -f` and run again",
        errno.EMFILE: "too many open files; raise `ulimit -n`",
        errno.ENAMETOOLONG: "the name is too long for the file system; give a shorter one",
        errno.ENOENT: "is not there (any more); see that nothing removes files of a run, and run again",
    }.get(error.errno, f"{error.strerror or os.strerror(error.errno)}; see to it and run again")
    return f"{place}{reason}"
