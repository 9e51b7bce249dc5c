"""Line corrections: headlines in capitals, counters and crumbs of menus go, and pages that lose too much by it.

RefinedWeb's (Penedo et al. 2023, appendix G.2), and the same as DCLM rebuilt them (Li et al. 2024, section 4.1).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule, RuleStage
from stages.rules import lines
from stages.rules.scope import in_scope

Count = Annotated[int, Field(ge=0)]
Ratio = Annotated[float, Field(ge=0, le=1)]

RULES: tuple[Rule, ...] = (Rule("too_many_words_removed", "removed_word_ratio", "max_removed_word_ratio"),)

_EDITS: Mapping[str, Callable[[str, lines.LineOptions], str]] = {"refinedweb": lines.refinedweb, "dclm": lines.dclm}
_WORDS: Mapping[str, Callable[[str], int]] = {"refinedweb": lines.white_space_words, "dclm": lines.dclm_words}


@dataclass(frozen=True, kw_only=True)
class LineRules(RuleStage):
    """Edits lines out of the text and drops pages that lose too many words by it. Null or false turns a rule off."""

    profile: Literal["refinedweb", "dclm"] = "refinedweb"
    """whose reading: the paper's, or what DCLM's code does (lines with their white space, a dot for any character)"""
    languages: tuple[str, ...] | None = ("en",)
    """whom the rules are for; pages whose `language` is another pass unedited and unmeasured (null: none does)"""
    max_uppercase_ratio: Ratio | None = 0.5
    """lines go of whose characters a larger share are capitals"""
    remove_numeric_lines: bool = True
    """lines go that are digits only"""
    remove_counter_lines: bool = True
    """lines go that are a number and what it counts, such as "3 likes" """
    min_line_words: Count | None = 2
    """lines of fewer words go; empty lines stay"""
    max_phrase_line_words: Count = 10
    """phrases are cut from lines of at most so many words"""
    phrases_anywhere: tuple[str, ...] = ("items in cart",)
    """phrases that are cut from anywhere in a short line, in any case"""
    phrases_at_end: tuple[str, ...] = ("Read more...",)
    """phrases that are cut from the end of a short line"""
    phrases_at_start: tuple[str, ...] = ("Sign-in",)
    """phrases that are cut from the start of a short line"""
    max_removed_word_ratio: Ratio | None = 0.05
    """largest share of a page's words that may go with the lines and phrases"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"removed_word_ratio": pa.float64()}
    measures: ClassVar[Mapping[str, pa.DataType]] = {"removed_word_ratio": pa.float64()}
    rules: ClassVar[tuple[Rule, ...]] = RULES

    def __post_init__(self) -> None:
        if not all((*self.phrases_anywhere, *self.phrases_at_end, *self.phrases_at_start)):
            raise ValueError("a phrase is empty; give its words, or take it out of the list")

    def _rules(self) -> lines.LineOptions:
        return lines.LineOptions(
            self.max_uppercase_ratio,
            self.remove_numeric_lines,
            self.remove_counter_lines,
            self.min_line_words,
            self.max_phrase_line_words,
            self.phrases_anywhere,
            self.phrases_at_end,
            self.phrases_at_start,
        )

    def clean(self, doc: Document) -> Document:
        if not in_scope(self.languages, doc):
            return doc
        text, words = _EDITS[self.profile](doc.text, self._rules()), _WORDS[self.profile]
        before = words(doc.text)
        gone = (before - words(text)) / before if before else 1.0
        return (doc if text == doc.text else doc.with_text(text)).annotate(removed_word_ratio=gone)

    def measure(self, doc: Document) -> dict[str, Any]:
        """The share of words that `clean` took, as it noted it; 1 of a text without a word."""
        return {"removed_word_ratio": doc.attributes.get("removed_word_ratio")}
