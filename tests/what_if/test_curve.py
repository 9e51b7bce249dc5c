"""Sweeps: the values meant, one point each, drawn to scale."""

from pathlib import Path

import pytest

from curate.errors import UserError
from curate.what_if.curve import Point, curve, curve_lines, drawn, parse_sweep, write_plot
from curate.what_if.what_if import WhatIf
from tests.report.finished import sample_run


def test_steps_are_decimal() -> None:
    config = sample_run().config
    assert parse_sweep(config, "gopher.min_words=20:50:10") == ("gopher", "min_words", [20, 30, 40, 50])
    assert parse_sweep(config, "language.min_score=0.1:0.7:0.2")[2] == [0.1, 0.3, 0.5, 0.7]


@pytest.mark.parametrize(
    "word",
    [
        "gopher.min_words=20",
        "gopher.min_words=9:1:1",
        "gopher.min_words=0:9:0",
        "gopher.min_words=0:900:1",
        "gopher.min_words=a:b:c",
    ],
)
def test_a_sweep_that_ends_nowhere_is_refused(word: str) -> None:
    with pytest.raises(UserError, match="FROM"):
        parse_sweep(sample_run().config, word)


def test_points_are_what_single_questions_answer() -> None:
    asked = WhatIf(sample_run())
    points = curve(asked, {"language": {"min_score": 0.5}}, "gopher", "min_words", [30, 50, 240])
    for point in points:
        outcome = asked.ask({"language": {"min_score": 0.5}, "gopher": {"min_words": point.value}})
        assert (point.documents, point.words) == outcome.passed
        assert point.kept == outcome.corpus[-1].after[0]
    text = curve_lines(points, "gopher.min_words", 50)
    assert any(line.startswith("50 *") for line in text)


def test_bars_are_to_scale() -> None:
    rows = drawn([1, 2, 3], [0, 50, 100])
    columns = [[row[14 + place * 6 : 15 + place * 6] for row in rows[:12]] for place in range(3)]
    assert ["".join(column).strip().count("█") for column in columns] == [0, 6, 12]


def test_a_plot_is_an_image(tmp_path: Path) -> None:
    points = [Point(1, 5, 50, 0, 4, True), Point(2, 4, 40, 0, 3, False)]
    write_plot(points, "gopher.min_words", tmp_path / "curve.svg")
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    with pytest.raises(UserError, match=r"\.svg or \.png"):
        write_plot(points, "gopher.min_words", tmp_path / "curve.bad")
