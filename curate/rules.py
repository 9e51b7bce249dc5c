"""Rules: which measure of a page breaks the limit of which option, and for which reason the page is dropped then."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import pyarrow as pa

from curate.document import Document, Drop

Measures = Mapping[str, Any]


class Rule(NamedTuple):
    """One rule of a stage: a page whose `measure` breaks the limit that `option` sets is dropped for `reason`.

    A `min_...` is the least value that passes, a `max_...` the largest; any other option lists the values that pass.
    An option of None turns the rule off, a measure of None was not taken. Without an option, any value that is true
    (a listed word that was met) breaks the rule. A measure of "" means several at once: the stage's own `judge` knows.
    """

    reason: str
    measure: str
    option: str | None = None

    def limit(self, stage: object) -> Any:
        """What the option is set to; None without one."""
        return None if self.option is None else getattr(stage, self.option)

    def broken(self, value: Any, limit: Any) -> bool:
        """Whether a measured value breaks the rule under a limit; a value equal to the limit passes."""
        if self.option is None:
            return bool(value)
        return broken(self.option, value, limit)

    def drop(self, value: Any, limit: Any) -> Drop:
        """The verdict where the rule is broken: value and limit where they are numbers, else the value as cause."""
        if self.option is not None and self.option.startswith(ENDS):
            return Drop(self.reason, value, limit)
        return Drop(self.reason, cause=str(value))


ENDS = ("min_", "max_")  # beginnings of the options that say how little or how much passes


def breaks(option: str, value: Any, limit: float) -> Any:
    """Whether a value breaks the limit of an option: below a `min_...`, above a `max_...`; the limit itself passes.

    Of an array of values an array of answers; NaN passes.
    """
    return value < limit if option.startswith("min_") else value > limit


def broken(option: str, value: Any, limit: Any) -> bool:
    """Whether a measured value breaks the limit that an option sets; see `Rule`."""
    if value is None or limit is None:
        return False
    if option.startswith(ENDS):
        return bool(breaks(option, value, limit))
    return isinstance(limit, list | tuple) and value not in limit


def failures(rules: Iterable[Rule], stage: object, measures: Measures) -> Iterator[Drop]:
    """A verdict for each rule that the measures break, in the order of the rules."""
    for rule in rules:
        value, limit = measures[rule.measure], rule.limit(stage)
        if rule.broken(value, limit):
            yield rule.drop(value, limit)


@dataclass(frozen=True, kw_only=True)
class RuleStage:
    """Base of the stages that measure and judge (language, gopher, naive_bayes, ...).

    `measures` names and types all that `measure` returns; each is recorded for kept and dropped documents alike.
    A measure that stands in `adds` too becomes an attribute. `rules` say, in order, which measure breaks the limit of
    which option for which reason: the verdict, `reasons` and `limits` (the options that `curate what-if` can change
    without reading the crawl) follow from them. `absent` tells of measures why a page may have none.
    `categories` lists those that only name things, such as the number of a cluster: a report counts them, and draws
    no histogram of them.
    """

    annotate: bool = False
    """record the verdict in the column `<stage>_reason` and keep the page"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    measures: ClassVar[Mapping[str, pa.DataType]] = {}
    rules: ClassVar[tuple[Rule, ...]] = ()
    reasons: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[tuple[str, ...]] = ()
    absent: ClassVar[Mapping[str, str]] = {}
    categories: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "rules" in cls.__dict__:
            cls.rules = tuple(Rule(*rule) for rule in cls.rules)
            declared = {
                "reasons": [rule.reason for rule in cls.rules],
                "limits": [rule.option for rule in cls.rules if rule.option is not None],
            }
            for name, values in declared.items():
                if name not in cls.__dict__:
                    setattr(cls, name, tuple(dict.fromkeys(values)))

    def clean(self, doc: Document) -> Document:
        """The document as this stage passes it on (a stage that edits text overrides this)."""
        return doc

    def measure(self, doc: Document) -> dict[str, Any]:
        """All measures of a cleaned document; None where a measure does not apply."""
        raise TypeError(f"{type(self).__name__} must define measure()")

    def judge(self, measures: Measures) -> Drop | None:
        """The first rule that the measures break, or None.

        A stage may judge in its own way (with a cause, or rules that hang together), as long as each limit matters
        only where a rule names it.
        """
        return next(failures(self.rules, self, measures), None)

    def apply(self, doc: Document) -> Document | Drop:
        doc = self.clean(doc)
        measures = self.measure(doc)
        doc = doc.annotate(**{name: measures[name] for name in self.adds if name in measures})
        return self.judge(measures) or doc


def rules_of(cls: type[Any]) -> type[RuleStage]:
    """The class of a rule stage; for any other stage their base, which declares nothing."""
    return cls if issubclass(cls, RuleStage) else RuleStage


def judges_by_rules(stage: RuleStage) -> bool:
    """Whether its rules are the whole of a stage's verdict."""
    return bool(stage.rules) and type(stage).judge is RuleStage.judge
