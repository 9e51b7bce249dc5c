"""A stage that cuts: texts, sizes and counts after it, what comes after it, what is told of it; the same everywhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from curate.corpus import Corpus
from curate.decide.cuts import Spool, join, taken_out
from curate.document import Document, Drop
from curate.errors import UserError
from curate.executors.executor import Executor, Serial
from curate.executors.processes import Processes
from curate.stage import CUT, Cuts, Sketch, Span, Verdicts
from tests.engine import run_it, settings, table, text, tree_hash, write_jsonl

SECRETS = {"alpha": 1, "beta": 2, "gamma": 3}


@dataclass(frozen=True, kw_only=True)
class Redact:
    """Cuts the words of SECRETS where two documents or more hold them; drops what has fewer than `least` words left."""

    least: int = 1
    wrong: str = ""

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("bare",)
    record: ClassVar[Any] = None
    carries: ClassVar[bool] = True

    def sketch(self, doc: Document) -> Sketch:
        found = [(SECRETS[word], place) for place, word in enumerate(doc.words) if word in SECRETS]
        return Sketch(
            *(np.array([row[i] for row in found], np.uint64) for i in (0,)),
            None,
            np.array([row[1] for row in found], np.uint64),
        )

    def decide(self, corpus: Corpus) -> Iterator[Verdicts | Cuts]:
        for partition in range(corpus.partitions):
            keys, documents, places = corpus.entries(partition)
            for key in np.unique(keys):
                mine = keys == key
                if len(np.unique(documents[mine])) > 1:
                    items = np.zeros(int(mine.sum()), CUT)
                    items["document"], items["start"] = documents[mine], places[mine]
                    items["end"], items["matched"], items["cause"] = places[mine] + 1, documents[mine][0], key
                    yield Cuts(np.concatenate([items, items]))  # to be told twice changes nothing

    def spans(self, doc: Document, starts: np.ndarray, ends: np.ndarray) -> list[Span]:
        begins = [0, *np.cumsum([len(word) + 1 for word in doc.words]).tolist()]
        found = [(begins[start], min(begins[end], len(doc.text))) for start, end in zip(starts, ends)]
        return found[1:] if self.wrong == "fewer" else found

    def recheck(self, doc: Document, before: Document, cut: Sequence[Span]) -> Drop | None:
        if self.wrong == "all":
            return None
        assert len(before.text) - len(doc.text) == sum(end - start for start, end in cut)
        return Drop("bare", len(doc.words), self.least) if len(doc.words) < self.least else None

    def cause(self, number: int) -> str:
        return f"secret {number}"


STAGE = "tests.decide.test_cutting:Redact"
TEXTS = [
    "one alpha two beta three",
    "alpha four",
    "one two three",
    "beta beta five six",
    "gamma alone",
    "alpha",
]


def read(output: Path) -> dict[int, dict[str, Any]]:
    """The kept rows by place in the input."""
    return {int(row["url"].rpartition("/")[2]): row for row in table(output, "shards").to_pylist()}


def test_texts_sizes_and_counts_are_those_of_what_is_left(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", TEXTS)
    stages = ["tokens", {STAGE: {"least": 2}}, "exact_dedup"]
    report = run_it(settings(str(tmp_path / "in.jsonl"), tmp_path / "out", stages=stages))
    rows = read(tmp_path / "out")
    assert {n: row["text"] for n, row in rows.items()} == {0: "one two three", 3: "five six", 4: "gamma alone"}
    assert [rows[n]["token_count"] for n in (0, 3, 4)] == [4, 3, 3]  # 4/3 a word
    assert report.stats["kept"] == {"documents": 3, "words": 7, "bytes": 32, "tokens": 10, "rows": 3}
    dropped = {(row["stage"], row["reason"]): row for row in report.stats["dropped"]}
    assert dropped[STAGE, "bare"]["documents"] == 2 and dropped[STAGE, "bare"]["words"] == 3  # as they were
    assert dropped["exact_dedup", "exact_duplicate"]["documents"] == 1  # number 2 is what number 0 became
    notes = report.stats["notes"][STAGE]
    assert notes == {"cut_characters": 21, "cut_spans": 3, "cut_words": 4, "dropped": 2, "edited": 2}


def test_what_was_cut_is_told(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", TEXTS)
    run_it(settings(str(tmp_path / "in.jsonl"), tmp_path / "out", stages=[{STAGE: {"least": 2}}]))
    cuts = table(tmp_path / "out", "cuts").to_pylist()
    rows = [(row["start"], row["end"], row["words"], row["cause"], row["text"]) for row in cuts]
    assert rows[:4] == [
        (4, 10, 1, "secret 1", "alpha "),
        (14, 19, 1, "secret 2", "beta "),
        (0, 6, 1, "secret 1", "alpha "),
        (0, 10, 2, "secret 2", "beta beta "),
    ]
    assert {row["stage"] for row in cuts} == {STAGE} and len(cuts) == 5
    assert cuts[2]["matched_offset"] == cuts[0]["offset"] == 0
    ledger = table(tmp_path / "out", "ledger").to_pylist()
    assert [(row["reason"], row["value"], row["limit"], row["matched_offset"]) for row in ledger] == [
        ("bare", 1.0, 2.0, 0),
        ("bare", 0.0, 2.0, 0),
    ]


def test_measures_have_the_sizes_of_what_is_left(tmp_path: Path) -> None:
    lines = [f"{text(n)}\nThe same last line of every page." for n in range(6)]
    write_jsonl(tmp_path / "in.jsonl", lines)
    stages = ["gopher", {"line_dedup": {"scope": "corpus"}}]
    run_it(settings(str(tmp_path / "in.jsonl"), tmp_path / "out", stages=stages))
    assert table(tmp_path / "out", "measures")["words"].to_pylist() == [127] + [120] * 5


@pytest.mark.parametrize("wrong", ["fewer", "all"])
def test_a_stage_that_breaks_the_contract_is_named(tmp_path: Path, wrong: str) -> None:
    write_jsonl(tmp_path / "in.jsonl", TEXTS)
    with pytest.raises(UserError, match=f"stage '{STAGE}'"):
        run_it(settings(str(tmp_path / "in.jsonl"), tmp_path / "out", stages=[{STAGE: {"wrong": wrong}}]))


def line(number: int, place: int) -> str:
    """A line of a menu, or one that repeats five words inside, or one like no other."""
    if place % 3 == 0:
        return f"menu {'abcde'[(number + place) % 5]} of all pages"
    inside = "as it was told before" if place % 3 == 1 else ""
    return f"{text(number * 7 + place, 5)} {inside} {text(number * 7 + place + 1000, 4)}"


def lines_of(count: int) -> list[str]:
    """Texts with lines of which some repeat."""
    return ["\n".join(line(number, place) for place in range(number % 7 + 1)) for number in range(count)]


STAGES = [
    "tokens",
    {"line_dedup": {"scope": "corpus", "min_words_left": 3}},
    "exact_dedup",
    {"substring_dedup": {"min_tokens": 4}},
    {"near_dedup": {"threshold": 0.5}},
    {"mixture": {"weights": {"crawl": 1.0}, "tokens": 1000}},
]


@pytest.mark.parametrize(
    ("executor", "how"),
    [
        (Serial(), {"partitions": 7}),
        (Serial(), {"slice_bytes": 600}),
        (Processes(2), {"slice_bytes": 900, "partitions": 3}),
    ],
    ids=["partitions", "slices", "processes"],
)
def test_the_same_bytes_however_it_runs(tmp_path: Path, executor: Executor, how: dict[str, Any]) -> None:
    lines = lines_of(90)
    for part in range(3):
        write_jsonl(tmp_path / f"in-{part}.jsonl", lines[part * 30 : part * 30 + 30])
    config = settings(f"{tmp_path}/in-*.jsonl", tmp_path / "one", stages=STAGES)
    assert run_it(config).stats["notes"]["substring_dedup"]["edited"] > 0
    run_it({**config, "output": str(tmp_path / "two")}, executor, **how)
    executor.close()
    assert tree_hash(tmp_path / "one") == tree_hash(tmp_path / "two")


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after some tasks of a pass, and between a pass and the word that it is done."""
    from curate.decide import edited, editing

    write_jsonl(tmp_path / "in.jsonl", lines_of(60))
    config = settings(str(tmp_path / "in.jsonl"), tmp_path / "one", stages=STAGES)
    run_it(config)
    again = {**config, "output": str(tmp_path / "two")}
    true_hold, true_edit, done = edited.hold, editing.edit, []

    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    def hold(decide: Path, stages: Sequence[str]) -> None:
        true_hold(decide, stages)
        if len(stages) == 1 and not done:
            done.append(1)
            stop()

    def edit(task: Any) -> Any:
        if task.task == 2:
            stop()
        return true_edit(task)

    for name, module, kill in (("hold", edited, hold), ("edit", editing, edit)):
        with monkeypatch.context() as patched, pytest.raises((KeyboardInterrupt, UserError)):
            patched.setattr(module, name, kill)
            run_it(again, slice_bytes=700)
    run_it(again, slice_bytes=700)
    assert tree_hash(tmp_path / "one") == tree_hash(tmp_path / "two")


def test_without_such_a_stage_there_is_no_folder_of_cuts(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in.jsonl", TEXTS)
    run_it(settings(str(tmp_path / "in.jsonl"), tmp_path / "out", stages=["exact_dedup"]))
    assert not (tmp_path / "out" / "cuts").exists()


@examples(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(1, 5), st.integers(-1, 3)), max_size=20))
def test_cuts_are_joined_as_sets_of_places_are(rows: list[tuple[int, int, int, int]]) -> None:
    items = np.array([(doc, start, start + size, twin, -1) for doc, start, size, twin in rows], CUT)
    joined = join(items)
    places = {(doc, place) for doc, start, size, _ in rows for place in range(start, start + size)}
    got = [(int(i["document"]), place) for i in joined for place in range(i["start"], i["end"])]
    assert sorted(places) == got
    for one, other in pairwise(joined):
        assert one["document"] < other["document"] or one["end"] < other["start"]


def test_a_spool_refuses_what_is_no_cut(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "cuts", 3)
    for row in ((3, 0, 1, -1, -1), (-1, 0, 1, -1, -1), (0, 2, 2, -1, -1), (0, 0, 1, 3, -1)):
        with pytest.raises(ValueError):
            spool.add(np.array([row], CUT))


def test_spans_must_ascend_and_lie_inside() -> None:
    assert taken_out("abcdef", [(0, 1), (2, 4)]) == "bef"
    for spans in ([(2, 4), (3, 5)], [(0, 7)], [(3, 3)], [(4, 5), (0, 1)]):
        with pytest.raises(ValueError):
            taken_out("abcdef", spans)
