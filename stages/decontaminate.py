"""Finds the examples of evaluation sets in the documents, by n-grams of words, and drops the documents or cuts them.

GPT-3's filter (Brown et al. 2020, appendix C): 13 words in lower case without punctuation; n-grams that stand in more
than 10 documents are no evidence; cut with 200 characters on each side.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from curate.corpus import Corpus
from curate.document import Document, Drop
from curate.stage import CUT, Cuts, FileName, Sketch, Span, Verdicts
from stages.spans.evaluation_sets import EvaluationText, Grams, Index, made
from stages.spans.plain_words import plain_places, plain_words
from stages.spans.repeats import PLACE_BITS, PLACES

I64 = npt.NDArray[np.int64]
Count = Annotated[int, Field(ge=0)]


@lru_cache(maxsize=4)
def _index(sets: tuple[tuple[str, str], ...], fields: tuple[str, ...] | None, size: int, least: int) -> Index:
    return made(dict(sets), fields, size, least)


class _OverlapTask(NamedTuple):
    corpus: Corpus
    stage: "Decontaminate"
    partition: int


def _find(task: _OverlapTask) -> Path:
    return task.stage.found(task.corpus, task.partition)


@dataclass(frozen=True, kw_only=True)
class Decontaminate:
    """Drops documents that hold an n-gram of an evaluation set, or cuts it out; tells which example each one is of.

    Words are compared in lower case and without punctuation. The column `cause` of `cuts/` names set, example, field.
    """

    sets: Mapping[str, FileName]
    """a name and the path of a file for each evaluation set: JSONL (perhaps .gz) or Parquet"""
    fields: tuple[str, ...] | None = None
    """fields of the examples that hold texts (null: all); `id` names an example, else its row does"""
    ngram: Annotated[int, Field(ge=2, le=1000)] = 13
    """words of an n-gram"""
    min_ngram: Annotated[int, Field(ge=2, le=1000)] = 8
    """texts of fewer words than `ngram` must be met as a whole; those of fewer than this are left out, and counted"""
    max_documents: Annotated[int, Field(ge=1)] | None = 10
    """n-grams in more documents are no evidence: a proverb, a licence (null: all are)"""
    action: Literal["drop", "cut"] = "drop"
    """drop the document, or cut the n-gram and what stands around it"""
    around: Count = 200
    """cut: characters on each side that go with an n-gram"""
    min_piece: Count = 200
    """cut: characters of a piece between cuts below which it goes, too"""
    max_pieces: Annotated[int, Field(ge=1)] | None = 10
    """cut: pieces above which the document is dropped"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("contaminated", "nothing_left", "too_many_pieces")
    record: ClassVar[np.dtype[Any] | None] = None
    carries: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.sets:
            raise ValueError("sets: name a file for at least one evaluation set")
        if self.min_ngram > self.ngram:
            raise ValueError(f"min_ngram ({self.min_ngram}) must not be above ngram ({self.ngram})")

    def check(self, before: object, after: object) -> None:
        """Raises UserError where a set can't be read, before a page is."""
        self.index()

    def index(self) -> Index:
        """The n-grams of the sets, made once a process."""
        fields = None if self.fields is None else tuple(self.fields)
        return _index(tuple(sorted(self.sets.items())), fields, self.ngram, self.min_ngram)

    def sketch(self, doc: Document) -> Sketch:
        return self.sketch_all([doc])[0]

    def sketch_all(self, docs: Sequence[Document]) -> list[Sketch]:
        """The sketches of some documents: a key for each n-gram that a set has, which carries the place and which."""
        texts, index, first = [plain_words(doc.text) for doc in docs], self.index(), 0
        keys: list[list[Any]] = [[] for _ in docs]
        carried: list[list[Any]] = [[] for _ in docs]
        for grams in index.grams:
            for number, (places, which, found) in enumerate(index.hits(texts, grams)):
                if len(places):
                    keys[number].append(found)
                    which = (which + first).astype(np.uint64)
                    carried[number].append((which << PLACE_BITS) | places.astype(np.uint64))
            first += len(grams.keys)
        none = np.empty(0, np.uint64)
        return [
            Sketch(np.concatenate([none, *some]), None, np.concatenate([none, *marks]))
            for some, marks in zip(keys, carried)
        ]

    def _gram(self, number: int) -> tuple[Grams, int]:
        """The n-grams of a length, and the place among them, of n-gram `number` of all."""
        for grams in self.index().grams:
            if number < len(grams.keys):
                return grams, number
            number -= len(grams.keys)
        raise IndexError(number)

    def found(self, corpus: Corpus, partition: int) -> Path:
        """The file of one partition's cuts, after a cut of no document that says how many n-grams are no evidence."""

        def write(path: Path) -> None:
            _, documents, carried = corpus.entries(partition)
            which = (carried >> PLACE_BITS).astype(np.int64)
            held = np.unique(np.stack([which, documents], axis=1), axis=0)[:, 0]
            grams, counts = np.unique(held, return_counts=True)
            common = grams[counts > self.max_documents] if self.max_documents is not None else grams[:0]
            mine = ~np.isin(which, common)
            sizes = np.array([self._gram(gram)[0].size for gram in grams.tolist()], np.int64)
            items = np.zeros(int(mine.sum()) + 1, CUT)
            items["document"][0], items["end"][0] = -1, len(common)
            items["document"][1:], items["cause"][1:] = documents[mine], which[mine]
            items["start"][1:] = carried[mine] & PLACES
            items["end"][1:] = items["start"][1:] + sizes[np.searchsorted(grams, which[mine])]
            items["matched"] = -1
            items.tofile(path)

        return corpus.saved(f"cuts-{partition:05}", write)

    def decide(self, corpus: Corpus) -> Iterator[Verdicts | Cuts]:
        tasks = [_OverlapTask(corpus, self, partition) for partition in range(corpus.partitions)]
        pairs = [np.empty((0, 2), np.int64)]
        common = 0
        for path in corpus.map(_find, tasks):
            for some in Cuts.load(path):
                real = some.items["document"] >= 0
                common += int(some.items["end"][~real].sum())
                items = some.items[real]
                pairs.append(np.unique(np.stack([items["document"], items["cause"]], axis=1), axis=0))
                yield Cuts(items)
        self._note(corpus, np.concatenate(pairs), common)

    def _note(self, corpus: Corpus, pairs: I64, common: int) -> None:
        """Examples, n-grams and documents hit, for the report. `pairs` are documents and n-grams."""
        index = self.index()
        of_gram = np.concatenate([np.empty(0, np.int64), *(grams.examples for grams in index.grams)])
        hit = of_gram[pairs[:, 1]]
        notes = {"ngrams": index.count, "ngrams_in_too_many_documents": common, "texts_too_short": index.too_short}
        for name in sorted(self.sets):
            mine = np.array([example.set == name for example in index.examples])
            ids = {index.examples[number].id for number in np.unique(hit[mine[hit]]).tolist()} if len(hit) else set()
            notes[f"{name}.examples"] = len({example.id for example in index.examples if example.set == name})
            notes[f"{name}.examples_met"] = len(ids)
            notes[f"{name}.documents"] = len(np.unique(pairs[mine[hit], 0])) if len(hit) else 0
        corpus.notes.update(notes)

    def cause(self, number: int) -> str:
        """The example that n-gram `number` is of."""
        grams, place = self._gram(number)
        return str(self._example(grams, place))

    def _example(self, grams: Grams, place: int) -> EvaluationText:
        return self.index().examples[int(grams.examples[place])]

    def spans(self, doc: Document, starts: I64, ends: I64) -> list[Span]:
        """Characters of the words `starts` to `ends` - 1, to be cut with what stands around them and small pieces."""
        places, size = plain_places(doc.text), len(doc.text)
        found = [(places[first][0], places[behind - 1][1]) for first, behind in zip(starts.tolist(), ends.tolist())]
        if self.action == "drop":
            return found
        widened, end = [], 0
        for start, stop in ((max(0, start - self.around), min(size, stop + self.around)) for start, stop in found):
            small = start - end < self.min_piece  # what is left before it
            widened.append((min(start, end) if small else start, stop))
            end = stop
        if size - end < self.min_piece:
            widened[-1] = (widened[-1][0], size)
        return widened

    def recheck(self, doc: Document, before: Document, cut: Sequence[Span]) -> Drop | None:
        """The verdict on a document that holds an n-gram of a set."""
        if self.action == "drop":
            return Drop("contaminated", len(cut), 0, self._evidence(before, cut[0]))
        if not doc.words:
            return Drop("nothing_left", 0)
        edges = [0, *(edge for span in cut for edge in span), len(before.text)]
        pieces = sum(end > start for start, end in zip(edges[0::2], edges[1::2]))
        if self.max_pieces is not None and pieces > self.max_pieces:
            return Drop("too_many_pieces", pieces, self.max_pieces, self._evidence(before, cut[0]))
        return None

    def _evidence(self, doc: Document, span: Span) -> str:
        """The first example that a span of a document holds, and the words that it shares."""
        words = plain_words(doc.text[slice(*span)])
        for grams in self.index().grams:
            for places, which, _ in self.index().hits([words], grams):
                if len(places):
                    shared = words[int(places[0]) : int(places[0]) + grams.size]
                    return f"{self._example(grams, int(which[0]))}: {' '.join(shared)}"
        return ""
