"""What `gopher` and `repetition` share: the rules of repetition (Rae et al. 2021, table A1) and their limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from curate.stage import Rule, RuleStage
from stages.rules.evidence import marked

Profile = Literal["paper", "datatrove", "dclm", "dolma", "nemo"]
Ratio = Annotated[float, Field(ge=0, le=1)]

REPETITION: tuple[Rule, ...] = (
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
)

ABSENT: Mapping[str, str] = {
    rule.measure: "this profile has no paragraphs" if "paragraph" in rule.measure else "too few words for one"
    for rule in REPETITION
    if "paragraph" in rule.measure or "_gram_" in rule.measure
}


@dataclass(frozen=True, kw_only=True)
class RepetitionLimits(RuleStage):
    """The options of a stage that drops pages that repeat themselves."""

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

    evidence = staticmethod(marked)
