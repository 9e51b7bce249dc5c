"""`curate diff`: every document that changed its verdict, with the verdicts of both runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.inspect.difference import Difference
from curate.inspect.opened import OpenedRun
from tests.report.finished import ROOT, SAMPLE_STAGES, call, finished, pages, sample_run, truth


def other_run(tmp_path: Path) -> OpenedRun:
    """The sample crawl with other limits and without its last file."""
    stages = ["extract", {"language": {"keep": ["en", "de"]}}, {"gopher": {"min_words": 30}}, *SAMPLE_STAGES[3:]]
    return finished(tmp_path, stages, str(ROOT / "sample_crawl" / "*.warc.gz"))


def verdicts(run: OpenedRun) -> dict[tuple[str, int], str]:
    found = {
        (row["file_path"], row["offset"]): "kept" for row in run.read("shards", ["file_path", "offset"]).to_pylist()
    }
    for row in run.read("ledger", ["file_path", "offset", "stage", "reason"]).to_pylist():
        found[row["file_path"], row["offset"]] = f"{row['stage']}: {row['reason']}"
    return found


def test_moves_are_the_documents_whose_verdict_differs(tmp_path: Path) -> None:
    one, other = sample_run(), other_run(tmp_path)
    expected: dict[tuple[str, str], int] = {}
    sides = verdicts(one), verdicts(other)
    for key in sides[0] | sides[1]:
        pair = sides[0].get(key, "not read"), sides[1].get(key, "not read")
        expected[pair] = expected.get(pair, 0) + 1
    moves = Difference(one, other).moves(2)
    assert {
        (": ".join(filter(None, m.before)), ": ".join(filter(None, m.after))): m.documents for m in moves
    } == expected
    assert sum(move.documents for move in moves) == len(truth())
    assert any(move.side for move in moves)


def test_each_document_is_told_with_both_verdicts(tmp_path: Path) -> None:
    one, other = sample_run(), other_run(tmp_path)
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in call("diff", one.folder, other.folder, "--jsonl").output.splitlines()
    ]
    sides = verdicts(one), verdicts(other)
    assert len(rows) == sum(sides[0].get(key) != sides[1].get(key) for key in sides[0] | sides[1])
    for row in rows:
        for side, run in zip(("before", "after"), sides, strict=True):
            verdict = ": ".join(filter(None, (row[side]["stage"], row[side]["reason"])))
            assert run.get((row["file_path"], row["offset"]), "not read") == verdict
    cookie = next(row for row in rows if "cookie_notice" in row["url"])
    assert cookie["before"]["limit"] == 50 and cookie["changed_sides"] == (cookie["after"]["stage"] == "kept")


def test_the_text_tells_config_funnel_and_moves(tmp_path: Path) -> None:
    text = call("diff", sample_run().folder, other_run(tmp_path).folder).output
    assert "config: gopher.min_words was 50, is 30" in text
    assert "changed sides:" in text and "too_few_words -> kept" in text
    assert "\nelse: input files: 1 gone" in text


def test_a_run_does_not_differ_from_itself() -> None:
    folder = sample_run().folder
    text = call("diff", folder, folder).output
    assert text.startswith("config: no difference\n\n") and "changed sides: 0 documents" in text


def test_the_same_files_elsewhere_are_the_same_files(tmp_path: Path) -> None:
    rows = [{"text": "one two three"}, {"text": "one"}]
    runs = []
    for number, least in enumerate((1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        rule = {"min_words": least, "min_stop_words": 0, "min_alphabetic_word_ratio": 0}
        runs.append(finished(folder, [{"gopher": rule}], pages(folder, rows)))
    moves = Difference(*runs).moves(1)
    assert [(m.before[0], m.after, m.documents) for m in moves if m.before != m.after] == [
        ("kept", ("gopher", "too_few_words"), 1)
    ]


def test_runs_of_nothing_in_common_are_refused(tmp_path: Path) -> None:
    run = finished(tmp_path, ["exact_dedup"], pages(tmp_path, [{"text": "one"}]))
    with pytest.raises(UserError, match="no file in common"):
        call("diff", sample_run().folder, run.folder)


def test_large_values_keep_their_digits(tmp_path: Path) -> None:
    source, folders = pages(tmp_path, [{"text": "the river and a stone " * 20_100}]), []
    for most in (100_000, 200_000):
        folders.append(tmp_path / str(most))
        finished(folders[-1], [{"gopher": {"max_words": most}}], source)
    assert "100,500 (limit 100,000)" in call("diff", *(folder / "out" for folder in folders)).output
