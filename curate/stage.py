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
from curate.rules import ENDS as ENDS
from curate.rules import Measures as Measures
from curate.rules import Rule as Rule
from curate.rules import RuleStage as RuleStage
from curate.rules import breaks as breaks
from curate.rules import broken as broken
from curate.rules import failures as failures
from curate.rules import judges_by_rules as judges_by_rules
from curate.rules import rules_of as rules_of

if TYPE_CHECKING:
    from curate.corpus import Corpus

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

    `examples` are the names of the two kinds, such as good and bad. What is trained depends on the set of texts and not
    on their order.
    """

    examples: ClassVar[tuple[str, str]]

    def add(self, text: str, good: bool) -> None: ...

    def finish(self) -> Model: ...


class Alarm(NamedTuple):
    """What a person should look at before trusting a run: two counts, to which the kind gives a meaning."""

    kind: str
    dropped: int
    of: int
    group: str = ""  # of the stage's documents; "" for all


class Probe(NamedTuple):
    """Something that a stage needs of the installation, as `curate doctor` found it; `mend` is a command."""

    about: str
    fine: bool
    found: str
    mend: str = ""


class PageModel(Protocol):
    """What a training on labelled pages yields."""

    def save(self, path: Path) -> None: ...


class PageTrainer(Protocol):
    """Makes a model of pages whose true text is known. `about` says what they are and is written into the model.

    `makes` is the word of the command, such as extractor: `curate train extractor`. What is trained depends on the set
    of pages and not on their order.
    """

    makes: ClassVar[str]
    about: str

    def add(self, url: str, html: str, text: str) -> None: ...  # ValueError: why it can't be learnt from

    def finish(self) -> PageModel: ...  # ValueError: why there can be none


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a stage may declare besides, as class variables, properties or methods; defaults where it has none."""

    # of every stage
    check: Callable[[Neighbours, Neighbours], None] | None = None  # ValueError: can't stand after these, before those
    needs: tuple[str, ...] = ()  # attributes that must be there before it
    needs_numbers: tuple[str, ...] = ()  # those of them that must be numbers
    trainer: Callable[..., "Trainer"] | None = None  # a dataclass: what `curate train` makes its model with
    probes: Callable[[], Iterable[Probe]] | None = None  # what `curate doctor` is to look at
    page_trainer: Callable[[str], "PageTrainer"] | None = None  # the same, of a model that learns from labelled pages
    # of document stages
    gives_text: bool = False  # it turns pages into text: what reads the text must stand after it
    reads_text: bool = True  # its verdict depends on the text
    keeps_text: bool = False  # it never changes the text
    worth: float | None = None  # share of its pages that it must drop to be worth its time
    rerun: Callable[[Any], str | None] | None = None  # of a rule stage with other limits: the stage as it ran -> why
    # its measures do not tell what it would do, or None
    evidence: Callable[[str, str], Iterable[tuple[int, int]]] | None = None  # text, reason -> spans at fault
    estimates: bool = False  # what it counts are estimates
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
    scheme: int | None = None  # number of the form of its sketches, raised where equal texts get others: with one, the
    # documents of earlier runs may join in (`against`), and are never edited, dropped or written themselves
    apart: str | None = None  # why with its options they may not: one sentence with the way out
    equal: bool = False  # twins are equal texts, of which the first stays
    ranked_by: str | None = None  # field of its records: the larger goes first, NaN last
    alarms: Mapping[str, str] = field(default_factory=dict)  # kind -> what it says, with {dropped}, {of} and {share}
    alarmed: Callable[[Mapping[str, int]], Iterable[Alarm]] | None = None  # the alarms in the notes of a run
    # of those that find twins
    alike_from: float | None = None  # the similarity from which documents are twins; None: equal records are
    similarity: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # of records, item by item
    recall: Callable[[float], float] | None = None  # chance that a pair of such similarity is found
    compared: Callable[[Document], Set[str]] | None = None  # the set whose Jaccard similarity it estimates


def declared(stage: object) -> Declared:
    """What a stage (or the class of one) declares beside what it must."""
    return Declared(**{f.name: getattr(stage, f.name) for f in fields(Declared) if hasattr(stage, f.name)})
