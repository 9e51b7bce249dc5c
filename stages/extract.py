"""From a page's bytes to its main text."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document, Drop
from curate.stage import FileName, Measures, Rule, RuleStage
from curate.text import clean
from stages.extraction.article import TextOptions, article_text
from stages.extraction.blocks import model
from stages.extraction.blocks.extractor import main
from stages.extraction.memo import Extracted, Memo
from stages.extraction.source import encoded, source_text
from stages.extraction.training.teacher import ExtractorTrainer
from stages.extraction.visible import main_text


@dataclass(frozen=True, kw_only=True)
class Extract(RuleStage):
    """Turns a page into its main text: NFC, valid UTF-8, blocks and <pre> on lines of their own.

    Documents that are text already pass untouched.
    """

    mode: Literal["full", "fast", "auto"] = "full"
    """of trafilatura: full, fast (its own extractor alone), or auto (full's fall-backs only where that found little)"""
    engine: Literal["trafilatura", "blocks", "resiliparse"] = "trafilatura"
    """who finds the main text: trafilatura's rules, our model over the page's blocks, or resiliparse's rules"""
    favor: Literal["none", "precision", "recall"] = "none"
    """which way it errs: precision leaves out more, recall takes in more"""
    tables: bool = True
    """text in tables is text"""
    links: bool = False
    """targets of links are written beside their text"""
    model: FileName | None = None
    """of blocks: a file that `curate train extractor` wrote (null: ours)"""
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = 0.5
    """of blocks: the F-measure it expects of its text, below which it is unsure of a page (null: of none)"""
    unsure: Literal["keep", "trafilatura", "drop"] = "keep"
    """of blocks: what becomes of such a page: its text is kept, is trafilatura's, or the page is dropped"""
    memo_bytes: Annotated[int, Field(ge=0)] | None = 16 * 1024 * 1024
    """bytes of results kept for pages that come again, null for none; it changes the time only"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {"characters": pa.int64(), "confidence": pa.float64()}
    rules: ClassVar[tuple[Rule, ...]] = (Rule("unsure", "confidence", "min_confidence"),)
    reasons: ClassVar[tuple[str, ...]] = ("no_text", "unsure")
    limits: ClassVar[tuple[str, ...]] = ("min_confidence", "unsure")
    gives_text: ClassVar[bool] = True
    page_trainer: ClassVar[type[ExtractorTrainer]] = ExtractorTrainer
    absent: ClassVar[Mapping[str, str]] = {"confidence": "only engine: blocks has one, of pages and not of texts"}

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the model is missing or foreign, before a page is read."""
        if self.engine == "blocks":
            model.load(self.model)
        elif self.model is not None:
            raise ValueError("model: is for engine: blocks; set that, or take model out")

    def rerun(self, ran: "Extract") -> str | None:
        """Why measures do not tell what other limits do: trafilatura's text for a page is another one."""
        if "trafilatura" in (self.unsure, ran.unsure) and self != ran:
            return "pages below min_confidence get another text under unsure: trafilatura"
        return None

    def clean(self, doc: Document) -> Document:
        return doc if doc.html is None else doc.with_text(_extracted(self, doc.html, doc.charset).text)

    def measure(self, doc: Document) -> dict[str, Any]:
        confidence = None if doc.html is None else _extracted(self, doc.html, doc.charset).confidence
        return {"characters": len(doc.text), "confidence": confidence}

    def judge(self, measures: Measures) -> Drop | None:
        if not measures["characters"]:
            return Drop("no_text", 0, 1)
        return super().judge(measures) if self.unsure == "drop" else None

    def text(self, html: bytes, charset: str | None = None) -> str:
        """The main text of a page, "" where there is none. `charset` is what the HTTP header declares."""
        return self.extracted(html, charset).text

    def extracted(self, html: bytes, charset: str | None = None) -> Extracted:
        """The main text, and of `engine: blocks` the F-measure that it expects of it."""
        confidence = None
        if self.engine == "blocks":
            text, confidence = main(
                encoded(html, charset), model=self.model, favor=self.favor, tables=self.tables, links=self.links
            )
            least = self.min_confidence if self.unsure == "trafilatura" else None
            if least is not None and confidence < least:
                text = self._by_rules(source_text(html, charset))
        else:
            text = self._by_rules(source_text(html, charset))
        return Extracted(clean(text).strip(), confidence)

    def _by_rules(self, source: str) -> str:
        if self.engine == "resiliparse":
            precise = self.favor == "precision"
            return main_text(source, tables=self.tables, links=self.links, precise=precise) if source.strip() else ""
        return (
            article_text(source, TextOptions(self.mode, self.favor, self.tables, self.links)) if source.strip() else ""
        )


@lru_cache(maxsize=1)  # for `clean` and `measure` alike
def _extracted(stage: Extract, html: bytes, charset: str | None) -> Extracted:
    if stage.memo_bytes is None:
        return stage.extracted(html, charset)
    memo, key = _memo(stage), sha256(f"{charset}\0".encode() + html).digest()
    known = memo.get(key)
    found = stage.extracted(html, charset) if known is None else known
    memo.put(key, found)
    return found


@lru_cache(maxsize=4)
def _memo(stage: Extract) -> Memo:
    """One cache a process for each configuration, so that options need not be part of the key."""
    return Memo(stage.memo_bytes or 0)
