"""The belt: one document through the document stages, with every measure and the verdict."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import thread_time_ns
from typing import Any

from curate.caps import REASONS as CAP_REASONS
from curate.caps import Caps
from curate.config.file import Config
from curate.document import Document, Drop
from curate.errors import UserError
from curate.plug_ins.contract import FAILED, Misfit, Undeclared, held, held_measures, is_stop
from curate.stage import CAPS, GUARD, DocumentStage, RuleStage, declared

GUARD_REASONS = ("hung", "crashed", "out_of_memory")


@dataclass(slots=True)
class Passage:
    """How one document fared: `stage` and `drop` are None when it passed all document stages."""

    doc: Document
    stage: str | None = None
    drop: Drop | None = None
    measures: dict[str, Any] = field(default_factory=dict)  # `stage.measure` -> value
    measured: int = 0  # how many rule stages measured it, the first ones in order


@dataclass(slots=True)
class Step:
    """What one stage did, for `curate try` and `curate why`."""

    stage: str
    doc: Document
    drop: Drop | None
    measures: dict[str, Any]
    measured: bool = False  # whether this is a rule stage that came through
    sizes: dict[str, int] = field(default_factory=dict)  # words and bytes before and after it edited the text


class Belt:
    """The document stages of a config, in order. `cpu_ns` adds up the CPU time of each stage."""

    def __init__(self, stages: list[tuple[str, DocumentStage]], caps: Caps, measure_dropped: bool = True) -> None:
        self.stages = stages
        self.caps = caps
        self.measure_dropped = measure_dropped
        self.cpu_ns = {CAPS: 0, **{name: 0 for name, _ in stages}}

    @classmethod
    def of(cls, config: Config) -> "Belt":
        return cls(config.document_stages, config.caps, config.measure_dropped)

    def run(self, doc: Document) -> Passage:
        """The document through all stages; after a drop by a rule stage the later rule stages still measure."""
        passage = Passage(doc)
        for step in self.steps(doc):
            if step.measured:
                passage.measured += 1
                passage.measures.update(
                    (f"{step.stage}.{name}", value) for name, value in {**step.measures, **step.sizes}.items()
                )
            if passage.drop is None:
                passage.doc, passage.drop = step.doc, step.drop
                passage.stage = step.stage if step.drop else None
        return passage

    def steps(self, doc: Document) -> Iterator[Step]:
        """What each stage does, one after the other; ends where nothing more can be said."""
        drop = self._capped(doc.html)
        if drop:
            yield Step(CAPS, doc, drop, {})
            return
        dropped = False
        for name, stage in self.stages:
            if dropped and not isinstance(stage, RuleStage):
                continue
            step = self._step(name, stage, doc)
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

    def _step(self, name: str, stage: DocumentStage, doc: Document) -> Step:
        start = thread_time_ns()
        try:
            step = _judged(name, stage, doc) if isinstance(stage, RuleStage) else _applied(name, stage, doc)
        except UserError:  # no page's fault: a bug, a missing model
            raise
        except MemoryError:
            step = Step(GUARD, doc, Drop("out_of_memory", cause=f"in {name}"), {})
        except BaseException as error:  # a page that the stage can't take is entered; sys.exit, Rust's panics too
            if is_stop(error):
                raise
            step = Step(name, doc, Drop(FAILED, cause=f"{type(error).__name__}: {error}"[:500]), {})
        self.cpu_ns[name] += thread_time_ns() - start
        return step


def _applied(name: str, stage: DocumentStage, doc: Document) -> Step:
    outcome = held(name, stage, doc, stage.apply(doc))
    if isinstance(outcome, Drop):
        return Step(name, doc, outcome, {})
    return Step(name, outcome, None, {})


def _judged(name: str, stage: RuleStage, given: Document) -> Step:
    doc = held(name, stage, given, stage.clean(given))
    if isinstance(doc, Drop):
        raise Misfit("dropped in clean(), which only edits; drop in judge()")
    sizes = _sizes(given, doc) if cleans(stage) else {}
    measures = held_measures(name, stage, stage.measure(doc))
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
