"""`curate report` as a file: what it says, escapes and weighs. What it looks like: test_report_browser.py."""

import inspect
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from curate.inspect.funnel import funnel
from curate.inspect.opened import OpenedRun
from curate.output.schema import domain
from curate.report import markup, section_drops, section_head, section_overview, section_pages
from curate.report.addresses import spread
from curate.report.distributions import distributions
from curate.report.domains import domains
from curate.report.drops import samples
from curate.report.duplicates import duplicates
from curate.report.kept_pages import KeptPages, Near
from curate.report.markup import element
from curate.report.page import page
from stages.mixture import Mixture
from stages.near_dedup import NearDedup
from tests.report.finished import call, finished, pages, sample_run

SCRIPT = "<script>window.hacked = 1</script></pre><img src=x onerror='window.hacked = 2'><!-- & ]]>"
PROSE = "The harbour office keeps a list of every boat that came in before the storm. "


class Page(HTMLParser):
    """Elements of a page, and the text in each kind of them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "input"):
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def html() -> str:
    return page(sample_run())


@pytest.fixture(scope="module")
def parsed(html: str) -> Page:
    return Page(html)


def hostile(folder: Path) -> OpenedRun:
    """A run that drops and keeps pages whose text, URL and id are markup."""
    rows = [
        {
            "text": SCRIPT + " " + PROSE * 30,
            "url": 'https://a.example/"><script>window.hacked=3</script>',
            "id": "kept",
        },
        {"text": SCRIPT + " " + PROSE * 30, "url": "javascript:alert(1)//'\"<b>", "id": "copy"},
        {"text": SCRIPT, "url": "https://b.example/<u>", "id": "short"},
        {"text": "# " * 200 + SCRIPT, "url": "https://c.example/", "id": "hashes"},
    ]
    source = {"path": pages(folder, rows), "url": "url", "id": "id"}
    return finished(folder, [{"gopher": {"languages": None}}, "exact_dedup"], source)


def test_the_command_writes_the_file_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(sample_run().folder, out)
    done = call("report", out)
    assert done.exit_code == 0 and re.fullmatch(rf"{re.escape(str(out))}/report\.html \(\d\.\d MB\)\n", done.output)
    assert [path.name for path in out.iterdir() if "report" in path.name] == ["report.html"]
    elsewhere = tmp_path / "review.html"
    assert call("report", out, "--output", elsewhere).exit_code == 0
    assert elsewhere.read_bytes() == (out / "report.html").read_bytes() == page(sample_run()).encode()


def test_it_stays_small(html: str) -> None:
    assert len(html.encode()) < 5_000_000


def test_no_path_of_this_machine_but_those_of_the_inputs(html: str) -> None:
    inputs = {name.rpartition("/")[0] for _, name, _ in sample_run().manifest["inputs"]}
    shown = html[: html.index('<script type="application/json"')]
    for folder in inputs:
        shown = shown.replace(folder, "")
    assert str(Path.cwd()) not in shown and "/tmp/" not in shown


def test_all_parts_are_there(parsed: Page) -> None:
    sections = [attributes["id"] for attributes in parsed.named("section")]
    assert sections == [
        *("overview", "alarms", "funnel", "lengths", "measures", "languages", "domains", "duplicates"),
        *("samples", "pages", "timings", "config"),
    ]
    assert [attributes["href"] for attributes in parsed.named("a")] == ["#main", *(f"#{name}" for name in sections)]


def numbered(words: int) -> str:
    """A text without repeats."""
    own = [f"{PROSE.split()[number % 15]}{number}" for number in range(words - 6)]
    return " ".join(["The end of that and this", *own])


def test_the_head_says_which_run_it_is(tmp_path: Path) -> None:
    config = tmp_path / "my-recipe.yaml"
    stages: list[Any] = ["gopher", "exact_dedup"]
    rows = [{"text": numbered(200), "url": "https://a.example/"}] * 2
    source = {"path": pages(tmp_path, rows), "url": "url"}
    config.write_text(json.dumps({"input": source, "output": str(tmp_path / "named-so"), "stages": stages}))
    assert call("run", config, "--quiet").exit_code == 0
    run = OpenedRun.of(str(tmp_path / "named-so"))
    size = (tmp_path / "pages.jsonl").stat().st_size
    head = Page(str(section_head.head(run))).texts
    assert Page(page(run)).texts["h1"] == ["Curation report: named-so"]
    assert head["ol"] == ["gopherexact_dedup"] and "my-recipe.yaml" in head["code"]
    assert head["dd"][1].startswith(f"crawl: 2 documents in 1 file of {markup.size(size)}")
    finished_at = run.timings["finished"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", finished_at)
    assert head["dd"][2] == f"{finished_at[:10]} {finished_at[11:16]} UTC"
    assert head["dd"][3].startswith(f"curate {run.manifest['curate']}, run {run.manifest['fingerprint'][:12]}")


def test_an_output_of_an_earlier_version_has_a_head_too(tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(sample_run().folder, out)
    timings = json.loads((out / "timings.json").read_text())
    del timings["finished"], timings["recipe"]
    (out / "timings.json").write_text(json.dumps(timings))
    assert "Date" not in Page(str(section_head.head(OpenedRun.of(str(out))))).texts["dt"]


def test_the_pages_of_a_small_run_are_all_there() -> None:
    run = sample_run()
    rows = re.findall(r"<tr.*?</tr>", str(section_pages.pages(run)))[1:]
    assert len(rows) == run.stats["read"]["documents"]
    kept = [row for row in rows if ">kept<" in row]
    assert len(kept) == run.stats["kept"]["documents"]
    assert len({re.findall(r"<code>(.*?)</code>", row)[0] for row in rows}) == len(rows)


def test_of_a_large_run_some_pages_from_all_over(monkeypatch: pytest.MonkeyPatch) -> None:
    run = sample_run()
    found = list(spread(run, "ledger", ["url"], 10))
    assert len(found) == 10 and len({row["file_path"] for row in found}) > 1
    monkeypatch.setattr(section_pages, "MOST", 10)
    assert "20 of the 179 pages" in str(section_pages.pages(run))


def test_a_page_that_broke_a_limit_stands_beside_one_that_passed_it_by_little(tmp_path: Path) -> None:
    rows = [{"text": numbered(size)} for size in (32, 600, 64, 90)]
    run = finished(tmp_path, [{"gopher": {"languages": None}}], {"path": pages(tmp_path, rows)})
    kept = KeptPages(run)
    distributions(run, kept)
    found = samples(run, 6, kept)["gopher", "too_few_words"]
    beside = [one.beside for one in found]
    assert [one.row["value"] for one in found] == [32.0] and beside[0] and beside[0].near
    assert beside[0].near == Near(1, "words", 64.0, 50.0) and beside[0].excerpt == rows[2]["text"][:500]
    html = str(section_drops.drops(run, 6, KeptPages(run)))
    assert "Some kept page." in html  # where no measure was looked at


def test_a_copy_stands_beside_the_page_that_it_is_a_copy_of(tmp_path: Path) -> None:
    story = numbered(300)
    rows = [
        {"text": f"{story} Only here.", "url": "https://first.example/"},
        {"text": story, "url": "https://copy.example/"},
    ]
    run = finished(tmp_path, ["near_dedup"], {"path": pages(tmp_path, rows), "url": "url"})
    (one,) = samples(run, 6, KeptPages(run))["near_dedup", "near_duplicate"]
    assert one.beside and one.beside.url == "https://first.example/" and one.beside.near is None
    ((start, end),) = one.beside.evidence
    assert one.beside.excerpt[start:end] == "Only here." and one.beside.before


def test_the_funnel_says_what_stats_say(parsed: Page) -> None:
    shown = parsed.texts["table"]
    for row in funnel(sample_run().stats):
        assert any(row["stage"] + f"{row['in']:,}{row['dropped']:,}" in table for table in shown)
        for reason, total in row["reasons"].items():
            assert any(f"{reason.replace('_', ' ')}{total['documents']:,}" in table for table in shown)


def test_each_rule_that_dropped_texts_shows_some(parsed: Page) -> None:
    summaries = "\n".join(parsed.texts["summary"])
    sampled = {(row["stage"], row["reason"]) for row in sample_run().read("samples", ["stage", "reason"]).to_pylist()}
    assert len(sampled) > 5
    for stage, reason in sampled:
        assert f"{reason.replace('_', ' ')} ({stage}): " in summaries


def test_the_cause_is_marked_in_the_text(tmp_path: Path) -> None:
    parsed = Page(page(hostile(tmp_path)))
    assert parsed.texts["mark"].count("#") > 20


def test_a_copy_shows_what_sets_it_apart(tmp_path: Path) -> None:
    story = " ".join(f"{PROSE.split()[number % 15]}{number}" for number in range(300))
    rows = [
        {"text": story, "url": "https://a.example/"},
        {"text": story + " An added line.", "url": "https://b.example/"},
    ]
    parsed = Page(page(finished(tmp_path, ["near_dedup"], {"path": pages(tmp_path, rows), "url": "url"})))
    assert "An added line." in parsed.texts["mark"]
    excerpt = next(text for text in parsed.texts["pre"] if text.endswith("An added line."))
    assert excerpt.startswith("… ") and excerpt[2:].split()[0] in story.split() and 600 < len(excerpt) <= 702
    assert any("marked is what that page has not" in text for text in parsed.texts["p"])


def test_page_text_stays_text(tmp_path: Path) -> None:
    html = page(hostile(tmp_path))
    parsed = Page(html)
    assert (
        len(parsed.named("script")) == 3 and not parsed.named("img") and not parsed.named("b") and not parsed.named("u")
    )
    assert any("<script>window.hacked = 1</script></pre><img" in text for text in parsed.texts["pre"])
    assert not [
        name for _, attributes in parsed.elements for name in attributes if name.startswith("on") or name == "style"
    ]
    assert not [a for _, a in parsed.elements if (a.get("href") or "#")[0] != "#" or "src" in a]


def test_what_html_can_not_hold_is_replaced() -> None:
    made = element("p", "a\x00b\x1b\ud800\r\nc", title='"&<')
    assert made == '<p title="&#34;&amp;&lt;">a\ufffdb\ufffd\ufffd\nc</p>'


def test_specifications_can_not_close_their_script(html: str) -> None:
    inside = html.split('<script type="application/json" id="charts">')[1].split("</script>")[0]
    assert not set("<>&") & set(inside)
    charts = json.loads(inside)
    assert len(charts) == html.count("data-chart=") > 30
    assert all(chart["description"] for chart in charts)


def test_each_line_stands_at_its_limit(html: str) -> None:
    inside = html.split('<script type="application/json" id="charts">')[1].split("</script>")[0]
    labels = {
        (layer["data"]["values"][0]["label"], layer["data"]["values"][0]["at"])
        for chart in json.loads(inside)
        for layer in chart["layer"]
        if isinstance(layer["mark"], dict) and layer["mark"].get("style") == "limit"
    }
    assert {("min 0.65", 0.65), ("min 50", 50.0), ("max 0.15", 0.15), ("min 2", 2.0)} <= labels
    assert ("max 100,000", 100_001.0) in labels  # the last value that passes stands before the line


def test_nothing_finished_is_one_sentence(tmp_path: Path) -> None:
    from curate.errors import UserError

    with pytest.raises(UserError, match="no finished run"):
        call("report", tmp_path)


def test_a_run_that_kept_nothing_and_measured_nothing(tmp_path: Path) -> None:
    source = {"path": pages(tmp_path, [{"text": "", "url": "x"}]), "url": "url"}
    run = finished(tmp_path, ["exact_dedup"], source)
    parsed = Page(page(run, 0))
    assert any("No rule stage measured a page" in text for text in parsed.texts["p"])
    assert any("No page was dropped as a duplicate" in text for text in parsed.texts["p"])


def test_a_prescreen_that_drops_little_is_advised_against() -> None:
    stats: dict[str, Any] = {"stages": ["read", "guard", "caps", "prescreen"], "read": {"documents": 100}}
    dropped = {
        "stage": "prescreen",
        "reason": "too_few_words",
        "documents": 10,
        "words": 0,
        "bytes": 0,
        "crawl_bytes": 0,
    }
    assert "10.0" in "".join(section_overview.advice({**stats, "dropped": [dropped]}))
    assert not section_overview.advice({**stats, "dropped": [{**dropped, "documents": 15}]})


def clusters(run: OpenedRun) -> Iterator[tuple[str, int]]:
    for one in duplicates(run):
        for cluster in one.largest:
            yield one.stage, cluster.size


def test_clusters_are_the_ledgers(tmp_path: Path) -> None:
    texts = [f"{PROSE} number {number}. " * 5 for number in range(3)]
    rows = [
        {"text": text, "url": f"https://d{place % 2}.example/{place}"}
        for place, text in enumerate(texts * 2 + texts[:1] * 5)
    ]
    run = finished(tmp_path, ["exact_dedup"], {"path": pages(tmp_path, rows), "url": "url"})
    (found,) = duplicates(run)
    assert (found.stage, found.dropped, found.clusters) == ("exact_dedup", 8, 3)
    assert found.sizes == (("2", 2), ("3", 0), ("4", 0), ("5–8", 1))
    largest = found.largest[0]
    assert (largest.size, largest.url, largest.fate, largest.domains) == (7, "https://d0.example/0", "kept", 2)
    assert largest.text == texts[0][:600] and len(largest.members) == 5 and largest.lowest == 1.0


URLS = [
    *("https://www.Example.org:8080/a?b@c", "http://user:pw@host.example/x", "ftp://[2001:DB8::1]:21/", "no url", ""),
    *("https://www.www.example/", "http://xn--bcher-kva.example", "//no.scheme/", "https://host.example?q"),
    "https://h.example#f",
]


def test_domains_are_those_of_the_ledger(tmp_path: Path) -> None:
    rows = [{"text": f"{PROSE} {place}", "url": url} for place, url in enumerate(URLS)]
    run = finished(tmp_path, ["exact_dedup"], {"path": pages(tmp_path, rows), "url": "url"})
    found, number = domains(run, 100)
    expected: dict[str, int] = {}
    for url in URLS:
        expected[domain(url)] = expected.get(domain(url), 0) + 1
    assert {one.name: one.kept for one in found} == expected and number == len(expected)


def test_each_kind_of_alarm_has_its_sentence() -> None:
    from curate.inspect import alarms as sentences
    from curate.write import alarms

    own = set(re.findall(r'"(source_lost|domain_lost|column_\w+)"', inspect.getsource(alarms)))
    assert own == set(sentences.ALARMS)
    kinds = {*own, *NearDedup.alarms, *Mixture.alarms}
    assert {"giant_cluster", "shortfall", "over_4_epochs"} < kinds
    run = OpenedRun(Path("nowhere"))
    run.__dict__["manifest"] = {"config": {"stages": [{"near_dedup": {}}, {"mixture": {}}, {"gone.away:Stage": {}}]}}
    raised = [{"alarm": kind, "name": "x<y", "dropped": 1234, "of": 1300} for kind in [*sorted(kinds), "new_kind"]]
    names = ["near_dedup", "mixture", "gone.away:Stage"]
    run.__dict__["stats"] = {"alarms": raised, "notes": {}, "stages": names, "dropped": [], "read": {"documents": 0}}
    html = section_overview.alarms(run)
    assert html.count('<li class="alarm"><strong>x&lt;y</strong>: ') == len(raised)
    assert "one cluster of duplicates holds 1,300 pages" in html and "1,234 of 1,300 groups" in html
    assert "1,234 of the 1,300 pages of this domain" in html and "new kind: 1,234 of 1,300 (94.9%)." in html
