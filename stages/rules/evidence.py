"""Where in a dropped text the cause lies: the characters that a rule of the public rule sets complained about."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from curate.text import WORD, word_grams

Span = tuple[int, int]
Finder = Callable[[str, re.Match[str]], Iterable[Span]]

_LINE = re.compile(r"[^\n]*[^\s][^\n]*")
_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")
_BULLET = re.compile(r"\s*[•‣⁃◦●▪■*\-–—]")
_END_MARK = re.compile(r"[.?!\"'”’)]\s*$")
SHORT_LINE = 30  # characters, as in FineWeb (Penedo et al. 2024, section 3.6)
LONG_WORD, SHORT_WORD = 15, 2  # characters, where the rule is about the mean


def marked(text: str, reason: str) -> Iterator[Span]:
    """The places in a text that a reason is about; none where it is about the whole page. They may overlap."""
    for pattern, finder in _FINDERS:
        match = pattern.fullmatch(reason)
        if match:
            yield from finder(text, match)
            return


def _literal(pattern: str) -> Finder:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text, match: (found.span() for found in compiled.finditer(text))


def _units(unit: re.Pattern[str], wanted: Callable[[str], bool]) -> Finder:
    """Words or lines that a test picks."""
    return lambda text, match: (found.span() for found in unit.finditer(text) if wanted(found.group()))


def _repeated(unit: re.Pattern[str]) -> Finder:
    """Lines or paragraphs that stood before."""

    def find(text: str, match: re.Match[str]) -> Iterator[Span]:
        seen: set[str] = set()
        for found in unit.finditer(text):
            if found.group().strip() in seen:
                yield found.span()
            seen.add(found.group().strip())

    return find


def _duplicate_grams(text: str, match: re.Match[str]) -> Iterator[Span]:
    seen: set[tuple[str, ...]] = set()
    for gram, span in word_grams(text, int(match[1])):
        if gram in seen:
            yield span
        seen.add(gram)


def _top_gram(text: str, match: re.Match[str]) -> Iterator[Span]:
    """The n-gram that takes the most characters."""
    grams = word_grams(text, int(match[1]))
    counts = Counter(gram for gram, _ in grams)
    if counts:
        top = max(counts, key=lambda gram: (counts[gram] * sum(map(len, gram)), gram))
        yield from (span for gram, span in grams if gram == top and counts[top] > 1)


_FINDERS: tuple[tuple[re.Pattern[str], Finder], ...] = tuple(
    (re.compile(pattern), finder)
    for pattern, finder in (
        (r"duplicate_(\d+)_grams?", _duplicate_grams),
        (r"top_(\d+)_grams?", _top_gram),
        (r"duplicate_line.*", _repeated(_LINE)),
        (r"duplicate_paragraph.*", _repeated(_PARAGRAPH)),
        (r"too_many_hash.*", _literal("#")),
        (r"too_many_ellipsis_lines", _units(_LINE, lambda line: line.rstrip().endswith(("…", "...")))),
        (r"too_many_ellips.*", _literal(r"…|\.\.\.")),
        (r"too_many_symbols", _literal(r"#|…|\.\.\.")),
        (r"too_many_bullet.*", _units(_LINE, lambda line: bool(_BULLET.match(line)))),
        (r"too_few_alphabetic_words", _units(WORD, lambda word: not any(map(str.isalpha, word)))),
        (r"words_too_long", _units(WORD, lambda word: len(word) >= LONG_WORD)),
        (r"words_too_short", _units(WORD, lambda word: len(word) <= SHORT_WORD)),
        (r"too_many_short_lines", _units(_LINE, lambda line: len(line) <= SHORT_LINE)),
        (r"too_few_lines_with_end_mark", _units(_LINE, lambda line: not _END_MARK.search(line))),
        (r"too_many_line_breaks", _units(_LINE, lambda line: len(line) <= SHORT_LINE)),
        (r"lorem_ipsum", _literal("lorem ipsum")),
        (r"curly_brackets?", _literal(r"\{")),
    )
)
