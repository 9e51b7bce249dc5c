"""Counts tokens, for budgets and mixtures: with a tokenizer of yours, or by a stated rule of thumb."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document, Drop
from curate.errors import UserError
from curate.stage import FileName
from stages.models.pieces import load_tokenizer
from stages.rules.words import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")


def estimated_tokens(text: str, words: int, tokens_per_word: float) -> int:
    """Tokens by a rule of thumb, rounded: so many a word, and one for each character of unspaced scripts."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return math.floor(words * tokens_per_word + unspaced + 0.5)


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Adds `token_count`, and `token_count_estimated`, which says whether it is an estimate.

    The estimate is `tokens_per_word` for each word at white space, since an English token is about three quarters
    of a word (seed 1k), and one for each character of scripts that are written without spaces.
    """

    tokenizer: FileName | None = None
    """path of a `tokenizer.json`, counted without the marks that a model puts around a text (null: estimate)"""
    tokens_per_word: Annotated[float, Field(gt=0, le=1000)] = 4 / 3
    """tokens of a word at white space, for the estimate"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {
        "token_count": pa.int64(),
        "token_count_estimated": pa.bool_(),
    }
    reasons: ClassVar[tuple[str, ...]] = ()
    keeps_text: ClassVar[bool] = True
    counts: ClassVar[tuple[str, ...]] = ("token_count", "token_count_estimated")

    def check(self, before: object, after: object) -> None:
        """Raises ValueError where the tokenizer can't be had, before a page is read."""
        if self.tokenizer is None:
            return
        try:
            load_tokenizer(self.tokenizer)
        except UserError as error:
            raise ValueError(str(error)) from error

    def apply(self, doc: Document) -> Document | Drop:
        if self.tokenizer is None:
            count = estimated_tokens(doc.text, len(doc.words), self.tokens_per_word)
        else:
            text = doc.text.encode("utf-8", "replace").decode()  # a lone surrogate is no text for it
            count = len(load_tokenizer(self.tokenizer).encode(text, add_special_tokens=False).ids)
        return doc.annotate(token_count=count, token_count_estimated=self.tokenizer is None)
