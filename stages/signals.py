"""RedPajama-V2's quality signals as columns and measures: nothing is dropped (Weber et al. 2024, section 4.1.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Document
from curate.stage import FileName, Measures, RuleStage
from stages.rules import signals
from stages.rules.scope import entries


@lru_cache(maxsize=64)
def _listed(path: str | None) -> frozenset[str] | None:
    return None if path is None else frozenset(entries(path))


@dataclass(frozen=True, kw_only=True)
class Signals(RuleStage):
    """Tells of each page what RedPajama-V2 tells, under the same names; drop by them with `where`."""

    lines: bool = False
    """the six signals of each line too, as lists in columns"""
    bad_words: Mapping[str, FileName] = field(default_factory=dict)
    """paths of word lists by language, for `rps_doc_ldnoobw_words`"""
    stop_words: Mapping[str, FileName] = field(default_factory=dict)
    """paths of word lists by language, for `rps_doc_stop_word_fraction`"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {**signals.TYPES, **signals.LINE_TYPES}
    measures: ClassVar[Mapping[str, pa.DataType]] = signals.TYPES
    absent: ClassVar[Mapping[str, str]] = {
        "rps_doc_ldnoobw_words": "no list of bad_words is for its language",
        "rps_doc_stop_word_fraction": "no list of stop_words is for its language",
    }

    keeps_text: ClassVar[bool] = True

    def check(self, before: object, after: object) -> None:
        """Raises UserError where a list can't be read, before a page is."""
        for option in ("bad_words", "stop_words"):
            for path in getattr(self, option).values():
                _listed(path)

    def clean(self, doc: Document) -> Document:
        """The document with the signals of its lines, if asked for; the text stays."""
        return doc.annotate(**signals.of_lines(doc.text)) if self.lines else doc

    def measure(self, doc: Document) -> dict[str, Any]:
        language = doc.attributes.get("language") or ""
        return signals.of_document(
            doc.text, _listed(self.bad_words.get(language)), _listed(self.stop_words.get(language))
        )

    def judge(self, measures: Measures) -> None:
        """Never drops."""
        return None
