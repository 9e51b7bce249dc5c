"""What a stage is: a frozen dataclass whose fields are its configuration, and nothing else.

A string under a field is the meaning of the option, as `curate stages NAME` and editors show it.

Document stages look at one document; rule stages are document stages that measure first and judge the measures
after, so that a threshold can be re-decided without reading the crawl again. Corpus stages need all documents:
they sketch each one during the scan and decide afterwards from the sketches.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Protocol,
    runtime_checkable,
)

import numpy as np
import pyarrow as pa

from curate.document import Document, Drop

if TYPE_CHECKING:
    from curate.corpus import Corpus

Measures = Mapping[str, Any]
Columns = Mapping[str, np.ndarray]
Span = tuple[int, int]  # first character and the one behind the last
OPENING = READ, GUARD, CAPS = "read", "guard", "caps"  # stages of the ledger that no config names


@dataclass(frozen=True)
class NamedFile:
    """Marks the type of an option that names files: their content belongs to the config, and so to the fingerprint."""


FileName = Annotated[str, NamedFile()]  # also within: `FileName | None`, `Mapping[str, FileName]`


@runtime_checkable
class DocumentStage(Protocol):
    """A stage that needs one document at a time.

    `adds` names and types the attributes it sets (they become shard columns), `reasons` lists every reason for
    which it may drop; a reason that is not declared is a bug and raises. What it may also declare: `Declared`.
    """

    adds: ClassVar[Mapping[str, pa.DataType]]
    reasons: ClassVar[tuple[str, ...]]

    def apply(self, doc: Document) -> Document | Drop: ...


class Rule(NamedTuple):
    """One rule of a stage: a page whose `measure` breaks the limit that `option` sets is dropped for `reason`.

    A `min_...` is the least value that passes, a `max_...` the largest; any other option lists the values that pass.
    An option of None turns the rule off, a measure of None was not taken. Without an option, any value that is true
    (a listed word that was met) breaks the rule.
    """

    reason: str
    measure: str
    option: str | None = None

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
        limit = None if rule.option is None else getattr(stage, rule.option)
        value = measures[rule.measure]
        if rule.broken(value, limit):
            yield rule.drop(value, limit)


@dataclass(frozen=True, kw_only=True)
class RuleStage:
    """Base of the stages that measure and judge (language, gopher, naive_bayes, ...).

    `measures` names and types all that `measure` returns; each is recorded for kept and dropped documents alike.
    A measure that stands in `adds` too becomes an attribute. `rules` say, in order, which measure breaks the limit of
    which option for which reason: the verdict, `reasons` and `limits` (the options that `curate what-if` can change
    without reading the crawl) follow from them. `absent` tells of measures why a page may have none.
    """

    annotate: bool = False
    """record the verdict in the column `<stage>_reason` and keep the page"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    measures: ClassVar[Mapping[str, pa.DataType]] = {}
    rules: ClassVar[tuple[Rule, ...]] = ()
    reasons: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[tuple[str, ...]] = ()
    absent: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "rules" in cls.__dict__:
            cls.rules = tuple(Rule(*rule) for rule in cls.rules)
            told = {"reasons": [rule.reason for rule in cls.rules],
                    "limits": [rule.option for rule in cls.rules if rule.option is not None]}  # fmt: skip
            for name, values in told.items():
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


class Sketch(NamedTuple):
    """What a corpus stage remembers of one document: 64-bit keys that propose, one record that decides."""

    keys: np.ndarray  # uint64, any number; equal keys put documents into one bucket
    record: np.void | np.ndarray | None = None  # one item of the stage's `record` dtype
    carried: np.ndarray | None = None  # uint64, one a key, of a stage that declares `carries`: a place, a check, ...


class Verdicts(NamedTuple):
    """Decisions on some documents, as equally long arrays; documents not named stay as they are.

    `reason` None means that the documents are kept and only get `columns`.
    """

    documents: np.ndarray  # int64 numbers
    reason: str | None
    matched: np.ndarray | None = None  # int64 number of the twin, -1 for none
    score: np.ndarray | None = None  # float32 similarity
    columns: Mapping[str, np.ndarray] = {}  # values for attributes in `adds`


CUT = np.dtype([("document", "<i8"), ("start", "<u4"), ("end", "<u4"), ("matched", "<i8"), ("cause", "<i4")])


class Cuts(NamedTuple):
    """Spans to cut out of texts, items of `CUT` in any order; they may touch and overlap, and repeat.

    `start` and `end` count what the stage's `spans` turns into characters: lines, words, ... `matched` is the number
    of a document that holds the same, -1 for none; `cause` is a number for the stage's `cause`, -1 for none.
    """

    items: np.ndarray

    @classmethod
    def load(cls, path: Path, items: int = 1 << 20) -> Iterator["Cuts"]:
        """The cuts of a file of such items, some at a time."""
        with path.open("rb") as file:
            while len(some := np.fromfile(file, CUT, items)):
                yield cls(some)


@runtime_checkable
class CorpusStage(Protocol):
    """A stage that needs all documents. `record` is the fixed-width dtype of its records, or None.

    What it may also declare: `Declared`.
    """

    adds: ClassVar[Mapping[str, pa.DataType]]
    reasons: ClassVar[tuple[str, ...]]

    @property
    def record(self) -> np.dtype[Any] | None: ...  # a class variable will do

    def sketch(self, doc: Document) -> Sketch: ...

    def decide(self, corpus: "Corpus") -> Iterator[Verdicts | Cuts]: ...


Stage = DocumentStage | CorpusStage
Neighbours = Sequence[tuple[str, Stage]]  # stages of a config by name


class Model(Protocol):
    """What a training yields: scores above 0 speak for the first kind of examples."""

    def score(self, words: list[str]) -> float: ...

    def save(self, path: Path) -> None: ...


class Trainer(Protocol):
    """Makes a model of texts of two kinds, as many as there are. A dataclass whose fields are options of the command.

    `examples` are the names of the two kinds, such as good and bad. What is trained hangs on the set of texts and not
    on their order.
    """

    examples: ClassVar[tuple[str, str]]

    def add(self, text: str, good: bool) -> None: ...

    def finish(self) -> Model: ...


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a stage may declare besides, as class variables, properties or methods; defaults where it has none."""

    # of every stage
    check: Callable[[Neighbours, Neighbours], None] | None = None  # ValueError: can't stand after these, before those
    needs: tuple[str, ...] = ()  # attributes that must be there before it
    needs_numbers: tuple[str, ...] = ()  # those of them that must be numbers
    trainer: Callable[..., "Trainer"] | None = None  # a dataclass: what `curate train` makes its model with
    # of document stages
    keeps_text: bool = False  # it never changes the text
    evidence: Callable[[str, str], Iterable[tuple[int, int]]] | None = None  # text, reason -> spans at fault
    counts: tuple[str, ...] = ()  # attributes that it counts in the text: counted again where a text was cut
    apply_all: Callable[[Sequence[Document]], Sequence[Document | Drop]] | None = None  # as `apply`, many at once
    measure_all: Callable[[Sequence[Document]], Sequence[Measures]] | None = None  # of a rule stage: as `measure`
    # of corpus stages
    carries: bool = False  # each key of a sketch carries 64 bits, `Sketch.carried`
    spans: Callable[[Document, np.ndarray, np.ndarray], Sequence[Span]] | None = None  # it cuts: starts, ends in its
    # own units, ascending and apart, of one document -> the span of characters to cut for each
    recheck: Callable[[Document, Document, Sequence[Span]], Drop | None] | None = None  # of one that was cut: as it is
    # now, as it was, what was cut; a drop keeps the text as it was
    cause: Callable[[int], str] | None = None  # the words for a cut's `cause`
    spread: Callable[[Columns], tuple[np.ndarray, Columns] | None] | None = None  # columns of some kept documents ->
    # the document of each row to be written, by place, and columns of these rows; None: one row each, as they are
    fill: Mapping[str, Any] = field(default_factory=dict)  # what its columns hold of documents not named; else 0
    sketch_all: Callable[[Sequence[Document]], Sequence[Sketch]] | None = None  # as `sketch`, many at once
    equal: bool = False  # twins are equal texts, of which the first stays
    compared: Callable[[Document], Set[str]] | None = None  # the set whose Jaccard similarity it estimates


def declared(stage: object) -> Declared:
    """What a stage (or the class of one) declares beside what it must."""
    return Declared(**{f.name: getattr(stage, f.name) for f in fields(Declared) if hasattr(stage, f.name)})
