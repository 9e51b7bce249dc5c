"""Any fastText classifier as a quality filter, with DCLM's reading of its score (Li et al. 2024, section 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.errors import hint
from curate.stage import FileName, Rule, RuleStage
from stages.models.fasttext_file import PREFIX, label_score, labels, load_model
from stages.rules.scope import in_scope


@dataclass(frozen=True, kw_only=True)
class FastTextQuality(RuleStage):
    """Scores a text by a fastText classifier's probability of one label, and drops what is below `min_score`."""

    model: FileName
    """path of a fastText classifier (.bin or .ftz)"""
    label: str
    """the label that good text gets, with `__label__` or without"""
    min_score: Annotated[float, Field(ge=0, le=1)] | None
    """least probability of the label, kept at the limit itself (null: score only); it is tied to model and crawl"""
    lower_case: bool = False
    """ask about the text in small letters, for models trained on such"""
    languages: tuple[str, ...] | None = None
    """whom the model is for; pages whose `language` is another pass with a null score (null: all are scored)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"fasttext_quality_score": pa.float64()}
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = (Rule("low_score", "fasttext_quality_score", "min_score"),)
    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(measures, "the model is for other languages")

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model can't be had or has no such label, before a page is read."""
        load_model(self.model)
        known = labels(self.model)
        if self.label not in known and PREFIX + self.label not in known:
            names = [label.removeprefix(PREFIX) for label in known[:20]]
            raise ValueError(f"label: {self.model} has no label {self.label}; {hint(self.label, names)}")

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return {"fasttext_quality_score": None}
        line = " ".join(doc.text.splitlines())  # a space: words at the ends of lines must not grow together
        return {
            "fasttext_quality_score": label_score(self.model, line.lower() if self.lower_case else line, self.label)
        }
