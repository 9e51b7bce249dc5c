"""Pages for which a condition holds: `characters between 200 and 100000 and digit_ratio < 0.2`.

Common measures of a text are built in, attributes of earlier stages and of the source can be named too. All of them
are recorded, so that another condition can be asked of a run without running it again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import pyarrow as pa

from curate.document import Document, Drop
from curate.errors import UserError
from curate.stage import FileName, Measures, Rule, RuleStage
from stages.conditions.grammar import NoCondition, condition
from stages.conditions.logic import Condition, comparable, every_test, is_number
from stages.rules import text_measures
from stages.rules.scope import entries

OF_THE_DOCUMENT = ("url", "date", "id")  # what every document has, by its name in a condition
_LISTS = {"flagged_word_ratio": "flagged_words_file", "stop_word_ratio": "stop_words_file"}


@lru_cache(maxsize=8)
def _listed(path: str | None) -> frozenset[str] | None:
    return None if path is None else frozenset(entries(path))


@dataclass(frozen=True, kw_only=True)
class Where(RuleStage):
    """Keeps pages for which a condition holds; where a value that it needs is not there, it does not."""

    keep: str
    """the condition, over built-in measures and attributes (the grammar is on this stage's page)"""
    flagged_words_file: FileName | None = None
    """path of a list of words, one a line, that `flagged_word_ratio` counts"""
    stop_words_file: FileName | None = None
    """path of a list of words, one a line, that `stop_word_ratio` counts"""

    measures: ClassVar[Mapping[str, pa.DataType]] = {**text_measures.TYPES, "attributes": pa.string()}
    rules: ClassVar[tuple[Rule, ...]] = (Rule("condition_failed", "", "keep"), Rule("condition_unknown", "", "keep"))
    absent: ClassVar[Mapping[str, str]] = {
        "attributes": "the condition names none",
        **{measure: f"no {option} was given" for measure, option in _LISTS.items()},
    }

    def __post_init__(self) -> None:
        try:
            read = condition(self.keep)
        except NoCondition as error:
            raise ValueError(f"keep: {error}") from None
        for test in every_test(read):
            if test.name in text_measures.TYPES and not all(map(is_number, test.against)):
                raise ValueError(f"keep: {test.name} is a number, so '{test.source}' never holds")
            option = _LISTS.get(test.name)
            if option and getattr(self, option) is None:
                raise ValueError(f"keep: {test.name} counts the words of a list; give {option}")

    @cached_property
    def condition(self) -> Condition:
        """What `keep` says."""
        return condition(self.keep)

    @property
    def reads_text(self) -> bool:
        """Whether the condition asks for a measure of the text."""
        return any(test.name in text_measures.TYPES for test in every_test(self.condition))

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes that the condition names."""
        known = (*text_measures.TYPES, *OF_THE_DOCUMENT)
        return tuple(dict.fromkeys(test.name for test in every_test(self.condition) if test.name not in known))

    @property
    def _named(self) -> set[str]:
        """All that the condition names and no measure holds."""
        return {test.name for test in every_test(self.condition)} - set(text_measures.TYPES)

    def rerun(self, ran: "Where") -> str | None:
        """Why another condition can't be asked of what this stage recorded as it ran, or None."""
        missing = min(self._named - ran._named, default=None)
        return None if missing is None else f"'{missing}' was not recorded, since the condition did not name it"

    def check(self, before: object, after: object) -> None:
        """Raises UserError where a list can't be read, before a page is."""
        for option in _LISTS.values():
            _listed(getattr(self, option))

    def measure(self, doc: Document) -> dict[str, Any]:
        """The built-in measures, and in `attributes`, as JSON, the others that the condition names."""
        lists = _listed(self.flagged_words_file), _listed(self.stop_words_file)
        values = {name: doc.attributes.get(name) for name in self.needs}
        values |= {
            test.name: getattr(doc, test.name) for test in every_test(self.condition) if test.name in OF_THE_DOCUMENT
        }
        plain = {
            name: value if comparable(value, 0.0) or isinstance(value, str | bool | None) else str(value)
            for name, value in values.items()
        }
        return {
            **text_measures.measures(doc.text, doc.words, *lists),
            "attributes": json.dumps(plain, ensure_ascii=False, sort_keys=True) if plain else None,
        }

    def judge(self, measures: Measures) -> Drop | None:
        """Whether the condition holds. Raises UserError where it names an attribute that was not recorded."""
        attributes = json.loads(measures["attributes"] or "{}")
        values = {**measures, **attributes}
        truth = self.condition.holds(values)
        if truth:
            return None
        missing = [name for name in self.needs if name not in attributes]
        if missing:
            raise UserError(f"where: '{missing[0]}' was not recorded by this run; that condition needs a rerun")
        failed = self.condition.failure(values)
        reason = "condition_unknown" if truth is None else "condition_failed"
        return Drop(reason, failed.value, failed.limit, failed.cause)
