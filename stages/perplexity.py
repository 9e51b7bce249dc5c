"""Perplexity under n-gram models of clean text, and CCNet's head, middle and tail (Wenzek et al. 2020, section 3.3)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import FileName, Rule, RuleStage
from stages.languages.codes import same_language
from stages.models.backoff import log10_probabilities
from stages.models.ccnet_text import ccnet_text
from stages.models.ngram_file import load_ngrams
from stages.models.pieces import load_pieces

Bucket = Literal["head", "middle", "tail", "all"]
Positive = Annotated[float, Field(gt=0)]
MOST = 300.0  # log10 of the largest perplexity told


@lru_cache(maxsize=4096)
def _key(keys: tuple[str, ...], language: str | None) -> str | None:
    """The one of some languages that a page is in; the only one where the page's is not known."""
    if language is None:
        return keys[0] if len(keys) == 1 else None
    return language if language in keys else next((key for key in keys if same_language(key, language)), None)


@dataclass(frozen=True, kw_only=True)
class Perplexity(RuleStage):
    """Scores a text by a language model of its language: the more it reads like the model's text, the lower."""

    models: Annotated[Mapping[str, FileName], Field(min_length=1)]
    """n-gram models by language, `{en: en.arpa.bin}`: ARPA text, or any binary file of KenLM"""
    pieces: Mapping[str, FileName] | None = None
    """what splits a text for them, by language: SentencePiece models or tokenizer.json files (null: white space)"""
    unit: Literal["line", "text"] = "line"
    """what is one sentence to the model: each line, or the whole text with its line breaks deleted, as in cc_net"""
    normalize: bool = True
    """lower case, no marks, digits as 0, ASCII punctuation: what CCNet's models were trained on"""
    cuts: Mapping[str, tuple[Positive, Positive]] | None = None
    """by language: below the first is head, below the second middle, else tail (null or no model: all)"""
    keep: Annotated[tuple[Bucket, ...], Field(min_length=1)] = ("head", "middle", "tail", "all")
    """buckets wanted"""
    min_perplexity: Positive | None = None
    """least perplexity, against endless repeats (null: none)"""
    max_perplexity: Positive | None = None
    """largest perplexity (null: none)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"perplexity": pa.float64(), "perplexity_bucket": pa.string()}
    measures: ClassVar[Mapping[str, pa.DataType]] = adds
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("other_bucket", "perplexity_bucket", "keep"),
        Rule("too_predictable", "perplexity", "min_perplexity"),
        Rule("too_perplexing", "perplexity", "max_perplexity"),
    )
    absent: ClassVar[Mapping[str, str]] = {"perplexity": "no model for the language, or no text"}

    def __post_init__(self) -> None:
        for language, (head, middle) in (self.cuts or {}).items():
            if head > middle:
                raise ValueError(f"cuts: {language}: {head:g} is above {middle:g}; head is what lies below the first")
        for option in ("pieces", "cuts"):
            for language in getattr(self, option) or {}:
                if language not in self.models:
                    raise ValueError(f"{option}: there is no model for {language}; give one under `models`")
        if self.min_perplexity and self.max_perplexity and self.min_perplexity > self.max_perplexity:
            raise ValueError(f"min_perplexity {self.min_perplexity:g} is above max_perplexity: no page could pass")

    def check(self, before: object, after: object) -> None:
        """Raises UserError where a model or a tokenizer can't be had, before a page is read."""
        for path in self.models.values():
            load_ngrams(path)
        for path in (self.pieces or {}).values():
            load_pieces(path)

    def measure(self, doc: Document) -> dict[str, Any]:
        language = _key(tuple(self.models), doc.attributes.get("language"))
        value = self._perplexity(doc.text, language) if language else None
        return {"perplexity": value, "perplexity_bucket": self._bucket(value, language)}

    def _perplexity(self, text: str, language: str) -> float | None:
        """10^(-log10 p / words), an end of sentence being a word, with one decimal as cc_net has it."""
        path = (self.pieces or {}).get(language)
        split = load_pieces(path) if path else str.split
        sentences = [split(sentence) for sentence in self._sentences(text)]
        if not sentences:
            return None
        scores = log10_probabilities(load_ngrams(self.models[language]), sentences)
        return round(math.pow(10.0, min(-float(scores.sum()) / len(scores), MOST)), 1)

    def _sentences(self, text: str) -> Iterator[str]:
        for sentence in text.split("\n") if self.unit == "line" else [text]:
            if sentence := ccnet_text(sentence) if self.normalize else sentence.strip():
                yield sentence

    def _bucket(self, value: float | None, language: str | None) -> Bucket:
        cuts = (self.cuts or {}).get(language or "")
        if value is None or cuts is None:
            return "all"
        return "head" if value < cuts[0] else "middle" if value < cuts[1] else "tail"
