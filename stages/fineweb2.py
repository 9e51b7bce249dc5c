"""FineWeb-2's rules, whose limits and stop words are those of a page's language (Penedo et al. 2025, section 4)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from curate.document import Document, Drop
from curate.stage import FileName, Measures, Rule, RuleStage
from stages.languages.table import LanguageRow, Table, load_table, row_of
from stages.models.word_grams import plain_word
from stages.rules import paper
from stages.rules.n_grams import DUPLICATE_SIZES, TOP_SIZES, NGrams
from stages.rules.repetition import duplicate_ratios
from stages.rules.words import UNSPACED

Count = Annotated[int, Field(ge=0)]
Ratio = Annotated[float, Field(ge=0, le=1)]
Length = Annotated[float, Field(ge=0)]

# A word where none is parted by spaces: two characters of Chinese and Japanese, four of Thai, Lao, Khmer and Burmese,
# about as long as words are there, counted from the last mark or space on.
_PIECE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{1,4}" + rf"|[{UNSPACED}]{{1,2}}|[^\s{UNSPACED}]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
END_MARKS = tuple(".?!‼⁇⁈⁉‽。．｡？！﹒﹖﹗।॥؟۔។៕။፧።")  # ends of sentences, no quotation marks: as FineWeb-2 has it

# What FineWeb-2's tokenisers part from the ends of words and count as words: punctuation of the scripts in use.
_MARKS = (
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡§«¶·»¿"
    + "".join(map(chr, range(0x2010, 0x205F)))
    + "،؛؟۔।॥፡።៕。、〈〉《》「」『』【】"
    "！＂＃％＆（）＊，－．／：；？＠［］｛｝～"
)

RULES = (
    Rule("low_language_score", "language_score", "min_language_score"),
    Rule("duplicate_lines", "duplicate_line_ratio", "max_duplicate_line_ratio"),
    *(Rule(f"top_{n}_gram", f"top_{n}_gram_ratio", f"max_top_{n}_gram_ratio") for n in TOP_SIZES),
    *(
        Rule(f"duplicate_{n}_grams", f"duplicate_{n}_gram_ratio", f"max_duplicate_{n}_gram_ratio")
        for n in DUPLICATE_SIZES
    ),
    Rule("too_few_lines_with_end_mark", "end_mark_line_ratio", "min_end_mark_line_ratio"),
    Rule("duplicate_line_characters", "duplicate_line_character_ratio", "max_duplicate_line_character_ratio"),
    Rule("too_many_line_breaks", "line_break_ratio", "max_line_break_ratio"),
    Rule("too_few_words", "words", "min_words"),
    Rule("too_many_words", "words", "max_words"),
    Rule("words_too_short", "mean_word_length", "min_mean_word_length"),
    Rule("words_too_long", "mean_word_length", "max_mean_word_length"),
    Rule("too_many_symbols", "symbol_ratio", "max_symbol_ratio"),
    Rule("too_many_bullet_lines", "bullet_line_ratio", "max_bullet_line_ratio"),
    Rule("too_many_ellipsis_lines", "ellipsis_line_ratio", "max_ellipsis_line_ratio"),
    Rule("too_few_alphabetic_words", "alphabetic_word_ratio", "min_alphabetic_word_ratio"),
    Rule("too_few_stop_words", "stop_words", "min_stop_words"),
)
FIXED = {
    "max_duplicate_line_character_ratio": 0.1,
    "min_words": 50,
    "max_words": 100_000,
    "max_symbol_ratio": 0.1,
    "max_bullet_line_ratio": 0.9,
    "max_ellipsis_line_ratio": 0.3,
    "min_stop_words": 2,
}
"""FineWeb-2's limits of every language."""
LIMITS = tuple(rule.option for rule in RULES if rule.option)


def words_of(text: str) -> list[str]:
    """Words at white space; where a script has none between them, pieces of a word's length."""
    return text.split() if text.isascii() or not _UNSPACED.search(text) else _PIECE.findall(text)


def alphabetic_ratio(words: Sequence[str]) -> float:
    """Share of words with a letter among words and the punctuation marks at their ends."""
    bare = [word.strip(_MARKS) for word in words]
    marks = len("".join(words)) - len("".join(bare))
    return paper.alphabetic_words(words) / max(len(words) - bare.count("") + marks, 1)


def stop_words_met(row: LanguageRow, text: str, words: Sequence[str]) -> int:
    """How many different stop words of a language a text has."""
    if row.in_text:
        return sum(word in text for word in row.stop_words)
    return len(set(row.stop_words).intersection(map(plain_word, set(words))))


@dataclass(frozen=True, kw_only=True)
class FineWeb2(RuleStage):
    """Drops pages that break a rule of FineWeb-2 under the limits of their language; the limit itself passes.

    Each limit stands in the table of languages. One given here holds for all languages in its place.
    """

    table: FileName | None = None
    """a table of languages of yours, whose rows extend the shipped one (docs/languages.md)"""
    language: str | None = None
    """the language of pages that have no column `language` (null: they pass unmeasured)"""
    other: Literal["pass", "drop"] = "pass"
    """pages in a language without a row: they pass unmeasured, or are dropped"""
    language_scores: bool = False
    """ask for the table's least `language_score`, too; those are GlotLID's"""
    min_language_score: Ratio | None = None
    """least `language_score`; this and all limits below: null is as the table has it"""
    max_duplicate_line_ratio: Ratio | None = None
    """largest share of lines that are copies"""
    max_top_2_gram_ratio: Ratio | None = None
    """largest share of characters under the most frequent run of 2 words"""
    max_top_3_gram_ratio: Ratio | None = None
    """largest share of characters under the most frequent run of 3 words"""
    max_top_4_gram_ratio: Ratio | None = None
    """largest share of characters under the most frequent run of 4 words"""
    max_duplicate_5_gram_ratio: Ratio | None = None
    """largest share of characters under repeated runs of 5 words"""
    max_duplicate_6_gram_ratio: Ratio | None = None
    """largest share of characters under repeated runs of 6 words"""
    max_duplicate_7_gram_ratio: Ratio | None = None
    """largest share of characters under repeated runs of 7 words"""
    max_duplicate_8_gram_ratio: Ratio | None = None
    """largest share of characters under repeated runs of 8 words"""
    max_duplicate_9_gram_ratio: Ratio | None = None
    """largest share of characters under repeated runs of 9 words"""
    max_duplicate_10_gram_ratio: Ratio | None = None
    """largest share of characters under repeated runs of 10 words"""
    min_end_mark_line_ratio: Ratio | None = None
    """least share of lines that end in an end mark of any script"""
    max_duplicate_line_character_ratio: Ratio | None = None
    """largest share of characters in lines that are copies"""
    max_line_break_ratio: Length | None = None
    """most line breaks per word"""
    min_words: Count | None = None
    """fewest words"""
    max_words: Count | None = None
    """most words"""
    min_mean_word_length: Length | None = None
    """least mean length of a word, in characters"""
    max_mean_word_length: Length | None = None
    """largest mean length of a word, in characters"""
    max_symbol_ratio: Length | None = None
    """most `#` and most ellipses per word, each alone"""
    max_bullet_line_ratio: Ratio | None = None
    """largest share of lines that start with a bullet"""
    max_ellipsis_line_ratio: Ratio | None = None
    """largest share of lines that end with an ellipsis"""
    min_alphabetic_word_ratio: Ratio | None = None
    """least share of words with a letter among words and the marks at their ends"""
    min_stop_words: Count | None = None
    """fewest different stop words"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    measures: ClassVar[Mapping[str, pa.DataType]] = {
        "row": pa.string(),
        **{rule.measure: pa.int64() if rule.measure in ("words", "stop_words") else pa.float64() for rule in RULES},
    }
    rules: ClassVar[tuple[Rule, ...]] = RULES
    reasons: ClassVar[tuple[str, ...]] = ("no_rules", *(rule.reason for rule in RULES))
    absent: ClassVar[Mapping[str, str]] = dict.fromkeys(measures, "the table has no row for the language")

    def check(self, before: object, after: object) -> None:
        """Raises UserError where the table can't be read, before a page is read."""
        self._table()

    def _table(self) -> Table:
        return load_table(self.table, LIMITS)

    def measure(self, doc: Document) -> dict[str, Any]:
        name, row = row_of(self._table(), doc.attributes.get("language") or self.language)
        if row is None:
            return dict.fromkeys(self.measures)
        score = doc.attributes.get("language_score") if self.language_scores else None
        return {"row": name, "language_score": score, **measured(doc.text, row)}

    def judge(self, measures: Measures) -> Drop | None:
        """The first rule broken under the limits of the page's row; one given in the config holds in their place."""
        if measures["row"] is None:
            return Drop("no_rules") if self.other == "drop" else None
        limits = {**FIXED, **self._table()[measures["row"]].limits}
        for rule in RULES:
            given = getattr(self, rule.option or "")
            limit = limits.get(rule.option or "") if given is None else given
            if rule.broken(measures[rule.measure], limit):
                return rule.drop(measures[rule.measure], limit)
        return None


def measured(text: str, row: LanguageRow) -> dict[str, Any]:
    """All measures of a text, save its language's own."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    words = words_of(text)
    per_line, per_word = max(len(lines), 1), max(len(words), 1)
    copies, copied = duplicate_ratios(lines)
    return {
        "duplicate_line_ratio": copies,
        **paper.n_gram_ratios(NGrams(words)),
        "end_mark_line_ratio": sum(line.endswith(END_MARKS) for line in lines) / per_line,
        "duplicate_line_character_ratio": copied,
        "line_break_ratio": text.count("\n") / per_word,
        "words": len(words),
        "mean_word_length": sum(map(len, words)) / per_word,
        "symbol_ratio": max(text.count("#"), paper.ellipses(text)) / per_word,
        "bullet_line_ratio": sum(line.startswith(paper.BULLETS) for line in lines) / per_line,
        "ellipsis_line_ratio": sum(line.endswith(paper.ELLIPSES) for line in lines) / per_line,
        "alphabetic_word_ratio": alphabetic_ratio(words),
        "stop_words": stop_words_met(row, text, words),
    }
