"""The belt: order, measures after a drop, annotations, failures, and stages that break their word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from curate.belt import Belt, Undeclared
from curate.caps import Caps
from curate.document import Address, Document, Drop
from curate.stage import DocumentStage, RuleStage
from tests.together import CALLS, Reversing, Scoring


@dataclass(frozen=True, kw_only=True)
class Length(RuleStage):
    least: int = 3
    measures: ClassVar[Mapping[str, pa.DataType]] = {"length": pa.int64()}
    adds: ClassVar[Mapping[str, pa.DataType]] = {"length": pa.int64()}
    reasons: ClassVar[tuple[str, ...]] = ("too_short",)

    def measure(self, doc: Document) -> dict[str, Any]:
        return {"length": len(doc.text)}

    def judge(self, measures: Mapping[str, Any]) -> Drop | None:
        return Drop("too_short", measures["length"], self.least) if measures["length"] < self.least else None


@dataclass(frozen=True, kw_only=True)
class Broken:
    error: str = "ValueError"
    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("declared",)

    def apply(self, doc: Document) -> Document | Drop:
        if self.error == "undeclared":
            return Drop("surprise")
        raise MemoryError if self.error == "memory" else ValueError("no such page")


def doc(text: str = "abcd", html: bytes | None = None) -> Document:
    return Document(Address("s", "f", 0), text=text, html=html)


def belt(*stages: tuple[str, DocumentStage], measure_dropped: bool = True) -> Belt:
    return Belt(list(stages), Caps(), measure_dropped)


def test_later_rules_measure_a_dropped_page() -> None:
    passage = belt(("first", Length(least=9)), ("second", Length())).run(doc())
    assert (passage.stage, passage.drop) == ("first", Drop("too_short", 4, 9))
    assert passage.measures["second.length"] == 4


@dataclass(frozen=True, kw_only=True)
class Giving(RuleStage):
    """Turns pages into texts, as a rule stage that measures how well it went."""

    measures: ClassVar[Mapping[str, pa.DataType]] = {"sure": pa.float64()}
    gives_text: ClassVar[bool] = True

    def clean(self, doc: Document) -> Document:
        return doc if doc.html is None else doc.with_text(doc.html.decode())

    def measure(self, doc: Document) -> dict[str, Any]:
        return {"sure": 1.0}


def test_a_dropped_page_is_not_turned_into_text_and_not_measured_after_that() -> None:
    stages = ("url", Length(least=9)), ("give", Giving()), ("last", Length())
    assert set(belt(*stages).run(doc("", b"page")).measures) == {"url.length"}
    text = belt(*stages).run(doc("text"))  # what is text already costs nothing
    assert text.stage == "url" and text.measures["last.length"] == 4 and text.measured == 3
    assert belt(*stages[1:]).run(doc("", b"page")).measures["last.length"] == 4


def test_they_do_not_when_told_so() -> None:
    passage = belt(("first", Length(least=9)), ("second", Length()), measure_dropped=False).run(doc())
    assert "second.length" not in passage.measures


def test_only_the_first_verdict_counts() -> None:
    passage = belt(("first", Length(least=9)), ("second", Length(least=99))).run(doc())
    assert passage.stage == "first"


def test_annotate_records_the_reason_and_lets_the_page_pass() -> None:
    passage = belt(("first", Length(least=9, annotate=True))).run(doc())
    assert passage.drop is None
    assert passage.doc.attributes == {"length": 4, "first_reason": "too_short"}


def test_a_stage_that_raises_costs_the_page_and_says_where() -> None:
    passage = belt(("broken", Broken())).run(doc())
    assert passage.stage == "broken"
    assert passage.drop is not None
    assert (passage.drop.reason, passage.drop.cause) == ("failed", "ValueError: no such page")


def test_a_stage_that_runs_out_of_memory_is_the_guards_matter() -> None:
    passage = belt(("broken", Broken(error="memory"))).run(doc())
    assert passage.stage == "guard"
    assert passage.drop is not None and passage.drop.reason == "out_of_memory"


def test_an_undeclared_reason_is_a_bug_and_raises() -> None:
    with pytest.raises(Undeclared, match="surprise"):
        belt(("broken", Broken(error="undeclared"))).run(doc())


def test_caps_come_before_the_first_stage() -> None:
    passage = Belt([("broken", Broken())], Caps(bytes=3)).run(doc(html=b"<p>four"))
    assert passage.stage == "caps"
    assert passage.drop is not None and passage.drop.reason == "too_many_bytes"


MIXED = ["the river meets the sea", "a meadow", "zzz", "a cursed text here", "", "the end"]


@pytest.mark.parametrize("measure_dropped", [True, False])
def test_documents_that_pass_together_fare_as_each_alone(measure_dropped: bool) -> None:
    stages = [("first", Length(least=4)), ("turn", Reversing()), ("score", Scoring()), ("last", Length(least=8))]
    made = belt(*stages, measure_dropped=measure_dropped)
    docs = [Document(Address("s", "f", place), text=words) for place, words in enumerate(MIXED)]
    CALLS.clear()
    together = made.run_all(docs)
    assert made.together and max(CALLS) > 1
    assert together == [belt(*stages, measure_dropped=measure_dropped).run(doc) for doc in docs]
    assert [passage.stage for passage in together] == [None, "turn", "first", "turn", "first", "last"]


def test_each_stage_that_takes_many_gets_all_that_come_to_it() -> None:
    CALLS.clear()
    belt(("turn", Reversing()), ("score", Scoring())).run_all([doc("a meadow"), doc("the sea"), doc("the end")])
    assert CALLS == [3, 2]


def test_a_stage_owes_one_result_for_each_document() -> None:
    with pytest.raises(Undeclared, match="stage 'turn' gave back 1 results for 2 documents"):
        belt(("turn", Reversing(owes=1))).run_all([doc("one"), doc("two")])
