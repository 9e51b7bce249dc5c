"""Cuts lines or paragraphs that repeat over a domain or the corpus: menus, notices, signatures.

CCNet's paragraphs (Wenzek et al. 2020, 3.2), Dolma's (Soldaini et al. 2024, 5.4) and C4's lines are this with other
options. Exact: repeats are counted by a sort, not guessed by a Bloom filter.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash
from pydantic import Field

from curate.corpus import Corpus
from curate.document import Document, Drop
from curate.stage import Cuts, Sketch, Span, Verdicts
from stages.c4 import sentences
from stages.spans.cuts import cuts_of
from stages.spans.repeats import Keep, carried
from stages.spans.units import digests, same_unit, spans, units

I64 = npt.NDArray[np.int64]
Least = Annotated[int, Field(ge=0)]


_SAYS = re.compile(r"[^\W_]")  # a letter or a digit: rules of tables and lone bullets have none


class _LineTask(NamedTuple):
    corpus: Corpus
    keep: Keep
    partition: int


def _find(task: _LineTask) -> Path:
    return cuts_of(task.corpus, task.partition, task.keep, 1)


def _place(doc: Document) -> str:
    """What holds a document together with others: its URL's host without `www.`, or else its source."""
    try:
        host = urlsplit(doc.url).hostname or ""
    except ValueError:
        host = ""
    return host.removeprefix("www.") or f"\n{doc.address.source}"


@dataclass(frozen=True, kw_only=True)
class LineDedup:
    """Cuts lines that repeat. Of equal ones the first in crawl order stays, or none, or all that are not too many.

    Two lines are equal when they are after case is folded, digits are made 0 and white space runs one space.
    """

    unit: Literal["line", "paragraph"] = "line"
    """what is compared and cut: lines, or runs of lines between blank ones"""
    keep: Keep = "first"
    """of equal lines: the first, none, or {max_count: N}: all where there are at most N, else none"""
    scope: Literal["domain", "corpus"] = "domain"
    """where lines are equal: within a URL's host (documents without one: within their source), or everywhere"""
    exact: bool = False
    """compare lines byte by byte"""
    min_words: Least = 1
    """shorter lines are not looked at and stay; so do lines without a letter or digit"""
    min_words_left: Least | None = None
    """fewest words of a document that was cut"""
    min_sentences_left: Least | None = None
    """fewest sentences of a document that was cut, counted as `c4` does"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("nothing_left", "too_few_words_left", "too_few_sentences_left")
    record: ClassVar[np.dtype[Any] | None] = None
    carries: ClassVar[bool] = True

    def _units(self, doc: Document) -> list[tuple[int, int]]:
        return units(doc.text, self.unit)

    def sketch(self, doc: Document) -> Sketch:
        parts = [doc.text[start:end] for start, end in self._units(doc)]
        least = self.min_words
        compared = [bool(_SAYS.search(part)) and (least <= 1 or len(part.split()) >= least) for part in parts]
        places = np.flatnonzero(compared).astype(np.uint64)
        parts = [parts[place] for place in places]
        seed = xxhash.xxh3_64_intdigest(_place(doc).encode("utf-8", "surrogatepass")) if self.scope == "domain" else 0
        found = digests(parts if self.exact else [same_unit(part) for part in parts], seed)
        return Sketch(found[:, 0], None, carried(found[:, 1], places))

    def decide(self, corpus: Corpus) -> Iterator[Verdicts | Cuts]:
        tasks = [_LineTask(corpus, self.keep, partition) for partition in range(corpus.partitions)]
        for path in corpus.map(_find, tasks):
            yield from Cuts.load(path)

    def spans(self, doc: Document, starts: I64, ends: I64) -> list[tuple[int, int]]:
        """Characters of the units `starts` to `ends` - 1."""
        return spans(doc.text, [start for start, _ in self._units(doc)], starts, ends)

    def recheck(self, doc: Document, before: Document, cut: Sequence[Span]) -> Drop | None:
        """What a document that was cut breaks."""
        words = len(doc.words)
        if not words:
            return Drop("nothing_left", 0)
        if self.min_words_left is not None and words < self.min_words_left:
            return Drop("too_few_words_left", words, self.min_words_left)
        if self.min_sentences_left is not None:
            found = sum(map(sentences, filter(None, doc.text.split("\n"))))
            if found < self.min_sentences_left:
                return Drop("too_few_sentences_left", found, self.min_sentences_left)
        return None
