"""Pages that repeat themselves: Gopher's rules of repetition alone (Rae et al. 2021, table A1), and rows of repeats.

For pipelines that ask for repetition and prose at different places (FineWeb, FineWeb-2, RefinedWeb): the same
measures and limits as in `gopher`, without its rules of prose.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pyarrow as pa
from pydantic import Field

from curate.document import Document
from curate.stage import Rule
from stages.rules import paper, repeated
from stages.rules.repetition import segments
from stages.rules.repetition_limits import ABSENT, REPETITION, RepetitionLimits
from stages.rules.runs import repeats_in_a_row
from stages.rules.scope import in_scope
from stages.rules.words import english_tokens, unicode_words

RULES: tuple[Rule, ...] = (
    *REPETITION,
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
class Repetition(RepetitionLimits):
    """Drops pages that repeat themselves. A limit itself passes; null turns a rule off."""

    max_repeats_in_a_row: Annotated[int, Field(ge=1)] | None = 31
    """how often a run of 1 to 13 words may stand directly behind itself"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        rule.measure: pa.int64() if rule.measure == "repeats_in_a_row" else pa.float64() for rule in RULES
    }
    rules: ClassVar[tuple[Rule, ...]] = RULES
    absent: ClassVar[Mapping[str, str]] = ABSENT

    def measure(self, doc: Document) -> dict[str, Any]:
        if not in_scope(self.languages, doc):
            return dict.fromkeys(self.measures)
        return {
            **_MEASURERS[self.profile](doc.text, doc.words),
            "repeats_in_a_row": repeats_in_a_row(doc.words),
        }
