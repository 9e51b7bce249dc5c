"""Line corrections: RefinedWeb's as the paper tells them, and as DCLM rebuilt them (Penedo et al. 2023, G.2).

`refinedweb` looks at each line without the white space around it and takes phrases as they are written. `dclm` does
what DCLM's code does (mlfoundations/dclm 361714b, `modifiers.py`): one pass over the text a rule, white space at
both ends of the text taken off after each, lines as they stand, and phrases as patterns, so that a dot in one stands
for any character.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_COUNTED = "likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|downvotes|downloads|views|followers"
_COUNTER = re.compile(rf"\W*+\d[,.\d]*+[kmb]?\s+(?:{_COUNTED})\W*$")  # "3 likes", of a line in lower case
_ASCII_WORD = re.compile(r"[^ \n\r\t\v\f\0]+")

Keeps = Callable[[str], bool]


@dataclass(frozen=True)
class LineOptions:
    """Which lines go and what is cut from short ones; None and false turn a rule off."""

    max_uppercase_ratio: float | None
    remove_numeric_lines: bool
    remove_counter_lines: bool
    min_line_words: int | None
    max_phrase_line_words: int
    phrases_anywhere: tuple[str, ...]
    phrases_at_end: tuple[str, ...]
    phrases_at_start: tuple[str, ...]


def is_uppercase(line: str, most: float) -> bool:
    """Whether more than this share of a line's characters are capitals."""
    return bool(line) and not line.islower() and sum(map(str.isupper, line)) / len(line) > most


def is_counter(line: str) -> bool:
    """Whether a line is a counter of a social network: a number and what it counts."""
    return _COUNTER.match(line.lower()) is not None


def _keepers(rules: LineOptions) -> Iterable[Keeps]:
    """The rules that take whole lines, in order; each tells whether a line stays."""
    most, least = rules.max_uppercase_ratio, rules.min_line_words
    if most is not None:
        yield lambda line: not is_uppercase(line, most)
    if rules.remove_numeric_lines:
        yield lambda line: not line.isdigit()
    if rules.remove_counter_lines:
        yield lambda line: not is_counter(line)
    if least is not None:
        yield lambda line: not line or len(line.split()) >= least


@lru_cache(maxsize=64)
def _cuts(rules: LineOptions, as_written: bool) -> tuple[re.Pattern[str], ...]:
    """The patterns of the phrases, in order: anywhere, at the end, at the start; a blank beside one goes with it."""
    found = []
    for phrases, form in (
        (rules.phrases_anywhere, r"\s?{}"),
        (rules.phrases_at_end, r"\s?{}$"),
        (rules.phrases_at_start, r"^{}\s?"),
    ):
        escape: Callable[[str], str] = re.escape if as_written else _dots_for_any
        if phrases:
            found.append(re.compile(form.format(f"(?:{'|'.join(map(escape, phrases))})"), re.IGNORECASE))
    return tuple(found)


def _dots_for_any(phrase: str) -> str:
    return re.escape(phrase).replace(r"\.", ".")


def refinedweb(text: str, rules: LineOptions) -> str:
    """A text without the lines and phrases that RefinedWeb's corrections take; empty lines stay."""
    keepers, cuts = tuple(_keepers(rules)), _cuts(rules, as_written=True)
    kept = []
    for line in map(str.strip, text.split("\n")):
        if not all(stays(line) for stays in keepers):
            continue
        cut = line
        if cuts and len(line.split()) <= rules.max_phrase_line_words:
            for pattern in cuts:
                cut = pattern.sub("", cut)
            cut = cut.strip()
        if cut or not line:
            kept.append(cut)
    return "\n".join(kept).strip()


def _ends_off(lines: Sequence[str]) -> list[str]:
    return "\n".join(lines).strip().split("\n")


def _cut(lines: Iterable[str], pattern: re.Pattern[str], most_words: int) -> Iterator[str]:
    """Lines with a pattern cut from the short ones; a line of which only white space is left goes."""
    for line in lines:
        if len(line.split()) > most_words:
            yield line
        elif (cut := pattern.sub("", line)).strip() or not line:
            yield cut


def dclm(text: str, rules: LineOptions) -> str:
    """A text as DCLM's chain of line modifiers leaves it; "" where that drops the page for lack of text."""
    lines = text.split("\n")
    for stays in _keepers(rules):
        lines = _ends_off([line for line in lines if stays(line)])
    for pattern in _cuts(rules, as_written=False):
        lines = _ends_off(list(_cut(lines, pattern, rules.max_phrase_line_words)))
    return "\n".join(lines)


def white_space_words(text: str) -> int:
    """Number of words between white space."""
    return len(text.split())


def dclm_words(text: str) -> int:
    """DCLM's number of words: pieces between ASCII white space that begin with a letter or digit."""
    return sum(word[0].isalnum() for word in _ASCII_WORD.findall(text))
