"""The verdict table: columns on disk, views of a range, and what a stage may not write."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from curate.decide.verdicts import VerdictTable, column_dtype
from curate.stage import Verdicts


@dataclass(frozen=True)
class Declared:
    """The declarations of a corpus stage."""

    adds: dict[str, pa.DataType]
    reasons: tuple[str, ...]
    fill: dict[str, Any]
    record: None = None

    def sketch(self, doc: Any) -> Any:
        raise AssertionError

    def decide(self, corpus: Any) -> Any:
        raise AssertionError


STAGES = [
    ("one", Declared({"copies": pa.int32()}, ("same", "other"), {"copies": 1})),
    ("two", Declared({"share": pa.float64(), "seen": pa.bool_()}, ("near",), {})),
]


def test_all_start_kept(tmp_path: Path) -> None:
    rows = VerdictTable.create(tmp_path, 5, STAGES).slice(1, 4)
    assert rows.stage.tolist() == [0, 0, 0] and rows.matched.tolist() == [-1, -1, -1] and np.isnan(rows.score).all()
    assert {name: column.tolist() for name, column in rows.columns.items()} == {
        "copies": [1, 1, 1],
        "share": [0.0, 0.0, 0.0],
        "seen": [False, False, False],
    }


def test_verdicts_are_entered_and_outlast_the_process(tmp_path: Path) -> None:
    table = VerdictTable.create(tmp_path, 6, STAGES)
    some = np.array([1, 4])
    assert table.enter(0, STAGES[0][1], [Verdicts(some, "other", np.array([0, 5]), np.array([0.5, 1], "f4"))]) == 2
    table.finish("one", {"pairs": 3})
    assert table.enter(1, STAGES[1][1], [Verdicts(np.array([2]), None, columns={"share": np.array([0.25])})]) == 0
    table.finish("two", {})
    rows = VerdictTable.create(tmp_path, 6, STAGES).slice(0, 6)
    assert rows.stage.tolist() == [0, 1, 0, 0, 1, 0] and rows.reason.tolist() == [0, 1, 0, 0, 1, 0]
    assert rows.matched.dtype == np.int64  # more than 2**32 documents fit
    assert rows.matched[some].tolist() == [0, 5] and rows.score[some].tolist() == [0.5, 1.0]
    assert rows.columns["share"].tolist() == [0, 0, 0.25, 0, 0, 0]
    again = VerdictTable.create(tmp_path, 6, STAGES)
    assert again.notes == {"one": {"pairs": 3}, "two": {}}
    assert (again.stages, again.reasons) == (("one", "two"), (("same", "other"), ("near",)))


def test_reset_takes_back_one_stage_only(tmp_path: Path) -> None:
    table = VerdictTable.create(tmp_path, 4, STAGES)
    table.enter(0, STAGES[0][1], [Verdicts(np.array([0]), "same", np.array([3]), np.ones(1, "f4"))])
    table.enter(1, STAGES[1][1], [Verdicts(np.array([1]), "near", columns={"seen": np.array([True])})])
    table.reset(1, STAGES[1][1])
    rows = table.slice(0, 4)
    assert rows.stage.tolist() == [1, 0, 0, 0] and rows.matched.tolist() == [3, -1, -1, -1]
    assert rows.columns["seen"].tolist() == [False] * 4


def test_what_is_not_declared_is_a_bug(tmp_path: Path) -> None:
    table = VerdictTable.create(tmp_path, 2, STAGES)
    with pytest.raises(ValueError):
        table.enter(0, STAGES[0][1], [Verdicts(np.array([0]), "near")])
    with pytest.raises(ValueError, match="adds"):
        table.enter(0, STAGES[0][1], [Verdicts(np.array([0]), None, columns={"share": np.ones(1)})])
    with pytest.raises(ValueError, match="copies"):
        VerdictTable.create(tmp_path / "two", 2, [STAGES[0], STAGES[0]])


def test_columns_are_numbers() -> None:
    assert column_dtype("n", pa.int64()) == np.int64 and column_dtype("b", pa.bool_()) == np.bool_
    with pytest.raises(TypeError, match="name"):
        column_dtype("name", pa.string())


def test_no_documents(tmp_path: Path) -> None:
    table = VerdictTable.create(tmp_path, 0, STAGES)
    table.finish("one", {})
    assert len(table.slice(0, 10).stage) == 0
