"""Counts tokens, for budgets and mixtures: with a tokenizer of yours, or by a stated rule of thumb."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document, Drop
from curate.stage import FileName
from curate.text import TOKENS_PER_WORD, estimated_tokens
from stages.models.pieces import load_tokenizer
from stages.rules.words import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")


def unspaced(text: str) -> int:
    """Characters of scripts that are written without spaces, each taken for a token by the estimate."""
    return 0 if text.isascii() else len(_UNSPACED.findall(text))


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Adds `token_count`, and `token_count_estimated`, which says whether it is an estimate.

    The estimate is `tokens_per_word` for each word at white space, since an English token is about three quarters
    of a word (*Pretraining at scale*, 1k), and one for each character of scripts that are written without spaces.
    """

    tokenizer: FileName | None = None
    """path of a `tokenizer.json`, counted without the marks that a model puts around a text (null: estimate)"""
    tokens_per_word: Annotated[float, Field(gt=0, le=1000)] = TOKENS_PER_WORD
    """tokens of a word at white space, for the estimate"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {
        "token_count": pa.int64(),
        "token_count_estimated": pa.bool_(),
    }
    reasons: ClassVar[tuple[str, ...]] = ()
    keeps_text: ClassVar[bool] = True
    counts: ClassVar[tuple[str, ...]] = ("token_count", "token_count_estimated")

    @property
    def estimates(self) -> bool:
        """Whether the counts are a rule of thumb."""
        return self.tokenizer is None

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the tokenizer can't be had, before a page is read."""
        if self.tokenizer is None:
            return
        load_tokenizer(self.tokenizer)

    def apply(self, doc: Document) -> Document | Drop:
        if self.tokenizer is None:
            count = estimated_tokens(len(doc.words), unspaced(doc.text), self.tokens_per_word)
        else:
            text = doc.text.encode("utf-8", "replace").decode()  # a lone surrogate is no text for it
            count = len(load_tokenizer(self.tokenizer).encode(text, add_special_tokens=False).ids)
        return doc.annotate(token_count=count, token_count_estimated=self.tokenizer is None)
