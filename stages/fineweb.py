"""FineWeb's own rules: lists, menus, short and repeated lines (Penedo et al. 2024, section 3.6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule, RuleStage
from stages.rules.evidence import marked
from stages.rules.repetition import duplicate_ratios
from stages.rules.scope import in_scope

Ratio = Annotated[float, Field(ge=0)]

RULES: tuple[Rule, ...] = (
    Rule("too_few_lines_with_end_mark", "end_mark_line_ratio", "min_end_mark_line_ratio"),
    Rule("too_many_short_lines", "short_line_ratio", "max_short_line_ratio"),
    Rule("duplicate_line_characters", "duplicate_line_character_ratio", "max_duplicate_line_character_ratio"),
    Rule("too_many_line_breaks", "line_break_ratio", "max_line_break_ratio"),
)


@dataclass(frozen=True, kw_only=True)
class FineWeb(RuleStage):
    """Drops pages that break a rule of FineWeb. A limit itself passes; null turns a rule off.

    Lines are the non-empty ones. Line breaks are counted against words at white space (datatrove counts
    punctuation marks as words too).
    """

    languages: tuple[str, ...] | None = ("en",)
    """whom the rules are for; pages whose `language` is another pass unmeasured (null: every page is judged)"""
    end_marks: tuple[str, ...] = (".", "?", "!", '"', "'")
    """what a line of prose ends in"""
    short_line: Annotated[int, Field(ge=0)] = 30
    """the longest line, in characters, that is short"""
    min_end_mark_line_ratio: Ratio | None = 0.12
    """least share of lines that end in an end mark"""
    max_short_line_ratio: Ratio | None = 0.67
    """largest share of lines that are short"""
    max_duplicate_line_character_ratio: Ratio | None = 0.01
    """largest share of characters in lines that are copies of an earlier one"""
    max_line_break_ratio: Ratio | None = 0.3
    """most line breaks per word at white space"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {rule.measure: pa.float64() for rule in RULES}
    evidence = staticmethod(marked)
    rules: ClassVar[tuple[Rule, ...]] = RULES

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return dict.fromkeys(self.measures)
        lines = [line for line in doc.text.split("\n") if line.strip()]
        count = max(len(lines), 1)
        return {
            "end_mark_line_ratio": sum(line.endswith(self.end_marks) for line in lines) / count,
            "short_line_ratio": sum(len(line) <= self.short_line for line in lines) / count,
            "duplicate_line_character_ratio": duplicate_ratios(lines)[1],
            "line_break_ratio": doc.text.count("\n") / max(len(doc.words), 1),
        }
