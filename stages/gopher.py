"""Gopher's rules: pages that are no prose, and pages that repeat themselves (Rae et al. 2021, section A1.1).

The thresholds are those of the paper (quality: A1.1; repetition: table A1). What a word, a bullet or a copy
is, the paper leaves open; `profile: paper` takes plain readings, the others those of published rule sets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule, failures
from stages.rules import paper, profiles
from stages.rules.repetition_limits import ABSENT, REPETITION, Profile, Ratio, RepetitionLimits
from stages.rules.scope import in_scope

Count = Annotated[int, Field(ge=0)]
Length = Annotated[float, Field(ge=0)]

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")

# In the paper's order: quality, then repetition.
RULES: tuple[Rule, ...] = (
    Rule("too_few_words", "words", "min_words"),
    Rule("too_many_words", "words", "max_words"),
    Rule("words_too_short", "mean_word_length", "min_mean_word_length"),
    Rule("words_too_long", "mean_word_length", "max_mean_word_length"),
    Rule("too_many_hashes", "hash_ratio", "max_hash_ratio"),
    Rule("too_many_ellipses", "ellipsis_ratio", "max_ellipsis_ratio"),
    Rule("too_many_symbols", "symbol_ratio", "max_symbol_ratio"),
    Rule("too_many_bullet_lines", "bullet_line_ratio", "max_bullet_line_ratio"),
    Rule("too_many_ellipsis_lines", "ellipsis_line_ratio", "max_ellipsis_line_ratio"),
    Rule("too_few_alphabetic_words", "alphabetic_word_ratio", "min_alphabetic_word_ratio"),
    Rule("too_few_stop_words", "stop_words", "min_stop_words"),
    *REPETITION,
)

_MEASURERS: Mapping[str, Callable[[str, Sequence[str], frozenset[str]], dict[str, Any]]] = {
    "paper": paper.measures,
    "datatrove": profiles.datatrove,
    "dclm": profiles.dclm,
    "dolma": profiles.dolma,
    "nemo": profiles.nemo,
}
_COUNTS = ("words", "stop_words")


@dataclass(frozen=True, kw_only=True)
class Gopher(RepetitionLimits):
    """Drops pages that break a rule of Rae et al. 2021. A limit itself passes; null turns a rule off."""

    profile: Profile = "paper"
    """whose reading of the rules: what is a word, a bullet, a copy"""
    languages: tuple[str, ...] | None = ("en",)
    """whom the rules are for; pages whose `language` is another pass unmeasured (null: every page is judged)"""
    stop_words: tuple[str, ...] = STOP_WORDS
    """the stop words, in lower case"""
    min_words: Count | None = 50
    """fewest words"""
    max_words: Count | None = 100_000
    """most words"""
    min_mean_word_length: Length | None = 3.0
    """least mean length of a word, in characters"""
    max_mean_word_length: Length | None = 10.0
    """largest mean length of a word, in characters"""
    max_hash_ratio: Length | None = 0.1
    """most `#` per word"""
    max_ellipsis_ratio: Length | None = 0.1
    """most ellipses per word"""
    max_symbol_ratio: Length | None = 0.1
    """most `#` and ellipses together per word, in the profiles that add them up"""
    max_bullet_line_ratio: Ratio | None = 0.9
    """largest share of lines that start with a bullet"""
    max_ellipsis_line_ratio: Ratio | None = 0.3
    """largest share of lines that end with an ellipsis"""
    min_alphabetic_word_ratio: Ratio | None = 0.8
    """least share of words with a letter"""
    min_stop_words: Count | None = 2
    """fewest stop words"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        rule.measure: pa.int64() if rule.measure in _COUNTS else pa.float64() for rule in RULES
    }
    rules: ClassVar[tuple[Rule, ...]] = RULES
    absent: ClassVar[Mapping[str, str]] = {
        "symbol_ratio": "this profile counts hashes and ellipses apart",
        **dict.fromkeys(("hash_ratio", "ellipsis_ratio"), "this profile adds both up as symbol_ratio"),
        **ABSENT,
    }

    def __post_init__(self) -> None:
        for low, high in (("min_words", "max_words"), ("min_mean_word_length", "max_mean_word_length")):
            least, most = getattr(self, low), getattr(self, high)
            if least is not None and most is not None and least > most:
                raise ValueError(f"{low} {least} is above {high} {most}: no page could pass")
        if any(word != word.lower() or len(word.split()) != 1 for word in self.stop_words):
            raise ValueError("stop_words must be single lower-case words")

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return dict.fromkeys(self.measures)
        return _MEASURERS[self.profile](doc.text, doc.words, frozenset(self.stop_words))


_DEFAULT = Gopher()
PROFILES: tuple[str, ...] = get_args(Profile)


def quality_failures(text: str) -> list[str]:
    """Names of the rules that a text breaks under the default profile; an empty list means keep."""
    words = text.split()
    measured = paper.measures(text, words, frozenset(STOP_WORDS))
    return [drop.reason for drop in failures(RULES, _DEFAULT, measured)]
