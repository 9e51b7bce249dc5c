"""Every breakdown of a run sums to the run."""

from pathlib import Path

import pytest

from curate.inspect.breakdown import GROUPS, breakdown
from tests.report.finished import finished, pages, sample_run, truth


@pytest.mark.parametrize("by", GROUPS)
def test_groups_sum_to_the_whole(by: str) -> None:
    run = sample_run()
    rows = breakdown(run, by)
    stats = run.stats
    assert sum(row["pages"] for row in rows) == stats["read"]["documents"]
    for name in ("documents", "words", "bytes"):
        assert sum(row["kept" if name == "documents" else name] for row in rows) == stats["kept"][name]
    assert len({row[by] for row in rows}) == len(rows)
    for row in rows:
        assert row["pages"] == row["kept"] + sum(row["dropped"].values())


def test_domains_are_those_of_the_truth() -> None:
    row = next(row for row in breakdown(sample_run(), "domain") if row["domain"] == "errors.example")
    of_domain = [page for page in truth() if page["url"].startswith("https://errors.example/")]
    assert row["pages"] == len(of_domain) and row["dropped"] == {"read": len(of_domain)} and row["kept"] == 0


def test_days_are_those_of_the_dates(tmp_path: Path) -> None:
    text = "one two three"
    made = [
        {"text": f"{text} {n}", "url": f"http://a.example/{n}", "date": f"2024-05-0{1 + n % 2}T10:00:00Z"}
        for n in range(5)
    ]
    source = {"path": pages(tmp_path, made), "url": "url", "date": "date"}
    run = finished(
        tmp_path, [{"gopher": {"min_words": 1, "min_stop_words": 0, "min_alphabetic_word_ratio": 0}}], source
    )
    assert {row["day"]: row["kept"] for row in breakdown(run, "day")} == {"2024-05-01": 3, "2024-05-02": 2}


def test_documents_written_more_than_once_count_once(tmp_path: Path) -> None:
    made = [{"text": f"word number {n}", "url": f"http://site{n % 2}.example/{n}"} for n in range(6)]
    source = {"path": pages(tmp_path, made), "url": "url"}
    stages = ["tokens", {"mixture": {"by": "source", "weights": {"crawl": 1}, "tokens": 48, "repeat": "rows"}}]
    run = finished(tmp_path, stages, source)
    assert run.stats["kept"]["rows"] > run.stats["kept"]["documents"]
    rows = breakdown(run, "domain")
    assert sum(row["kept"] for row in rows) == run.stats["kept"]["documents"]
