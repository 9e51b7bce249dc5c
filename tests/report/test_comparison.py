"""`curate report A B`: two runs on one page."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curate.inspect.difference import Difference
from curate.inspect.opened import OpenedRun
from curate.report.compared import section_counts, section_origins, section_values, section_verdicts
from curate.report.compared.page import page
from curate.report.compared.values import values_of
from curate.report.figures import Figures
from tests.report.browser import Browser
from tests.report.finished import ROOT, SAMPLE_STAGES, call, finished, pages, sample_run
from tests.report.test_report import Page, hostile, numbered
from tests.report.test_report_browser import rows

OTHER_STAGES: list[Any] = [
    "extract",
    {"language": {"keep": ["en", "de"]}},
    {"gopher": {"min_words": 80}},
    "exact_dedup",
]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> OpenedRun:
    return finished(tmp_path_factory.mktemp("other"), OTHER_STAGES, str(ROOT / "sample_crawl" / "*.warc*"))


@pytest.fixture(scope="module")
def html(other: OpenedRun) -> str:
    return page(sample_run(), other)


def cells(html: str, caption: str) -> dict[str, list[str]]:
    """The texts of a table's cells by the first one of each row."""
    table = re.search(rf"<caption>{caption}.*?</table>", html, re.DOTALL)
    assert table, caption
    found = {}
    for row in re.findall("<tr.*?</tr>", table[0])[1:]:
        texts = [re.sub("<.*?>", "", cell) for cell in re.findall("<t[hd].*?</t[hd]>", row)]
        found[texts[0]] = texts[1:]
    return found


def test_key_figures_are_those_of_both_stats(html: str, other: OpenedRun) -> None:
    by_row = cells(html, "Key figures")
    kept = [run.stats["kept"]["documents"] for run in (sample_run(), other)]
    assert kept[0] != kept[1]
    assert by_row["pages kept"][:3] == [f"{kept[0]}", f"{kept[1]}", f"{kept[1] - kept[0]:+}".replace("-", "−")]
    assert by_row["pages read"][2:] == ["=", "="]


def test_reasons_that_one_run_has_alone(html: str, other: OpenedRun) -> None:
    by_row = cells(html, "Pages dropped by stage and reason")
    lost = Counter[str]()
    for row in sample_run().stats["dropped"]:
        lost[row["stage"]] += row["documents"]
    assert by_row["near_dedup (not in B)"][:3] == [f"{lost['near_dedup']}", "0", f"−{lost['near_dedup']}"]
    assert by_row["read"][:3] == ["15", "15", "="] and by_row["bad status"][6:] == ["–", "–"]


def test_pages_that_changed_sides_are_named_with_both_verdicts(other: OpenedRun) -> None:
    compared = Difference(sample_run(), other)
    html = str(section_verdicts.verdicts(compared))
    moves = [move for move in compared.moves(1) if move.before != move.after]
    gained = sum(move.documents for move in moves if move.side and move.after[0] == "kept")
    assert f"{gained} pages kept by B alone" in html
    by_row = cells(html, "Pages with another verdict")
    german = next(row for page, row in by_row.items() if page.startswith("https://a.de.example/"))
    assert german[0].startswith("language: other language") and german[1].startswith("kept")
    copies = [row for row in by_row.values() if row[0].startswith("near_dedup: near duplicate, copy of ")]
    assert copies and all(re.fullmatch(r"sample_crawl/.*:\d+", row[2].replace(f"{ROOT}/", "")) for row in copies)


def test_distributions_are_those_of_the_kept_pages(other: OpenedRun) -> None:
    found = {one.name: one for one in values_of(sample_run(), other)}
    own = []
    for run in (sample_run(), other):
        table = run.read("measures", ["stage", "gopher.words"]).to_pylist()
        own.append(
            sorted(row["gopher.words"] for row in table if row["stage"] is None and row["gopher.words"] is not None)
        )
    one = found["gopher.words"]
    assert one.pages == (len(own[0]), len(own[1])) and one.means == (np.mean(own[0]), np.mean(own[1]))
    at = sorted({*own[0], *own[1]})
    shares = [[sum(value <= limit for value in side) / len(side) for limit in at] for side in own]
    assert one.distance == pytest.approx(max(abs(a - b) for a, b in zip(*shares, strict=True)))
    assert [sum(bars) for bars in one.shown.bars] == [len(own[0]), len(own[1])]
    assert {(line.option, line.value) for line in one.shown.lines if line.least} == {
        ("min_words", 50),
        ("min_words", 80),
    }
    assert "language.language" not in found  # a name


def test_a_run_against_itself_has_no_difference() -> None:
    run = sample_run()
    assert "Every page has the same verdict in both." in str(section_verdicts.verdicts(Difference(run, run)))
    figures = Figures()
    html = str(section_values.values(run, run, figures))
    assert not figures.specs and "of which the kept pages have the same values" in html
    differences = {row[2] for row in cells(str(section_counts.overview(run, run)), "Key figures").values()}
    assert differences == {"="}


def test_runs_of_other_inputs_are_compared_without_their_pages(tmp_path: Path) -> None:
    runs = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        texts = [{"text": numbered(90 if name == "a" else 200), "url": f"https://{name}.example/"}]
        source = {"path": pages(tmp_path / name, texts), "url": "url"}
        (tmp_path / name / "pages.jsonl").rename(tmp_path / name / f"{name}.jsonl")
        source["path"] = str(tmp_path / name / f"{name}.jsonl")
        runs.append(finished(tmp_path / name, [{"gopher": {"languages": None}}], source))
    html = page(*runs)
    assert "read no file in common" in html
    by_row = cells(html, "Kept pages by domain")
    assert by_row["a.example"][:5] == ["1", "0", "1", "0", "−1"] and by_row["b.example"][4] == "+1"


def test_files_that_moved_are_matched_by_their_names(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sample_crawl", tmp_path / "crawl", ignore=shutil.ignore_patterns("*.jsonl"))
    moved = finished(tmp_path, SAMPLE_STAGES[:3], str(tmp_path / "crawl" / "*.warc*"))
    by_row = cells(str(section_verdicts.verdicts(Difference(sample_run(), moved))), "Pages with another verdict")
    assert by_row and all(row[1].startswith("kept") or ": " in row[1] for row in by_row.values())


def test_the_command_writes_it_beside_the_second_run(tmp_path: Path, other: OpenedRun) -> None:
    shutil.copytree(sample_run().folder, tmp_path / "a")
    shutil.copytree(other.folder, tmp_path / "b")
    done = call("report", tmp_path / "a", tmp_path / "b")
    assert done.exit_code == 0 and done.output.startswith(str(tmp_path / "b" / "comparison.html"))
    assert not (tmp_path / "a" / "comparison.html").exists()
    html = (tmp_path / "b" / "comparison.html").read_text()
    assert Page(html).texts["h1"] == ["Comparison: a and b"]
    assert 'id="quality"' not in html
    assert call("verify", tmp_path / "b").exit_code == 0
    target = tmp_path / "target.jsonl"
    target.write_text("".join(json.dumps({"text": numbered(size)}) + "\n" for size in range(60, 160)))
    file = tmp_path / "c.html"
    done = call("report", tmp_path / "a", tmp_path / "b", "--output", file, "--target", target)
    assert done.exit_code == 0 and "KL to the target" in file.read_text()
    assert call("report", tmp_path / "a", "--target", target).exit_code == 2


def test_page_text_stays_text_here_too(tmp_path: Path) -> None:
    run = hostile(tmp_path)
    other = finished(
        tmp_path / "other", ["exact_dedup"], run.manifest["config"]["input"]["crawl"] | {"format": "jsonl"}
    )
    parsed = Page(page(run, other))
    assert len(parsed.named("script")) == 3 and not parsed.named("img") and not parsed.named("u")


@pytest.mark.browser
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (1400, True), (390, False), (390, True)])
def test_in_a_browser(html: str, tmp_path: Path, width: int, dark: bool) -> None:
    path = tmp_path / "comparison.html"
    path.write_text(html)
    with Browser(width, dark=dark) as browser:
        browser.open(path)
        charts = browser.value("document.querySelectorAll('[data-chart]').length")
        assert charts > 4 and browser.value("document.documentElement.dataset.charts") == f"{charts}/{charts}"
        assert browser.problems == [] and browser.requests == [path.resolve().as_uri()]
        assert browser.value("document.documentElement.scrollWidth") == width
        places = "[...document.querySelectorAll('#values [data-chart]')]"
        assert set(browser.value(f"{places}.map(place => place.querySelectorAll('.mark-line path').length)")) == {2}
        before = rows(browser, "funnel")
        browser.value("document.querySelectorAll('#funnel th .sort')[3].click()")
        assert rows(browser, "funnel") != before and rows(browser, "funnel")[-1][0] == "kept"


def test_sources_are_compared_where_there_are_several(tmp_path: Path) -> None:
    runs = []
    for name, limit in (("a", 50), ("b", 150)):
        (tmp_path / name).mkdir()
        for source in ("web", "books"):
            path = tmp_path / name / f"{source}.jsonl"
            path.write_text("".join(json.dumps({"text": numbered(size)}) + "\n" for size in (60, 100, 200)))
        inputs = {source: {"path": str(tmp_path / name / f"{source}.jsonl")} for source in ("web", "books")}
        runs.append(finished(tmp_path / name, [{"gopher": {"languages": None, "min_words": limit}}], inputs))
    by_row = cells(str(section_origins.origins(*runs, Figures())), "Kept pages by source")
    assert by_row["web"] == ["3", "3", "3", "1", "−2", "100.0\xa0%", "33.3\xa0%", "−66.7 points"]
