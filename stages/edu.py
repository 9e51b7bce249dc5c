"""Educational value by a classifier, as FineWeb-Edu has it (Penedo et al. 2024, section 4), or by a column."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import FileName, Rule, RuleStage
from stages.models.onnx_file import load_scorer
from stages.rules.scope import in_scope


@dataclass(frozen=True, kw_only=True)
class Edu(RuleStage):
    """Drops pages that a text classifier, an ONNX file of yours, gives a low score; or those with a low column."""

    model: FileName | None = None
    """path of an ONNX text classifier (FineWeb-Edu's exported, or any with the same inputs)"""
    tokenizer: FileName | None = None
    """path of its `tokenizer.json`"""
    column: str | None = None
    """a numeric column that holds the score already, in place of `model` and `tokenizer`"""
    min_score: float | None = 2.5
    """least score, kept at the limit itself; 2.5 is what FineWeb-Edu's rounded 3 begins at (null: score only)"""
    max_tokens: Annotated[int, Field(ge=8, le=8192)] = 512
    """tokens of the text that the model sees, its own marks included"""
    output: Annotated[int, Field(ge=0)] = 0
    """which of the numbers that the model gives a text is the score, from 0"""
    languages: tuple[str, ...] | None = None
    """whom the model is for; pages whose `language` is another pass with a null score (null: all are scored)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"edu_score": pa.float64()}
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = (Rule("low_score", "edu_score", "min_score"),)
    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(measures, "the model is for other languages, or gave no number")

    def __post_init__(self) -> None:
        if (self.model is None) == (self.column is None):
            raise ValueError("the score comes from `model` and `tokenizer`, or from `column`: give one of the two")
        if (self.model is None) != (self.tokenizer is None):
            raise ValueError("`model` and `tokenizer` belong together: give both")

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes that earlier stages or sources must have set."""
        return (self.column,) if self.column else ()

    @property
    def needs_numbers(self) -> tuple[str, ...]:
        """Those of them that must be numbers."""
        return self.needs

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model can't be had, before a page is read."""
        if self.model and self.tokenizer:
            load_scorer(self.model, self.tokenizer, self.max_tokens, self.output)

    def measure(self, doc: Document) -> dict[str, Any]:
        return self.measure_all([doc])[0]

    def measure_all(self, docs: Sequence[Document]) -> list[dict[str, Any]]:
        """The scores of some documents, each of which is that of the document alone."""
        mine = [place for place, doc in enumerate(docs) if in_scope(self.languages, doc)]
        found: list[float | None] = [None] * len(docs)
        for place, score in zip(mine, self._scores([docs[place] for place in mine]), strict=True):
            found[place] = None if score is None or math.isnan(score) else float(score)
        return [{"edu_score": score} for score in found]

    def _scores(self, docs: Sequence[Document]) -> Sequence[float | None]:
        if self.column is not None:
            return [doc.attributes.get(self.column) for doc in docs]
        assert self.model is not None and self.tokenizer is not None
        scorer = load_scorer(self.model, self.tokenizer, self.max_tokens, self.output)
        return scorer.scores([doc.text for doc in docs])
