"""Histograms of measures against counting one by one."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.document import Document, Drop
from curate.report import section_measures
from curate.report.distributions import ELSEWHERE, HERE, KEPT, Categories, Distribution, LimitLine, distributions
from curate.report.figures import Figures
from curate.report.scales import edges
from curate.stage import RuleStage
from tests.report.finished import finished, pages, sample_run

Row = dict[str, Any]


def rows() -> list[Row]:
    found: list[Row] = sample_run().read("measures", sample_run().columns("measures")).to_pylist()
    return found


def verdict(row: Row, stage: str) -> int:
    return KEPT if row["stage"] is None else HERE if row["stage"] == stage else ELSEWHERE


def name(one: Distribution | Categories) -> str:
    return f"{one.stage}.{one.measure}" if one.stage else one.measure


def test_every_measure_of_the_run_has_its_distribution() -> None:
    measured = [column for column in sample_run().columns("measures") if "." in column]
    assert [name(one) for one in distributions(sample_run())] == ["words", "bytes", *measured]


def test_bars_hold_the_pages_between_their_edges() -> None:
    for one in distributions(sample_run()):
        if not isinstance(one, Distribution):
            continue
        values = [(row[name(one)], verdict(row, one.stage)) for row in rows() if row[name(one)] is not None]
        assert one.pages == len(values) and one.unmeasured == len(rows()) - len(values)
        assert one.at_spike == sum(value == one.spike for value, _ in values)
        expected: Counter[tuple[int, int]] = Counter()
        for value, kind in values:
            if value != one.spike:
                inside = [bar for bar, low in enumerate(one.edges[:-1]) if low <= value]
                expected[kind, inside[-1] if inside else 0] += 1
        assert {(kind, bar): n for kind, bars in enumerate(one.bars) for bar, n in enumerate(bars) if n} == expected


def test_names_are_counted() -> None:
    (one,) = (one for one in distributions(sample_run()) if isinstance(one, Categories) and one.rows)
    expected = Counter((row["language.language"], verdict(row, "language")) for row in rows())
    assert {(value, kind): n for value, counts in one.rows for kind, n in enumerate(counts) if n} == {
        key: n for key, n in expected.items() if key[0] is not None
    }


def breaks(value: Any, line: LimitLine) -> bool:
    if value is None:
        return False
    return value not in line.names if line.names else value < line.value if line.least else value > line.value


def test_who_breaks_a_limit_and_no_other() -> None:
    lines = [(name(one), line) for one in distributions(sample_run()) for line in one.lines]
    broken = {
        (measure, line.option): {place for place, row in enumerate(rows()) if breaks(row[measure], line)}
        for measure, line in lines
    }
    assert len(broken["language.language", "keep"]) == 25 and sum(map(len, broken.values())) > 40
    for measure, line in lines:
        mine = broken[measure, line.option]
        others = set().union(*(pages for key, pages in broken.items() if key != (measure, line.option)))
        assert (line.beyond, line.alone) == (len(mine), len(mine - others))


def test_every_numeric_limit_of_the_config_is_a_line() -> None:
    run = sample_run()
    found = distributions(run)
    lines = {
        (one.stage, line.option): line.value for one in found if isinstance(one, Distribution) for line in one.lines
    }
    limits = {
        (stage, option): value
        for stage in ("extract", "language", "gopher")
        for option, value in run.options[stage].items()
        if option.startswith(("min_", "max_")) and value is not None
    }
    empty = [one.measure for one in found if not one.pages]
    assert empty == ["confidence", "symbol_ratio"]  # of another engine; the profile `paper` has its two halves instead
    unmeasured = (("gopher", "max_symbol_ratio"), ("extract", "min_confidence"))
    assert lines == {key: value for key, value in limits.items() if key not in unmeasured}


VALUES = st.one_of(
    st.lists(st.integers(0, 10**7), min_size=1, max_size=60),
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=60),
    st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=60),
)
BOUNDS = st.lists(st.tuples(st.floats(0, 1e5, allow_subnormal=False), st.booleans()), max_size=2)


@given(VALUES, BOUNDS)
def test_edges_rise_and_hold_all_limits(values: list[float], bounds: list[tuple[float, bool]]) -> None:
    ordered = np.sort(np.array(values, dtype=float))
    found, logarithmic = edges(ordered, bounds, bool((np.floor(ordered) == ordered).all()))
    assert len(found) >= 2 and (np.diff(found) > 0).all() and np.isfinite(found).all()
    assert len(found) <= 90
    for value, _ in bounds:
        assert found[0] <= value * (1 + 1e-9) and value <= found[-1] * (1 + 1e-9)
    if logarithmic:
        assert found[0] >= 0


@pytest.mark.parametrize("bound", [(50.0, True), (900.0, False)])
def test_those_who_break_a_limit_lie_beyond_its_line(bound: tuple[float, bool]) -> None:
    ordered = np.sort(np.concatenate([np.full(1, 10.0), np.linspace(300, 600, 998), np.full(1, 990.0)]))
    found, _ = edges(ordered, [bound], False)
    assert found[0] < 50 or not bound[1]
    assert found[-1] > 900 or bound[1]


@dataclass(frozen=True, kw_only=True)
class Tagging(RuleStage):
    """A stage of somebody else whose measures are no numbers."""

    measures: ClassVar[Mapping[str, pa.DataType]] = {"tags": pa.list_(pa.string()), "loud": pa.bool_()}

    def measure(self, doc: Document) -> dict[str, Any]:
        return {"tags": doc.text.split()[:2], "loud": None if "?" in doc.text else "!" in doc.text}

    def judge(self, measures: Mapping[str, Any]) -> Drop | None:
        return None


def test_measures_that_are_no_numbers_are_counted_as_texts(tmp_path: Path) -> None:
    texts = ["a b !", "a b", "c d !", "a b ?"]
    source = {"path": pages(tmp_path, [{"text": text} for text in texts])}
    run = finished(tmp_path, ["tests.report.test_distributions:Tagging"], source)
    tags, loud = (one for one in distributions(run) if isinstance(one, Categories))
    assert tags.rows == (("['a', 'b']", (3, 0, 0)), ("['c', 'd']", (1, 0, 0)))
    assert loud.rows == (("true", (2, 0, 0)), ("false", (1, 0, 0))) and loud.unmeasured == 1


@dataclass(frozen=True, kw_only=True)
class Clustering(RuleStage):
    """A stage of somebody else that numbers things, and measures one."""

    measures: ClassVar[Mapping[str, pa.DataType]] = {
        "topic": pa.int64(),
        "embedding_cluster": pa.int64(),
        "letters": pa.int64(),
        "author": pa.string(),
        "empty": pa.string(),
    }
    categories: ClassVar[tuple[str, ...]] = ("topic",)
    absent: ClassVar[Mapping[str, str]] = {"empty": "there was no such word"}

    def measure(self, doc: Document) -> dict[str, Any]:
        size = len(doc.text)
        return {"topic": size % 3, "embedding_cluster": size % 2, "letters": size, "author": doc.text, "empty": None}

    def judge(self, measures: Mapping[str, Any]) -> Drop | None:
        return None


def test_what_only_names_things_is_listed_and_not_drawn(tmp_path: Path) -> None:
    source = {"path": pages(tmp_path, [{"text": f"{'word ' * place}."} for place in range(60)])}
    run = finished(tmp_path, ["tests.report.test_distributions:Clustering"], source)
    found = {one.measure: one for one in distributions(run) if one.stage}
    for measure, values in (("topic", 3), ("embedding_cluster", 2), ("author", 60)):
        one = found[measure]
        assert isinstance(one, Categories) and (one.values, one.pages, one.drawn) == (values, 60, False)
    assert isinstance(found["letters"], Distribution)
    figures = Figures()
    html = str(section_measures.measures(list(found.values()), figures))
    assert [spec["description"] for spec in figures.specs] == ["Histogram of letters"]
    assert "60 pages with 3 different values; names, so not drawn." in html
    assert "No page has a value of empty: there was no such word." in html
    assert html.count("<figure>") == 4  # no empty box for what has no value


def test_the_measures_of_url_filter_without_hits_are_one_sentence(tmp_path: Path) -> None:
    source = {"path": pages(tmp_path, [{"text": "word " * 60, "url": "https://a.example/x"}]), "url": "url"}
    found = distributions(finished(tmp_path, [{"url_filter": {"words": ["casino"]}}], source))
    html = str(section_measures.measures(found, Figures()))
    (said,) = re.findall("No page has a value of ([^:]*): no entry of the lists was met", html)
    assert set(said.split(", ")) >= {"domain", "url", "word", "subword"} and html.count("<figure>") <= 2
