"""One data set, half in JSONL and half in Parquet: one name and one type for what both hold."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curate.errors import UserError
from tests import engine
from tests.engine import run_it, settings

SCORES = [3, 0.5]  # of the line, of the row


@pytest.fixture
def halves(tmp_path: Path) -> list[str]:
    line = {"text": "a line of JSON", "score": SCORES[0], "rank": "7", "tags": ["a"], "only_line": 1}
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    row = {
        "body": ["a row of Parquet"],
        "level": [SCORES[1]],
        "rank": pa.array([7], pa.int32()),
        "day": [date(2025, 1, 2)],
        "price": [Decimal("1.50")],
        "tags": [["a", "b"]],
    }
    pq.write_table(pa.table(row), tmp_path / "b.parquet")
    return [str(tmp_path / "a.jsonl"), str(tmp_path / "b.parquet")]


def shards(halves: list[str], tmp_path: Path, **source: Any) -> list[dict[str, Any]]:
    run_it(settings({"d": {"path": halves, **source}}, tmp_path / "out", stages=["exact_dedup"]))
    rows: list[dict[str, Any]] = engine.table(tmp_path / "out", "shards").to_pylist()
    return rows


def test_rename_gives_both_halves_one_name(halves: list[str], tmp_path: Path) -> None:
    rows = shards(halves, tmp_path, rename={"body": "text", "level": "score"}, columns={"score": "double"})
    assert [row["score"] for row in rows] == SCORES
    assert [row["text"] for row in rows] == ["a line of JSON", "a row of Parquet"]


def test_a_column_of_the_new_name_stays(halves: list[str], tmp_path: Path) -> None:
    rename = {"body": "text", "level": "score", "only_line": "score"}
    rows = shards(halves, tmp_path, rename=rename, columns={"score": "double"})
    assert [row["score"] for row in rows] == SCORES


def test_declared_types_hold_in_parquet_too(halves: list[str], tmp_path: Path) -> None:
    columns = {"rank": "string", "day": "string", "price": "double", "tags": "json", "only_line": "int64"}
    first, second = shards(halves, tmp_path, rename={"body": "text"}, columns=columns)
    assert {name: second[name] for name in columns} == {
        "rank": "7",
        "day": "2025-01-02",
        "price": 1.5,
        "tags": '["a", "b"]',
        "only_line": None,
    }
    assert (first["rank"], first["day"], first["tags"], first["only_line"]) == ("7", None, '["a"]', 1)


def test_a_value_that_does_not_fit_is_null_and_an_alarm(halves: list[str], tmp_path: Path) -> None:
    rows = shards(halves, tmp_path, rename={"body": "text"}, columns={"rank": "int64", "day": "double"})
    assert [row["rank"] for row in rows] == [None, 7]  # the line has it as text
    alarms = json.loads((tmp_path / "out" / "stats.json").read_text())["alarms"]
    assert [(alarm["alarm"], alarm["name"], alarm["dropped"]) for alarm in alarms] == [
        ("column_unfit", "d.day", 1),
        ("column_unfit", "d.rank", 1),
    ]


@pytest.mark.parametrize(
    ("columns", "helps"),
    [
        (
            ["score"],
            r"b.parquet: has no column 'score', it has .*; take it from another with `rename`, or give its type, "
            r"`columns: {score: double}`, to have it null here",
        ),
        (
            ["rank"],
            r"b.parquet: gives 'rank' as int32, but input.d: .*a.jsonl as string; give one type for both, "
            r"`columns: {rank: ",
        ),
    ],
)
def test_the_message_says_what_helps(columns: list[str], helps: str, halves: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=helps):
        shards(halves, tmp_path, rename={"body": "text"}, columns=columns)


def test_a_stage_and_a_source_of_one_column_are_told_apart(halves: list[str], tmp_path: Path) -> None:
    source = {"path": halves[0], "rename": {"rank": "cluster_size"}, "columns": ["cluster_size"]}
    with pytest.raises(
        UserError, match=r"near_dedup: gives 'cluster_size' as int64, .* `rename: {cluster_size: source_"
    ):
        run_it(settings({"d": source}, tmp_path / "out", stages=["near_dedup"]))
