"""GPT-3's linear quality classifier: hashed n-grams, logistic regression, and its draw of weak pages
(*Pretraining at scale*, 1c)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import pyarrow as pa
import xxhash
from pydantic import Field

from curate.document import Document
from curate.stage import FileName, Rule, RuleStage
from stages.models import linear_model
from stages.models.linear_model import LinearModel, LinearTrainer
from stages.rules.scope import in_scope

MOST_PARETO = 1e9  # what a page with p(good) = 1 gets: no alpha that anyone asks for drops it


@lru_cache(maxsize=4)
def load_model(path: str) -> LinearModel:
    """The model in a file, once a process."""
    return linear_model.load_model(path)


def draw(text: str, seed: int) -> float:
    """A number from [0, 1) that depends on the text and the seed alone, evenly spread over texts."""
    digest = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed=seed)
    return (digest >> 11) / (1 << 53)


def largest_alpha(probability: float, drawn: float) -> float:
    """The largest alpha with which a page is kept: `pareto(alpha) > 1 - p` (Brown et al. 2020, appendix A).

    NumPy's pareto is Lomax: of a u from [0, 1) it is (1 - u)^(-1/alpha) - 1, so that P(keep) = (2 - p)^-alpha.
    """
    luck, needed = -math.log1p(-drawn), math.log(2 - probability)
    return min(luck / needed, MOST_PARETO) if needed > 0 else MOST_PARETO


@dataclass(frozen=True, kw_only=True)
class Linear(RuleStage):
    """Drops pages that a logistic regression on hashed n-grams takes for unlike the good examples."""

    model: FileName
    """a file that `curate train linear` wrote"""
    min_score: Annotated[float, Field(ge=0, le=1)] | None = 0.5
    """least p(good), kept at the limit itself (null: no limit)"""
    min_pareto: Annotated[float, Field(gt=0, le=1e6)] | None = None
    """alpha of GPT-3's draw, which was 9: a page is kept with the chance (2 - p)^-alpha (null: no draw)"""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    """another seed draws other pages"""
    languages: tuple[str, ...] | None = None
    """whom the model is for; pages whose `language` is another pass with a null score (null: all are scored)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"linear_score": pa.float64()}
    measures: ClassVar[Mapping[str, pa.DataType]] = {**adds, "linear_pareto": pa.float64()}
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("low_score", "linear_score", "min_score"),
        Rule("not_drawn", "linear_pareto", "min_pareto"),
    )
    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(measures, "the model is for other languages")
    trainer: ClassVar[type[LinearTrainer]] = LinearTrainer

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model is missing or foreign, before a page is read."""
        load_model(self.model)

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return dict.fromkeys(self.measures)
        score = load_model(self.model).probability(doc.words)
        return {"linear_score": score, "linear_pareto": largest_alpha(score, draw(doc.text, self.seed))}
