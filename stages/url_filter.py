"""Pages that their URL gives away: listed domains, URLs and words (as FineWeb's first filter).

Needs no text, so it stands first. The lists are yours: a file each, one entry a line, in any case.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import FileName, Rule, RuleStage
from stages.rules.scope import entries
from stages.rules.suffixes import is_suffix, site_of, suffix_of

_NOT_IN_WORDS = re.compile(r"[\W_]+")
_MOST_LABELS = 127  # of a host, RFC 1035
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def host_of(url: str) -> str:
    """The host of a URL in lower case and ASCII (IDNA), without port and last dot; "" for none."""
    try:
        host = urlsplit(url if _SCHEME.match(url) else f"http://{url}").hostname or ""
    except ValueError:  # brackets that hold no address
        return ""
    host = unquote(host).rstrip(".").lower()
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return host


def same_url(url: str) -> str:
    """What two spellings of a URL share: no scheme, `www.`, fragment, port or last slash; case folded."""
    rest = unquote(_SCHEME.sub("", url).partition("#")[0]).casefold()
    place, slash, path = rest.partition("/")
    return (host_of(place).removeprefix("www.") + slash + path).rstrip("/")


def _bare(suffix: str) -> str:
    return host_of(suffix.removeprefix("*").removeprefix("."))


@lru_cache(maxsize=8)
def _domains(path: str | None, given: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The listed domains that stand for all hosts below them, and those that stand for themselves alone: public
    suffixes, of which a list hardly means every site below, unless it says so by `*.` or a dot in front."""
    below, alone = set[str](), set[str]()
    for entry in (*given, *(entries(path) if path is not None else ())):
        bare = entry.removeprefix("*").removeprefix(".")
        domain = host_of(bare).removeprefix("www.")
        (alone if bare == entry and is_suffix(domain) else below).add(domain)
    return frozenset(below - {""}), frozenset(alone)


@lru_cache(maxsize=8)
def _urls(path: str | None) -> frozenset[str]:
    return frozenset(map(same_url, entries(path))) - {""} if path is not None else frozenset()


@lru_cache(maxsize=16)
def _words(path: str | None, given: tuple[str, ...] = ()) -> frozenset[str]:
    return frozenset((*map(str.casefold, given), *(entries(path) if path is not None else ())))


@lru_cache(maxsize=8)
def _within(path: str | None) -> re.Pattern[str] | None:
    listed = sorted({_NOT_IN_WORDS.sub("", entry) for entry in _words(path)} - {""})
    return re.compile("|".join(map(re.escape, listed))) if listed else None


@dataclass(frozen=True, kw_only=True)
class UrlFilter(RuleStage):
    """Drops pages by URL, whatever the case: none of the lists is built in.

    The words of a URL are what stands between characters that are no letters or digits.
    """

    domains: tuple[str, ...] = ()
    """hosts, each with all hosts below it; of a public suffix, such as github.io, only *.github.io means those below"""
    domains_file: FileName | None = None
    """path of a list of hosts, one a line"""
    suffixes: tuple[str, ...] = ()
    """public suffixes, such as top or co.uk, under which no page is wanted"""
    urls_file: FileName | None = None
    """path of a list of whole URLs; scheme, `www.`, port, fragment and last slash do not count"""
    words: tuple[str, ...] = ()
    """words, of which none may be a whole word of the URL"""
    words_file: FileName | None = None
    """path of a list of such words, one a line"""
    soft_words_file: FileName | None = None
    """path of a list of words that `max_soft_words` counts"""
    max_soft_words: Annotated[int, Field(ge=0)] | None = 1
    """how many different soft words a URL may hold"""
    subwords_file: FileName | None = None
    """path of a list of letters that may stand nowhere in the URL, across punctuation too"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        "site": pa.string(),
        "domain": pa.string(),
        "suffix": pa.string(),
        "url": pa.string(),
        "word": pa.string(),
        "soft_words": pa.int64(),
        "subword": pa.string(),
    }
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("listed_domain", "domain"),
        Rule("listed_suffix", "suffix"),
        Rule("listed_url", "url"),
        Rule("listed_word", "word"),
        Rule("too_many_soft_words", "soft_words", "max_soft_words"),
        Rule("listed_subword", "subword"),
    )
    reads_text: ClassVar[bool] = False
    absent: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("domain", "suffix", "url", "word", "subword"), "no entry of the lists was met"),
        "soft_words": "no soft_words_file was given",
    }

    def __post_init__(self) -> None:
        if any(_NOT_IN_WORDS.search(word) or not word for word in self.words):
            raise ValueError("words must be single words of letters and digits")
        wrong = next((suffix for suffix in self.suffixes if not is_suffix(_bare(suffix))), None)
        if wrong is not None:
            raise ValueError(f"suffixes: '{wrong}' is no public suffix; write it under domains")

    def check(self, before: object, after: object) -> None:
        """Raises ValueError where a list can't be read, or there is none."""
        lists = (field.name for field in fields(self) if field.name.endswith("_file"))
        named = [(option, path) for option in lists if (path := getattr(self, option)) is not None]
        for field, path in named:
            if not Path(path).is_file():
                raise ValueError(f"{field}: there is no file '{path}'; give a list with one entry a line")
        if not named and not self.domains and not self.words and not self.suffixes:
            raise ValueError("has no list; give domains, suffixes, words, or a file of them")

    def measure(self, doc: Document) -> dict[str, Any]:
        """The page's site, the listed entry that was met, for each list, or None, and the number of soft words."""
        words = set(_NOT_IN_WORDS.split(unquote(doc.url).casefold()))
        within = _within(self.subwords_file)
        squeezed = _NOT_IN_WORDS.sub("", unquote(doc.url).casefold()) if within else ""
        subword = within.search(squeezed) if within else None
        same, host = same_url(doc.url), host_of(doc.url)
        return {
            "site": site_of(host) or None,
            "domain": self._listed_domain(host),
            "suffix": self._listed_suffix(host),
            "url": same if same in _urls(self.urls_file) else None,
            "word": min(words & _words(self.words_file, self.words), default=None),
            "soft_words": len(words & _words(self.soft_words_file)) if self.soft_words_file else None,
            "subword": subword.group() if subword else None,
        }

    def _listed_domain(self, host: str) -> str | None:
        """The shortest listed domain that a host is or lies below."""
        labels = host.split(".")[-_MOST_LABELS:]
        below, alone = _domains(self.domains_file, self.domains)
        above = (".".join(labels[start:]) for start in range(len(labels) - 1, -1, -1))
        listed = next((domain for domain in above if domain in below), None)
        return host if listed is None and host.removeprefix("www.") in alone else listed

    def _listed_suffix(self, host: str) -> str | None:
        """The listed suffix under which a host lies."""
        suffix = suffix_of(host) if self.suffixes else ""
        return next((listed for listed in self.suffixes if f".{suffix}".endswith(f".{_bare(listed)}")), None)
