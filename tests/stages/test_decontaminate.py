"""decontaminate: what is met, held to a search in plain words; what goes; what is told."""

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from curate.errors import UserError
from stages.spans.evaluation_sets import made
from stages.spans.plain_words import plain_places, plain_words
from tests.engine import run_it, settings, table, write_jsonl

QUESTION = "Which of the two rivers, said the old miller, runs faster in spring than the other one?"


def set_of(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


Cleaned = tuple[dict[int, str], list[dict[str, Any]], dict[str, int]]


def clean(folder: Path, texts: list[str], **options: Any) -> Cleaned:
    """The texts that a run leaves by place, the ledger, the notes."""
    path = write_jsonl(folder / "in.jsonl", texts, number=list(range(len(texts))))
    source = {"crawl": {"path": str(path), "columns": ["number"]}}
    config = settings(source, folder / "out", stages=[{"decontaminate": options}])
    report = run_it(config, partitions=2, slice_bytes=900)
    kept = {row["number"]: row["text"] for row in table(folder / "out", "shards").to_pylist()}
    return kept, table(folder / "out", "ledger").to_pylist(), report.stats["notes"]["decontaminate"]


def words(seed: int, count: int) -> str:
    rng = Random(seed)
    return " ".join(f"w{rng.randrange(10**6)}" for _ in range(count))


@examples(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("aB1 .,'_-\n\u00a0é漢字İΣ"), max_size=30))
def test_words_stand_where_they_are_said_to(text: str) -> None:
    found = [plain_words(text[start:end]) for start, end in plain_places(text)]
    assert [word for some in found for word in some] == plain_words(text) and all(len(some) == 1 for some in found)


@examples(max_examples=100, deadline=None)
@given(st.lists(st.text("ab ", max_size=12), min_size=1), st.lists(st.text("ab ", max_size=16), min_size=1))
def test_hits_are_those_of_a_plain_search(
    tmp_path_factory: pytest.TempPathFactory, sets: list[str], docs: list[str]
) -> None:
    spaced = [" ".join(text.replace(" ", "")) for text in sets]
    path = set_of(tmp_path_factory.mktemp("set") / "s.jsonl", [{"q": text} for text in spaced])
    texts = [list(text.replace(" ", "")) for text in docs]
    grams = {tuple(t.split()[at : at + 4]) for t in spaced if len(t.split()) >= 4 for at in range(len(t.split()) - 3)}
    grams |= {tuple(t.split()) for t in spaced if len(t.split()) == 3}
    if not grams:
        with pytest.raises(UserError, match="holds no text"):
            made({"s": path}, None, 4, 3)
        return
    index = made({"s": path}, None, 4, 3)
    assert index.count == len(grams) and index.too_short == sum(len(text.split()) < 3 for text in spaced)
    got = [set() for _ in texts]
    for some in index.grams:
        for number, (places, _, _) in enumerate(index.hits(texts, some)):
            got[number] |= {(place, some.size) for place in places.tolist()}
    want = [{(at, n) for n in (3, 4) for at in range(len(t) - n + 1) if tuple(t[at : at + n]) in grams} for t in texts]
    assert got == want


def test_a_document_with_an_example_is_dropped_and_says_of_which(tmp_path: Path) -> None:
    path = set_of(tmp_path / "evals.jsonl", [{"id": "q7", "question": QUESTION, "answer": "the left"}])
    held = "WHICH of the two rivers said the old miller - runs faster in SPRING?"
    texts = [words(1, 40), f"{words(2, 30)} {held} {words(3, 9)}", f"{held[:55]} runs faster in winter"]
    kept, ledger, notes = clean(tmp_path, texts, sets={"rivers": path})
    assert list(kept) == [0, 2]
    (row,) = ledger
    assert row["reason"] == "contaminated" and row["limit"] == 0
    assert row["cause"] == "rivers:q7 question: which of the two rivers said the old miller runs faster in spring"
    (cut,) = table(tmp_path / "out", "cuts").to_pylist()
    assert cut["cause"] == "rivers:q7 question" and cut["words"] == 14  # a lone dash is a word of the text
    assert notes["rivers.examples"] == notes["rivers.examples_met"] == notes["rivers.documents"] == 1
    assert notes["texts_too_short"] == 1 and notes["ngrams"] == len(plain_words(QUESTION)) - 12


def test_short_examples_are_met_as_a_whole(tmp_path: Path) -> None:
    short = "one two three four five six seven eight"
    path = set_of(tmp_path / "evals.jsonl", [{"q": short}, {"q": "too short to count"}])
    texts = [f"a b {short} c", short.replace(" eight", " nine"), "it is too short to count here"]
    kept, _, notes = clean(tmp_path, texts, sets={"s": path})
    assert list(kept) == [1, 2] and notes["texts_too_short"] == 1


def test_what_many_documents_hold_is_no_evidence(tmp_path: Path) -> None:
    path = set_of(tmp_path / "evals.jsonl", [{"q": QUESTION}])
    texts = [f"{words(n, 5)} {QUESTION} {QUESTION}" for n in range(3)]
    assert len(clean(tmp_path, texts, sets={"s": path}, max_documents=2)[0]) == 3
    for name, most in (("three", 3), ("all", None)):
        (tmp_path / name).mkdir()
        assert not clean(tmp_path / name, texts, sets={"s": path}, max_documents=most)[0]


def test_cutting_takes_what_stands_around_and_small_pieces(tmp_path: Path) -> None:
    path = set_of(tmp_path / "evals.jsonl", [{"q": QUESTION}])
    before, after = words(1, 60), words(2, 60)
    texts = [f"{before} {QUESTION} {after}", f"short {QUESTION} {after}"]
    kept, _, _ = clean(tmp_path, texts, sets={"s": path}, action="cut", around=20, min_piece=50)
    assert kept[0] == before[: len(before) + 1 - 20] + after[19:]  # a space and 19 letters
    assert kept[1] == after[19:]


@pytest.mark.parametrize(
    ("reason", "options", "dropped", "passes"),
    [
        ("contaminated", {}, QUESTION, "Which of the two rivers runs faster"),
        ("nothing_left", {"action": "cut", "around": 5, "min_piece": 5}, f"x {QUESTION}", f"x {QUESTION} {'y' * 20}"),
        (
            "too_many_pieces",
            {"action": "cut", "around": 0, "min_piece": 1, "max_pieces": 2},
            f"a {QUESTION} b {QUESTION} c",
            f"a {QUESTION} b",
        ),
    ],
)
def test_what_drops_a_document(tmp_path: Path, reason: str, options: dict[str, Any], dropped: str, passes: str) -> None:
    path = set_of(tmp_path / "evals.jsonl", [{"q": QUESTION}])
    kept, ledger, _ = clean(tmp_path, [dropped, passes], sets={"s": path}, **options)
    assert list(kept) == [1] and [row["reason"] for row in ledger] == [reason]


def test_sets_may_be_parquet_or_packed_and_fields_may_be_lists(tmp_path: Path) -> None:
    rows = [{"id": "a", "choices": [QUESTION, words(4, 14)], "note": words(5, 14)}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "s.parquet")
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(json.dumps(rows[0]).encode()))
    for name in ("s.parquet", "s.jsonl.gz"):
        index = made({"s": str(tmp_path / name)}, ["choices"], 13, 8)
        assert [str(example) for example in index.examples] == ["s:a choices"] * 2


def test_a_set_that_can_not_be_read_is_named_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("[1]\n")
    for path, message in (
        (tmp_path / "none.jsonl", "none.jsonl"),
        (tmp_path / "bad.jsonl", "line 1 is no JSON object"),
    ):
        with pytest.raises(UserError, match=message):
            clean(tmp_path, ["x"], sets={"s": str(path)})
    with pytest.raises(UserError, match="must not be above"):
        clean(tmp_path, ["x"], sets={"s": "x"}, ngram=5)
