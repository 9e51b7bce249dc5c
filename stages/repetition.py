"""Pages that repeat themselves: Gopher's rules of repetition alone (Rae et al. 2021, table A1), and rows of repeats.

For pipelines that ask for repetition and prose at different places (FineWeb, FineWeb-2, RefinedWeb): the same
measures and limits as in `gopher`, without its rules of prose.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule, RuleStage
from stages.rules import paper, repeated
from stages.rules.evidence import marked
from stages.rules.repetition import segments
from stages.rules.runs import repeats_in_a_row
from stages.rules.scope import in_scope
from stages.rules.words import english_tokens, unicode_words

Profile = Literal["paper", "datatrove", "dclm", "dolma", "nemo"]
Ratio = Annotated[float, Field(ge=0, le=1)]

RULES: tuple[Rule, ...] = (
    Rule("duplicate_lines", "duplicate_line_ratio", "max_duplicate_line_ratio"),
    Rule("duplicate_paragraphs", "duplicate_paragraph_ratio", "max_duplicate_paragraph_ratio"),
    Rule("duplicate_line_characters", "duplicate_line_character_ratio", "max_duplicate_line_character_ratio"),
    Rule(
        "duplicate_paragraph_characters",
        "duplicate_paragraph_character_ratio",
        "max_duplicate_paragraph_character_ratio",
    ),
    *(Rule(f"top_{n}_gram", f"top_{n}_gram_ratio", f"max_top_{n}_gram_ratio") for n in (2, 3, 4)),
    *(
        Rule(f"duplicate_{n}_grams", f"duplicate_{n}_gram_ratio", f"max_duplicate_{n}_gram_ratio")
        for n in (5, 6, 7, 8, 9, 10)
    ),
    Rule("too_many_repeats_in_a_row", "repeats_in_a_row", "max_repeats_in_a_row"),
)

_MEASURERS: Mapping[str, Callable[[str, Sequence[str]], Mapping[str, Any]]] = {
    "paper": lambda text, words: paper.repetition(segments(text), words),
    "datatrove": lambda text, words: repeated.datatrove(text, english_tokens(text)),
    "dclm": lambda text, words: repeated.dclm(text, unicode_words(text)),
    "dolma": repeated.dolma,
    "nemo": repeated.nemo,
}


@dataclass(frozen=True, kw_only=True)
class Repetition(RuleStage):
    """Drops pages that repeat themselves. A limit itself passes; null turns a rule off."""

    profile: Profile = "paper"
    """whose reading of the rules: what is a word, a copy, a paragraph"""
    languages: tuple[str, ...] | None = None
    """whom the rules are for; pages whose `language` is another pass unmeasured (null: every page is judged)"""
    max_duplicate_line_ratio: Ratio | None = 0.3
    """largest share of lines that are copies"""
    max_duplicate_paragraph_ratio: Ratio | None = 0.3
    """largest share of paragraphs that are copies"""
    max_duplicate_line_character_ratio: Ratio | None = 0.2
    """largest share of characters in lines that are copies"""
    max_duplicate_paragraph_character_ratio: Ratio | None = 0.2
    """largest share of characters in paragraphs that are copies"""
    max_top_2_gram_ratio: Ratio | None = 0.20
    """largest share of characters under the most frequent run of 2 words"""
    max_top_3_gram_ratio: Ratio | None = 0.18
    """largest share of characters under the most frequent run of 3 words"""
    max_top_4_gram_ratio: Ratio | None = 0.16
    """largest share of characters under the most frequent run of 4 words"""
    max_duplicate_5_gram_ratio: Ratio | None = 0.15
    """largest share of characters under repeated runs of 5 words"""
    max_duplicate_6_gram_ratio: Ratio | None = 0.14
    """largest share of characters under repeated runs of 6 words"""
    max_duplicate_7_gram_ratio: Ratio | None = 0.13
    """largest share of characters under repeated runs of 7 words"""
    max_duplicate_8_gram_ratio: Ratio | None = 0.12
    """largest share of characters under repeated runs of 8 words"""
    max_duplicate_9_gram_ratio: Ratio | None = 0.11
    """largest share of characters under repeated runs of 9 words"""
    max_duplicate_10_gram_ratio: Ratio | None = 0.10
    """largest share of characters under repeated runs of 10 words"""
    max_repeats_in_a_row: Annotated[int, Field(ge=1)] | None = 31
    """how often a run of 1 to 13 words may stand directly behind itself"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        rule.measure: pa.int64() if rule.measure == "repeats_in_a_row" else pa.float64() for rule in RULES
    }
    evidence = staticmethod(marked)
    rules: ClassVar[tuple[Rule, ...]] = RULES
    absent: ClassVar[Mapping[str, str]] = {
        **{measure: "this profile has no paragraphs" for measure in measures if "paragraph" in measure},
        **{measure: "too few words for one" for measure in measures if "_gram_" in measure},
    }

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return dict.fromkeys(self.measures)
        return {
            **_MEASURERS[self.profile](doc.text, doc.words),
            "repeats_in_a_row": repeats_in_a_row(doc.words),
        }
