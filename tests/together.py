"""Stages of one's own that take many documents at once, and note how many came together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Document, Drop
from curate.stage import Rule, RuleStage
from tests.hostile import Hostile

CALLS: list[int] = []  # documents of each call, of this process


@dataclass(frozen=True, kw_only=True)
class Reversing:
    """Turns texts around and drops those that hold `word`."""

    word: str = "meadow"
    owes: int = 0  # results that it keeps back

    adds: ClassVar[Mapping[str, pa.DataType]] = {"letters": pa.int64()}
    reasons: ClassVar[tuple[str, ...]] = ("listed",)

    def apply(self, doc: Document) -> Document | Drop:
        if "cursed" in doc.text:
            raise ValueError("a cursed text")
        if self.word in doc.words:
            return Drop("listed", cause=self.word)
        return doc.with_text(doc.text[::-1]).annotate(letters=len(doc.text))

    def apply_all(self, docs: Sequence[Document]) -> list[Document | Drop]:
        CALLS.append(len(docs))
        return [self.apply(doc) for doc in docs][self.owes :]


@dataclass(frozen=True, kw_only=True)
class Scoring(RuleStage):
    """Scores texts by their share of the letter e."""

    min_share: float | None = 0.08
    measures: ClassVar[Mapping[str, pa.DataType]] = {"share": pa.float64()}
    adds: ClassVar[Mapping[str, pa.DataType]] = measures
    rules: ClassVar[tuple[Rule, ...]] = (Rule("few_es", "share", "min_share"),)

    def clean(self, doc: Document) -> Document:
        return doc.with_text(doc.text.lower())

    def measure(self, doc: Document) -> dict[str, Any]:
        return self.measure_all([doc])[0]

    def measure_all(self, docs: Sequence[Document]) -> list[dict[str, Any]]:
        CALLS.append(len(docs))
        return [{"share": doc.text.count("e") / max(1, len(doc.text))} for doc in docs]


@dataclass(frozen=True, kw_only=True)
class HostileTogether(Hostile):
    """As `Hostile`, to many pages at once."""

    def apply_all(self, docs: Sequence[Document]) -> list[Document | Drop]:
        return [self.apply(doc) for doc in docs]
