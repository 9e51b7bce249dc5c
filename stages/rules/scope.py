"""Whom a rule set is for, and the word lists that it reads."""

from functools import lru_cache
from pathlib import Path

from curate.document import Document
from curate.errors import UserError, cause
from stages.languages.codes import same_language


def in_scope(languages: tuple[str, ...] | None, doc: Document) -> bool:
    """Whether rules for these languages are for this document; one whose language is not known is judged.

    `en` is for `eng_Latn` too: names of one language are one.
    """
    language = doc.attributes.get("language")
    return languages is None or language is None or language in languages or _is_among(language, languages)


@lru_cache(maxsize=4096)
def _is_among(language: str, languages: tuple[str, ...]) -> bool:
    return any(same_language(language, one) for one in languages)


@lru_cache(maxsize=64)
def entries(path: str) -> tuple[str, ...]:
    """The entries of a list file, case folded: one a line, UTF-8; empty lines and comments (#) are none.

    Raises UserError where the file can't be read.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: can't be read as a list of entries, one a line ({cause(error)}); give another file"
        ) from None
    stripped = (line.strip().casefold() for line in lines)
    return tuple(dict.fromkeys(line for line in stripped if line and not line.startswith("#")))
