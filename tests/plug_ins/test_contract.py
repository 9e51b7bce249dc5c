"""Stages that misbehave: a page's fault costs the page, a stage's fault is one sentence, nothing is lost or made up."""

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pytest

from curate.belt import Belt, Passage
from curate.caps import Caps
from curate.config.file import parse_config
from curate.document import Address, Document, Drop
from curate.errors import Stopped, UserError
from curate.plug_ins.contract import Blamed, Undeclared, fault_of, fits
from curate.stage import RuleStage
from tests.engine import run_it, settings, text, write_jsonl

ADDRESS = Address("web", "a.jsonl", 0)
HALF = Drop("bad", cast("float", np.float32(0.5)), 2)


@dataclass(frozen=True)
class Giving:
    """Gives back whatever `outcome` makes of the document."""

    outcome: Any

    adds: ClassVar[Mapping[str, pa.DataType]] = {
        "x": pa.int64(),
        "share": pa.float64(),
        "word": pa.string(),
        "list": pa.list_(pa.string()),
    }
    reasons: ClassVar[tuple[str, ...]] = ("bad",)

    def apply(self, doc: Document) -> Any:
        return self.outcome(doc)


def passed(outcome: Any) -> Passage:
    return Belt([("odd", Giving(outcome))], Caps()).run(Document(ADDRESS, text="some text", attributes={"n": 1}))


def raising(error: BaseException) -> Any:
    def outcome(doc: Document) -> Any:
        raise error

    return outcome


@pytest.mark.parametrize(
    ("outcome", "cause"),
    [
        (lambda doc: None, "gave back None (NoneType) and not a Document or a Drop"),
        (lambda doc: doc.text, "gave back 'some text' (str)"),
        (lambda doc: Drop, "gave back <class"),
        (lambda doc: doc.with_text(None), "set the text to None (NoneType)"),
        (lambda doc: doc.with_text(b"x"), "set the text to b'x' (bytes)"),
        (lambda doc: replace(doc, url=5), "set url to 5 (int)"),
        (lambda doc: replace(doc, address=Address("web", "a.jsonl", 9)), "gave back another document, a.jsonl:9"),
        (lambda doc: doc.annotate(x="a"), "set x to 'a' (str), which is no int64"),
        (lambda doc: doc.annotate(x=1.5), "set x to 1.5 (float), which is no int64"),
        (lambda doc: doc.annotate(x=2**70), "which is no int64"),
        (lambda doc: doc.annotate(share="a"), "which is no double"),
        (lambda doc: doc.annotate(word="\ud800"), "which is no string"),
        (lambda doc: doc.annotate(list=[1]), "which is no list<item: string>"),
        (lambda doc: Drop("bad", cast("float", "much")), "dropped with the value 'much' (str), which is no number"),
        (raising(SystemExit(0)), "SystemExit: 0"),
        (raising(GeneratorExit()), "GeneratorExit"),
        (raising(RecursionError("deep")), "RecursionError: deep"),
    ],
)
def test_what_no_row_can_hold_costs_the_page_and_says_why(outcome: Any, cause: str) -> None:
    passage = passed(outcome)
    assert passage.stage == "odd"
    assert passage.drop is not None
    assert passage.drop.reason == "failed"
    assert cause in passage.drop.cause


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (lambda doc: Drop("nope"), "stage 'odd' dropped a document for 'nope', which its `reasons` do not declare"),
        (lambda doc: doc.annotate(y=1), "stage 'odd' set the attribute 'y', which its `adds` do not declare"),
        (lambda doc: doc.annotate(n=2), "stage 'odd' changed the attribute 'n', which its `adds` do not declare"),
    ],
)
def test_what_is_not_declared_ends_the_run_with_a_sentence(outcome: Any, message: str) -> None:
    with pytest.raises(Undeclared, match=message):
        passed(outcome)
    assert issubclass(Undeclared, UserError)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Stopped(143), UserError("no model")])
def test_the_end_of_the_run_is_no_fault_of_a_page(error: BaseException) -> None:
    with pytest.raises(type(error)):
        passed(raising(error))


def test_what_fits_passes_and_text_is_made_storable() -> None:
    passage = passed(lambda doc: doc.annotate(x=np.int64(3), share=1, word="a", list=["b"]).with_text("a\0 \ud800b"))
    assert passage.drop is None
    assert passage.doc.text == "a b"
    assert dict(passage.doc.attributes) == {"n": 1, "x": 3, "share": 1, "word": "a", "list": ["b"]}
    assert passed(lambda doc: HALF).drop == HALF


def test_whole_numbers_fit_up_to_their_width() -> None:
    assert fits(pa.uint8())(255) and not fits(pa.uint8())(256) and not fits(pa.uint8())(-1)
    assert fits(pa.int32())(-(2**31)) and not fits(pa.int32())(2**31)
    assert fits(pa.float64())(10**300) and not fits(pa.float64())(10**400)


@dataclass(frozen=True, kw_only=True)
class Measuring(RuleStage):
    """Measures whatever it is told to."""

    answer: Any = None
    verdict: Any = None
    measures: ClassVar[Mapping[str, pa.DataType]] = {"m": pa.int64()}
    reasons: ClassVar[tuple[str, ...]] = ("bad",)

    def measure(self, doc: Document) -> Any:
        return self.answer

    def judge(self, measures: Any) -> Any:
        return self.verdict


@dataclass(frozen=True, kw_only=True)
class Short(RuleStage):
    """Declares its rules as plain tuples."""

    min_length: int | None = 3
    kinds: tuple[str, ...] = ("a", "b")
    measures: ClassVar[Mapping[str, pa.DataType]] = {"length": pa.int64(), "kind": pa.string(), "hit": pa.string()}
    rules: ClassVar[tuple[Any, ...]] = (
        ("too_short", "length", "min_length"),
        ("other_kind", "kind", "kinds"),
        ("listed", "hit"),
    )


@pytest.mark.parametrize(
    ("measures", "drop"),
    [
        ({"length": 3, "kind": "b", "hit": None}, None),
        ({"length": None, "kind": None, "hit": ""}, None),
        ({"length": 2, "kind": "c", "hit": "x"}, Drop("too_short", 2, 3)),
        ({"length": 3, "kind": "c", "hit": "x"}, Drop("other_kind", cause="c")),
        ({"length": 3, "kind": "a", "hit": "x"}, Drop("listed", cause="x")),
    ],
)
def test_verdict_reasons_and_limits_follow_from_the_rules(measures: dict[str, Any], drop: Drop | None) -> None:
    assert Short().judge(measures) == drop
    assert Short.reasons == ("too_short", "other_kind", "listed")
    assert Short.limits == ("min_length", "kinds")
    assert dataclasses.replace(Short(), min_length=None).judge({"length": 0, "kind": "a", "hit": None}) is None


@pytest.mark.parametrize("rule", [("bad", "size", "min_length"), ("bad", "length", "min_size")])
def test_a_rule_names_what_the_stage_has(rule: tuple[str, str, str]) -> None:
    odd = dataclasses.make_dataclass("Odd", [], bases=(Short,), namespace={"rules": (rule,)}, frozen=True, kw_only=True)
    assert fault_of(odd) == "the rule 'bad' of Odd names a measure or an option that the class has not"
    assert fault_of(Short) is None


def test_names_must_be_measures() -> None:
    odd = type("Odd", (Short,), {"categories": ("topic",)})
    assert fault_of(odd) == "'topic' in the `categories` of Odd is none of its measures"


def rules(stage: Any) -> Belt:
    return Belt([("rule", stage)], Caps())


@pytest.mark.parametrize(
    ("stage", "cause"),
    [
        (Measuring(answer=None), "measured None (NoneType) and not a dictionary"),
        (Measuring(answer={"m": "a"}), "measured m as 'a' (str), which is no int64"),
        (Measuring(answer={"m": 1}, verdict=True), "gave back True (bool)"),
    ],
)
def test_measures_that_do_not_fit_cost_the_page(stage: Measuring, cause: str) -> None:
    passage = rules(stage).run(Document(ADDRESS, text="some text"))
    assert passage.drop is not None
    assert passage.drop.reason == "failed"
    assert cause in passage.drop.cause


def test_a_measure_that_is_not_declared_ends_the_run() -> None:
    with pytest.raises(Undeclared, match="measured 'k'"):
        rules(Measuring(answer={"k": 1})).run(Document(ADDRESS, text="some text"))


def test_a_fault_in_foreign_code_is_one_sentence_with_its_line() -> None:
    with (
        pytest.raises(UserError, match=r"^here: ValueError: two lines \(test_contract.py:\d+\); mend the stage"),
        Blamed("here"),
    ):
        raise ValueError("two\nlines")
    with pytest.raises(OSError, match="disk"), Blamed("here"):
        raise OSError("disk")


HEAD = """
from dataclasses import dataclass
import numpy as np, pyarrow as pa
from curate.stage import Sketch, Verdicts
"""
STAGE = "@dataclass(frozen=True, kw_only=True)\nclass Odd:\n"
DECLARED = "    adds = {}\n    reasons = ('bad',)\n"
APPLY = "    def apply(self, doc): return doc\n"
CORPUS = "    record = None\n    def sketch(self, doc): %s\n    def decide(self, corpus): %s\n"
SKETCH, DECIDE = "return Sketch(np.array([1], np.uint64))", "yield Verdicts(np.array([0]), 'bad')"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes a plug-in into the working directory and gives the config that uses it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    write_jsonl(tmp_path / "a.jsonl", [text(number) for number in range(4)])

    def written(source: str) -> dict[str, Any]:
        sys.modules.pop("odd_plug_in", None)
        (tmp_path / "odd_plug_in.py").write_text(source)
        return settings("a.jsonl", tmp_path / "out", stages=["odd_plug_in:Odd"])

    yield written
    sys.modules.pop("odd_plug_in", None)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("\nclass Odd(:\n", r"stage 'odd_plug_in:Odd': SyntaxError: invalid syntax \(odd_plug_in.py:2\); mend"),
        (" x = 1\n", r"stage 'odd_plug_in:Odd': IndentationError: unexpected indent \(odd_plug_in.py:1\); mend"),
        ("raise RuntimeError('x')\n", r"stage 'odd_plug_in:Odd': RuntimeError: x \(odd_plug_in.py:1\)"),
        ("import sys\nsys.exit(0)\n", r"stage 'odd_plug_in:Odd': SystemExit: 0 \(odd_plug_in.py:2\)"),
        (HEAD + STAGE + "    reasons = ()\n" + APPLY, "the `adds` of Odd must map names to Arrow types"),
        (HEAD + STAGE + "    adds = {'x': 'int64'}\n    reasons = ()\n" + APPLY, "the `adds` of Odd must map names"),
        (
            HEAD + STAGE + "    adds = {}\n    reasons = 'bad'\n" + APPLY,
            "the `reasons` of Odd must be a tuple of words",
        ),
        (
            HEAD + STAGE + "    adds = {}\n    reasons = ('bad', 'failed')\n" + APPLY,
            "'failed' in the `reasons` of Odd is what stages that raise are entered under; rename it",
        ),
        ("class Odd:\n" + DECLARED + APPLY, "Odd is no dataclass; write @dataclass"),
        (
            HEAD + STAGE + DECLARED + "    def __post_init__(self): open('nope')\n" + APPLY,
            r"stages\[0\] odd_plug_in:Odd: FileNotFoundError: .*nope",
        ),
        (
            HEAD + STAGE + DECLARED + "    def check(self, before, after): return {}['zz']\n" + APPLY,
            r"stages\[0\] odd_plug_in:Odd: KeyError: 'zz' \(odd_plug_in.py:\d\)",
        ),
        (
            HEAD + STAGE + "    adds = {'s': pa.string()}\n    reasons = ()\n" + CORPUS % (SKETCH, DECIDE),
            "a corpus stage adds numbers and booleans",
        ),
    ],
)
def test_a_broken_plug_in_is_refused_before_anything_is_read(write: Any, source: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        parse_config(write(source))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sketch", "decide", "message"),
    [
        ("raise ValueError('boom')", DECIDE, r"stage 'odd_plug_in:Odd': ValueError: boom \(odd_plug_in.py:\d+\)"),
        ("return None", DECIDE, "stage 'odd_plug_in:Odd': AttributeError"),
        ("return Sketch([1, -3])", DECIDE, "OverflowError"),
        (SKETCH, "raise ValueError('boom')", r"stage 'odd_plug_in:Odd': ValueError: boom \(odd_plug_in.py:\d+\)"),
        (SKETCH, "return None", "stage 'odd_plug_in:Odd': TypeError"),
        (SKETCH, "yield Verdicts(np.array([0]), 'nope')", "drops for 'nope', which is not in its `reasons`"),
        (SKETCH, "yield Verdicts(np.array([-1]), 'bad')", "verdicts on documents that there are not"),
        (SKETCH, "yield Verdicts(np.array([4]), 'bad')", "verdicts on documents that there are not"),
        (SKETCH, "yield Verdicts(np.array([0.5]), 'bad')", "verdicts on documents that there are not"),
        (SKETCH, "yield Verdicts(np.array([0, 1]), 'bad', np.array([1]))", r"matched has the shape \(1,\)"),
        (SKETCH, "yield Verdicts(np.array([0]), 'bad', np.array([9]))", "matched names documents that there are not"),
    ],
)
def test_a_corpus_stage_that_errs_is_named_and_nothing_is_finished(
    write: Any, tmp_path: Path, sketch: str, decide: str, message: str
) -> None:
    config = write(HEAD + STAGE + DECLARED + CORPUS % (sketch, decide))
    with pytest.raises(UserError, match=message):
        run_it(config)
    assert not (tmp_path / "out/manifest.json").exists()


def test_a_cause_of_any_length_and_kind_is_stored(write: Any) -> None:
    source = "from curate.document import Drop\n" + HEAD + STAGE + DECLARED
    source += "    def apply(self, doc): return Drop('bad', cause='c' * 10**6 + '\\ud800')\n"
    assert run_it(write(source)).stats["kept"]["documents"] == 0
