"""From a page's bytes to its main text."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document, Drop
from curate.text import clean
from stages.extraction.article import Options, article_text
from stages.extraction.memo import Memo
from stages.extraction.source import source_text
from stages.extraction.visible import main_text


@dataclass(frozen=True, kw_only=True)
class Extract:
    """Turns a page into its main text: NFC, valid UTF-8, blocks and <pre> on lines of their own.

    Documents that are text already pass untouched.
    """

    mode: Literal["full", "fast", "auto"] = "auto"
    """of trafilatura: full, fast (its own extractor alone), or auto (full's fall-backs where that found little)"""
    engine: Literal["trafilatura", "resiliparse"] = "trafilatura"
    """who finds the main text; resiliparse is quicker and leaves more boilerplate"""
    favor: Literal["none", "precision", "recall"] = "none"
    """which way it errs: precision leaves out more, recall takes in more"""
    tables: bool = True
    """text in tables is text"""
    links: bool = False
    """targets of links are written beside their text"""
    memo_bytes: Annotated[int, Field(ge=0)] | None = 16 * 1024 * 1024
    """bytes of results kept for pages that come again, null for none; it changes the time only"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("no_text",)
    gives_text: ClassVar[bool] = True

    def apply(self, doc: Document) -> Document | Drop:
        if doc.html is None:
            return doc
        if self.memo_bytes is None:
            text = self.text(doc.html, doc.charset)
        else:
            memo, key = _memo(self), sha256(f"{doc.charset}\0".encode() + doc.html).digest()
            known = memo.get(key)
            text = self.text(doc.html, doc.charset) if known is None else known
            memo.put(key, text)
        return doc.with_text(text) if text else Drop("no_text", 0, 1)

    def text(self, html: bytes, charset: str | None = None) -> str:
        """The main text of a page, "" where there is none. `charset` is what the HTTP header declares."""
        source = source_text(html, charset)
        if not source.strip():
            return ""
        return clean(self._main_text(source)).strip()

    def _main_text(self, source: str) -> str:
        if self.engine == "resiliparse":
            return main_text(source, tables=self.tables, links=self.links, precise=self.favor == "precision")
        return article_text(source, Options(self.mode, self.favor, self.tables, self.links))


@lru_cache(maxsize=4)
def _memo(stage: Extract) -> Memo:
    """One cache a process for each configuration, so that options need not be part of the key."""
    return Memo(stage.memo_bytes or 0)
