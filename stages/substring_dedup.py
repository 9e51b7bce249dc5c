"""Cuts spans of 50 words and more that stand elsewhere word for word (Lee et al. 2022, arXiv:2107.06499, section 4.1).

Every window of `min_tokens` words is hashed and sorted: what lies in a window that repeats is repeated. So the result
is that of a suffix array, without its memory and its limit on the size of a part.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from curate.corpus import Corpus
from curate.document import Document, Drop
from curate.stage import Cuts, Sketch, Span, Verdicts
from stages.spans.cuts import cuts_of
from stages.spans.repeats import carried
from stages.spans.windows import token_spans, tokens_of, windows, with_gap

I64 = npt.NDArray[np.int64]
Least = Annotated[int, Field(ge=0)]


class _StretchTask(NamedTuple):
    corpus: Corpus
    keep: Literal["first", "none"]
    width: int
    partition: int


def _find(task: _StretchTask) -> Path:
    return cuts_of(task.corpus, task.partition, task.keep, task.width)


@dataclass(frozen=True, kw_only=True)
class SubstringDedup:
    """Cuts repeated spans, or drops documents that hold one. The first in crawl order stays, or none.

    A token is a word between white space, as it is written; in scripts without spaces (Han, kana, Thai, Lao, Khmer,
    Myanmar) a letter. Spans never cross from one document into another.
    """

    min_tokens: Annotated[int, Field(ge=2, le=10_000)] = 50
    """tokens from which a span counts as repeated"""
    keep: Literal["first", "none"] = "first"
    """of equal spans: the first stays, or none"""
    action: Literal["cut", "drop"] = "cut"
    """cut: take the spans out; drop: drop each document that would be cut"""
    max_cut_ratio: Annotated[float, Field(ge=0, le=1)] | None = None
    """largest share of a document's characters that may be cut; it is dropped above"""
    min_words_left: Least | None = None
    """fewest words of a document that was cut"""
    min_characters_left: Least | None = None
    """fewest characters of a document that was cut"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = (
        "repeated_span",
        "nothing_left",
        "too_much_cut",
        "too_few_words_left",
        "too_few_characters_left",
    )
    record: ClassVar[np.dtype[Any] | None] = None
    carries: ClassVar[bool] = True

    def sketch(self, doc: Document) -> Sketch:
        return self.sketch_all([doc])[0]

    def sketch_all(self, docs: Sequence[Document]) -> list[Sketch]:
        """The sketches of some documents, made together."""
        found = windows([tokens_of(doc.text) for doc in docs], self.min_tokens)
        ends = np.cumsum(found.counts)
        places = np.arange(len(found.keys)) - np.repeat(ends - found.counts, found.counts)
        values = carried(found.checks, places)
        return [
            Sketch(found.keys[end - count : end], None, values[end - count : end])
            for end, count in zip(ends.tolist(), found.counts.tolist())
        ]

    def decide(self, corpus: Corpus) -> Iterator[Verdicts | Cuts]:
        tasks = [_StretchTask(corpus, self.keep, self.min_tokens, partition) for partition in range(corpus.partitions)]
        for path in corpus.map(_find, tasks):
            yield from Cuts.load(path)

    def spans(self, doc: Document, starts: I64, ends: I64) -> list[tuple[int, int]]:
        """Characters of the tokens `starts` to `ends` - 1, and the white space on one side of them."""
        places = token_spans(doc.text)
        return [with_gap(doc.text, places, first, behind) for first, behind in zip(starts.tolist(), ends.tolist())]

    def recheck(self, doc: Document, before: Document, cut: Sequence[Span]) -> Drop | None:
        """What a document that was cut breaks."""
        share = 1 - len(doc.text) / len(before.text)
        words, characters = len(doc.words), len(doc.text.strip())
        if self.action == "drop":
            return Drop("repeated_span", share, 0)
        if not words:
            return Drop("nothing_left", 0)
        if self.max_cut_ratio is not None and share > self.max_cut_ratio:
            return Drop("too_much_cut", share, self.max_cut_ratio)
        if self.min_words_left is not None and words < self.min_words_left:
            return Drop("too_few_words_left", words, self.min_words_left)
        if self.min_characters_left is not None and characters < self.min_characters_left:
            return Drop("too_few_characters_left", characters, self.min_characters_left)
        return None
