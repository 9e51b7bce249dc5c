"""The belt: one document through the document stages, with every measure and the verdict."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from time import thread_time_ns
from typing import Any, NamedTuple, TypeVar

from curate.caps import REASONS as CAP_REASONS
from curate.caps import Caps
from curate.config.file import Config
from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.plug_ins.contract import FAILED, Misfit, Undeclared, held, held_measures, is_stop
from curate.stage import CAPS, GUARD, DocumentStage, RuleStage, declared

T = TypeVar("T")
Watch = Callable[[Address | None], AbstractContextManager[None]]
GUARD_REASONS = ("hung", "crashed", "out_of_memory")


@dataclass(slots=True)
class Passage:
    """How one document fared: `stage` and `drop` are None when it passed all document stages."""

    doc: Document
    stage: str | None = None
    drop: Drop | None = None
    measures: dict[str, Any] = field(default_factory=dict)  # `stage.measure` -> value
    measured: int = 0  # how many rule stages measured it, the first ones in order

    def enter(self, step: "Step") -> None:
        """Adds what one more stage did."""
        if step.measured:
            self.measured += 1
            self.measures.update(
                (f"{step.stage}.{name}", value) for name, value in {**step.measures, **step.sizes}.items()
            )
        if self.drop is None:
            self.doc, self.drop = step.doc, step.drop
            self.stage = step.stage if step.drop else None


@dataclass(slots=True)
class Step:
    """What one stage did, for `curate try` and `curate why`."""

    stage: str
    doc: Document
    drop: Drop | None
    measures: dict[str, Any]
    measured: bool = False  # whether this is a rule stage that came through
    sizes: dict[str, int] = field(default_factory=dict)  # words and bytes before and after it edited the text


class Fault(NamedTuple):
    """What is entered of a page that a stage raised on: under which stage, and the verdict."""

    stage: str
    drop: Drop


class Asked(NamedTuple):
    """A document that waits until others stand before the same stage, which takes many at once."""

    place: int  # of the stage
    doc: Document


Course = Generator[Step | Asked, Step | None, None]


class _Journey:
    """One document on its way beside others: goes on until a stage asks for it together with them."""

    def __init__(self, doc: Document, course: Course) -> None:
        self.passage, self.course = Passage(doc), course
        self.asked: Asked | None = None

    def go(self, step: Step | None) -> None:
        """Goes on with what the stage that asked for the document did."""
        self.asked = None
        try:
            first = self.course.send(step)
        except StopIteration:
            return
        for passing in chain((first,), self.course):
            if isinstance(passing, Asked):
                self.asked = passing
                return
            self.passage.enter(passing)


class Belt:
    """The document stages of a config, in order. `cpu_ns` adds up the CPU time of each stage.

    `together` says whether one of them takes many documents at once.
    """

    def __init__(self, stages: list[tuple[str, DocumentStage]], caps: Caps, measure_dropped: bool = True) -> None:
        self.stages = stages
        self.caps = caps
        self.measure_dropped = measure_dropped
        self.cpu_ns = {CAPS: 0, **{name: 0 for name, _ in stages}}
        self.many = {name for name, stage in stages if takes_many(stage)}
        self.giving = {name for name, stage in stages if declared(stage).gives_text}
        self.together = bool(self.many)

    @classmethod
    def of(cls, config: Config) -> "Belt":
        return cls(config.document_stages, config.caps, config.measure_dropped)

    def run(self, doc: Document) -> Passage:
        """The document through all stages; after a drop by a rule stage the later rule stages still measure."""
        passage = Passage(doc)
        for step in self.steps(doc):
            passage.enter(step)
        return passage

    def run_all(self, docs: Sequence[Document], watch: Watch = lambda address: nullcontext()) -> list[Passage]:
        """As `run` of each document, but those that come to a stage which takes many at once pass it together.

        `watch(address)` is around all that is done for one document, `watch(None)` around what is done for many.
        """
        journeys = [_Journey(doc, self._course(doc, self.together)) for doc in docs]
        for journey in journeys:
            with watch(journey.passage.doc.address):
                journey.go(None)
        while waiting := [(one.asked.place, one.asked.doc, one) for one in journeys if one.asked]:
            place = min(first for first, *_ in waiting)
            some = [(doc, journey) for first, doc, journey in waiting if first == place]
            steps = self._together(place, [doc for doc, _ in some], watch)
            for (doc, journey), step in zip(some, steps, strict=True):
                with watch(doc.address):
                    journey.go(step)
        return [journey.passage for journey in journeys]

    def steps(self, doc: Document) -> Iterator[Step]:
        """What each stage does, one after the other; ends where nothing more can be said."""
        return (step for step in self._course(doc, together=False) if isinstance(step, Step))

    def _course(self, doc: Document, together: bool) -> Course:
        """As `steps`; with `together`, asks for a step where the stage takes many documents at once."""
        drop = self._capped(doc.html)
        if drop:
            yield Step(CAPS, doc, drop, {})
            return
        dropped = False
        for place, (name, stage) in enumerate(self.stages):
            if dropped and not isinstance(stage, RuleStage):
                continue
            if dropped and doc.html is not None and name in self.giving:
                return  # its work is what the drop has saved, and without a text nothing after it can be told
            given = (yield Asked(place, doc)) if together and name in self.many else None
            step = given or self._step(name, stage, doc)
            if not step.drop and step.doc.text is not doc.text:
                too_much = self.caps.check_text(step.doc.text)
                if too_much:
                    yield Step(CAPS, step.doc, too_much, {})
                    return
            yield step
            doc = step.doc
            if step.drop:
                dropped = True
                if not self.measure_dropped or not isinstance(stage, RuleStage) or not step.measured:
                    return  # a stage that failed measured nothing, and what comes after it can't be told
                if step.sizes and not doc.text:
                    return  # it left no text that could be measured
        if not dropped and (nothing := self.caps.check_end(doc.text)):
            yield Step(CAPS, doc, nothing, {})

    def _capped(self, html: bytes | None) -> Drop | None:
        if html is None:
            return None
        start = thread_time_ns()
        drop = self.caps.check_html(html)
        self.cpu_ns[CAPS] += thread_time_ns() - start
        if drop and drop.reason not in CAP_REASONS:
            raise Undeclared(f"caps dropped for '{drop.reason}', which it does not declare")
        return drop

    def _together(self, place: int, docs: list[Document], watch: Watch) -> list[Step]:
        """What a stage that takes many at once does of each document; where it raises, one by one says of which."""
        name, stage = self.stages[place]
        with watch(None):
            steps = self._tried(name, lambda: _many(name, stage, docs))
        if not isinstance(steps, Fault):
            return steps
        alone = []
        for doc in docs:
            with watch(doc.address):
                alone.append(self._step(name, stage, doc))
        return alone

    def _step(self, name: str, stage: DocumentStage, doc: Document) -> Step:
        does = _judged if isinstance(stage, RuleStage) else _applied
        step = self._tried(name, lambda: does(name, stage, doc))  # type: ignore[arg-type]
        return Step(step.stage, doc, step.drop, {}) if isinstance(step, Fault) else step

    def _tried(self, name: str, work: Callable[[], T]) -> T | Fault:
        """What a stage's code gives, or what is entered where it raises."""
        start = thread_time_ns()
        try:
            return work()
        except UserError:  # no page's fault: a bug, a missing model
            raise
        except MemoryError:
            return Fault(GUARD, Drop("out_of_memory", cause=f"in {name}"))
        except BaseException as error:  # a page that the stage can't take is entered; sys.exit, Rust's panics too
            if is_stop(error):
                raise
            return Fault(name, Drop(FAILED, cause=f"{type(error).__name__}: {error}"[:500]))
        finally:
            self.cpu_ns[name] += thread_time_ns() - start


def takes_many(stage: DocumentStage) -> bool:
    """Whether a document stage takes many documents at once."""
    declaration = declared(stage)
    return (declaration.measure_all if isinstance(stage, RuleStage) else declaration.apply_all) is not None


def _applied(name: str, stage: DocumentStage, doc: Document) -> Step:
    return _outcome(name, stage, doc, stage.apply(doc))


def _outcome(name: str, stage: DocumentStage, given: Document, outcome: Any) -> Step:
    made = held(name, stage, given, outcome)
    return Step(name, given, made, {}) if isinstance(made, Drop) else Step(name, made, None, {})


def _many(name: str, stage: DocumentStage, docs: list[Document]) -> list[Step]:
    """What a stage that takes many at once does of each document."""
    if isinstance(stage, RuleStage):
        cleaned = [_cleaned(name, stage, doc) for doc in docs]
        measured = _all_of(name, declared(stage).measure_all, cleaned)
        return [_verdict(name, stage, *page) for page in zip(docs, cleaned, measured, strict=True)]
    outcomes = _all_of(name, declared(stage).apply_all, docs)
    return [_outcome(name, stage, doc, outcome) for doc, outcome in zip(docs, outcomes, strict=True)]


def _all_of(name: str, function: Callable[[Sequence[Document]], Sequence[T]] | None, docs: list[Document]) -> list[T]:
    found = list(function(docs)) if function else []
    if len(found) != len(docs):
        raise Undeclared(
            f"stage '{name}' gave back {len(found)} results for {len(docs)} documents; it owes one for each"
        )
    return found


def _judged(name: str, stage: RuleStage, given: Document) -> Step:
    doc = _cleaned(name, stage, given)
    return _verdict(name, stage, given, doc, stage.measure(doc))


def _cleaned(name: str, stage: RuleStage, given: Document) -> Document:
    doc = held(name, stage, given, stage.clean(given))
    if isinstance(doc, Drop):
        raise Misfit("dropped in clean(), which only edits; drop in judge()")
    return doc


def _verdict(name: str, stage: RuleStage, given: Document, doc: Document, measured: Any) -> Step:
    sizes = _sizes(given, doc) if cleans(stage) else {}
    measures = held_measures(name, stage, measured)
    doc = doc.annotate(**{added: measures[added] for added in stage.adds if added in measures})
    judged = stage.judge(measures)
    drop = None if judged is None else held(name, stage, doc, judged)
    if isinstance(drop, Document):
        raise Misfit("gave back a document from judge() and not a Drop or None")
    if drop is not None and stage.annotate:
        return Step(name, doc.annotate(**{f"{name}_reason": drop.reason}), None, measures, True, sizes)
    return Step(name, doc, drop, measures, True, sizes)


def cleans(stage: RuleStage) -> bool:
    """Whether a rule stage may edit the text before it measures."""
    return type(stage).clean is not RuleStage.clean


def may_give_text(stage: DocumentStage) -> bool:
    """Whether a stage may turn a page into text, as `extract` does: not one that only looks, nor one that says so."""
    looks = isinstance(stage, RuleStage) and not cleans(stage)
    return not looks and not declared(stage).keeps_text


SIZES = ("words_before", "bytes_before", "words_after", "bytes_after")


def _sizes(before: Document, after: Document) -> dict[str, int]:
    numbers = (len(before.words), len(before.text.encode()), len(after.words), len(after.text.encode()))
    return dict(zip(SIZES, numbers, strict=True))
