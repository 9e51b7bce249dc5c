"""Naive Bayes: every word casts a vote for good or bad text, and the votes add up
(*Pretraining at scale*, 1c; Lewis 1998)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Document
from curate.stage import FileName, Rule, RuleStage
from stages.models.word_grams import plain_word
from stages.rules import bayes_model
from stages.rules.bayes_model import BayesModel, BayesTrainer
from stages.rules.scope import in_scope

EXAMPLES = "examples"  # in place of a model's path: the model of the examples below

GOOD_EXAMPLES = (
    "The river rises in the hills, and over the centuries it has cut a valley through the rock.",
    "Farmers along the river build walls of stone, and the walls keep the spring floods from the fields.",
    "The treaty that ended the war made the river the border of the two kingdoms.",
    "Plants take the energy of light and turn water and air into sugar, and the sugar feeds almost all of "
    "the animals that live on land.",
)
BAD_EXAMPLES = (
    "Click here to win free cash now! Click here to claim your free bonus prize now!",
    "Best cheap deals online: buy now and save big now! Click here for discount codes!",
    "Limited offer: click to subscribe, order today and get cheap pills with free shipping!",
)


@lru_cache(maxsize=4)
def load_model(path: str) -> BayesModel:
    """The model in a file, or that of the built-in examples, loaded once a process."""
    if path == EXAMPLES:
        return BayesTrainer().add_all(GOOD_EXAMPLES, good=True).add_all(BAD_EXAMPLES, good=False).finish()
    return bayes_model.load_model(path)


class QualityClassifier:
    """That of *Pretraining at scale*, 1c: `score` adds up the votes of a text's words, above 0 for good text."""

    def __init__(self, model: BayesModel) -> None:
        self.model = model
        self.N_good, self.N_bad, self.V = model.totals
        self.counts = dict(zip(model.words, zip(model.good.tolist(), model.bad.tolist())))

    @classmethod
    def trained_on_examples(cls) -> "QualityClassifier":
        """The classifier that counts words in GOOD_EXAMPLES and BAD_EXAMPLES."""
        return cls(load_model(EXAMPLES))

    def word_vote(self, word: str) -> float:
        """log of P(word | good) / P(word | bad) with add-one smoothing; a word never seen votes too."""
        good, bad = self.counts.get(plain_word(word), (0, 0))
        return bayes_model.vote(good, bad, self.N_good, self.N_bad, self.V)

    def score(self, text: str) -> float:
        """The sum of the votes of a text's words."""
        return self.model.total(text.split())


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(RuleStage):
    """Scores a text by a model and drops what is less like the good examples than `min_score`."""

    model: FileName
    """a file that `curate train naive-bayes` wrote, or examples: a toy of seven sentences, to try things out"""
    min_score: float | None = 0.0
    """least score in votes per word (natural log); 0: good and bad are equally likely (null: score only)"""
    languages: tuple[str, ...] | None = None
    """whom the model is for; pages whose `language` is another pass with a null score (null: all are scored)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"naive_bayes_score": pa.float64()}
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = (Rule("low_score", "naive_bayes_score", "min_score"),)
    trainer: ClassVar[type[BayesTrainer]] = BayesTrainer

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model is missing or foreign, before a page is read."""
        load_model(self.model)

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return {"naive_bayes_score": None}
        return {"naive_bayes_score": load_model(self.model).score(doc.words)}
