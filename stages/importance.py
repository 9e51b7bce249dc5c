"""Importance resampling: the pages most like a target set, under a budget (DSIR; Xie et al. 2023, section 3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash
from pydantic import Field

from curate.corpus import Corpus
from curate.document import Document
from curate.errors import UserError
from curate.stage import FileName, Sketch, Verdicts
from stages.models import importance_model
from stages.models.importance_model import ImportanceModel, ImportanceTrainer

U64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

PAGE = np.dtype([("weight", "<f8"), ("hash", "<u8"), ("tokens", "<i8"), ("words", "<i8")])
MOST_TOKENS = 1 << 40  # of one document; sums over 2**22 of these still fit
DIGIT = 16  # bits of the key looked at in one pass over the records
SIGN = np.uint64(1 << 63)


@lru_cache(maxsize=4)
def load_model(path: str) -> ImportanceModel:
    """The model in a file, once a process."""
    return importance_model.load_model(path)


def gumbel(hashes: U64) -> npt.NDArray[np.float64]:
    """Gumbel noise of evenly spread 64-bit numbers: -log(-log u), u from (0, 1)."""
    u = ((hashes >> np.uint64(12)).astype(np.float64) + 0.5) / (1 << 52)  # 53 bits: never rounds to 1
    noise: npt.NDArray[np.float64] = -np.log(-np.log(u))
    return noise


def descending(values: npt.NDArray[np.float64]) -> U64:
    """Numbers that are the smaller, the larger a value is."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    return ~np.where(bits & SIGN, ~bits, bits | SIGN)


@dataclass(frozen=True, kw_only=True)
class Importance:
    """Draws pages by their importance weight, without replacement, until a budget is full.

    The draw is Gumbel top-k: the pages with the largest log-weight plus noise, where the noise of a page depends on
    `seed` and its text alone. So it is the same at any worker count and in any order of the crawl.
    """

    model: FileName
    """a file that `curate train importance` wrote"""
    tokens: Annotated[float, Field(ge=1, le=1 << 60)] | None = None
    """the budget in tokens; needs the column `token_count`"""
    documents: Annotated[int, Field(ge=1)] | None = None
    """the budget in documents; one of both is given"""
    min_words: Annotated[int, Field(ge=0)] | None = 100
    """fewest words at white space; DSIR draws from no shorter pages (null: from all)"""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    """another seed draws other pages"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"importance": pa.float64()}
    reasons: ClassVar[tuple[str, ...]] = ("too_few_words", "not_drawn")
    record: ClassVar[np.dtype[Any] | None] = PAGE
    trainer: ClassVar[type[ImportanceTrainer]] = ImportanceTrainer

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.documents is None):
            raise ValueError("the budget is `tokens` or `documents`: give one of the two")

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes that earlier stages or sources must have set."""
        return ("token_count",) if self.tokens is not None else ()

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model is missing or foreign, before a page is read."""
        load_model(self.model)

    def sketch(self, doc: Document) -> Sketch:
        tokens = 1 if self.tokens is None else doc.attributes.get("token_count")
        if tokens is None or not 0 <= tokens <= MOST_TOKENS:
            raise UserError(f"importance: {doc.address}: has no token_count; put the stage `tokens` before it")
        digest = xxhash.xxh3_64_intdigest(doc.text.encode("utf-8", "surrogatepass"), seed=self.seed)
        weight = load_model(self.model).log_weight(doc.text)
        return Sketch(np.empty(0, np.uint64), np.array([(weight, digest, tokens, len(doc.words))], PAGE))

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        room = round(self.tokens or self.documents or 0)
        cut = self._cut(corpus, room)
        totals = {"drawn_from": 0, "drawn": 0, "drawn_tokens": 0, "words_before": 0, "words_after": 0}
        for start, records, living in corpus.blocks():
            fit = living & self._fit(records)
            drawn = cut.inside(records, fit)
            yield Verdicts(start + np.flatnonzero(living & ~fit), "too_few_words")
            yield Verdicts(start + np.flatnonzero(fit & ~drawn), "not_drawn")
            kept = start + np.flatnonzero(drawn)
            yield Verdicts(kept, None, columns={"importance": records["weight"][drawn]})
            totals["drawn_from"] += int(fit.sum())
            totals["drawn"] += len(kept)
            totals["drawn_tokens"] += int(records["tokens"][drawn].sum())
            totals["words_before"] += int(records["words"][fit].sum())
            totals["words_after"] += int(records["words"][drawn].sum())
        corpus.notes.update(self._notes(totals))

    def _notes(self, totals: dict[str, int]) -> dict[str, int]:
        """What the report says; mean lengths, since long pages have the larger weights, on both sides of 0."""
        return {
            "drawn_from": totals["drawn_from"],
            "drawn": totals["drawn"],
            **({} if self.tokens is None else {"drawn_tokens": totals["drawn_tokens"]}),
            "mean_words_before": round(totals["words_before"] / max(totals["drawn_from"], 1)),
            "mean_words_after": round(totals["words_after"] / max(totals["drawn"], 1)),
        }

    def _fit(self, records: npt.NDArray[Any]) -> Mask:
        enough: Mask = records["words"] >= (self.min_words or 0)
        return enough

    def _cut(self, corpus: Corpus, room: int) -> "_BudgetEnd":
        """Where the longest run of pages that fits ends: by the digits of their keys, one digit a pass."""
        cut, taken = 0, 0
        for shift in range(64 - DIGIT, -1, -DIGIT):
            held = np.zeros(1 << DIGIT, np.int64)
            for _, records, living in corpus.blocks():
                keys = _keys(records)
                open_ = living & self._fit(records)
                if shift < 64 - DIGIT:
                    above = np.uint64(shift + DIGIT)
                    open_ &= (keys >> above) == np.uint64(cut >> (shift + DIGIT))
                digits = (keys[open_] >> np.uint64(shift)) & np.uint64((1 << DIGIT) - 1)
                np.add.at(held, digits.astype(np.int64), records["tokens"][open_])
            upto = np.cumsum(held)
            if shift == 64 - DIGIT and upto[-1] <= room:
                return _BudgetEnd((1 << 64) - 1, room, everything=True)
            digit = int(np.searchsorted(upto, room - taken, "right"))
            taken += int(upto[digit - 1]) if digit else 0
            cut |= digit << shift
        return _BudgetEnd(cut, room - taken)


def _keys(records: npt.NDArray[Any]) -> U64:
    return descending(records["weight"] + gumbel(records["hash"]))


@dataclass
class _BudgetEnd:
    """The key at which the budget is full; `room` is what is left for the pages that have this very key."""

    key: int
    room: int
    everything: bool = False

    def inside(self, records: npt.NDArray[Any], fit: Mask) -> Mask:
        """Which of some records are drawn, of equal keys the first ones; blocks come in document order."""
        if self.everything:
            return fit
        keys = _keys(records)
        drawn = fit & (keys < np.uint64(self.key))
        for place in np.flatnonzero(fit & (keys == np.uint64(self.key))):
            tokens = int(records["tokens"][place])
            drawn[place] = tokens <= self.room
            self.room -= tokens if drawn[place] else self.room + 1  # after one that does not fit none does
        return drawn
