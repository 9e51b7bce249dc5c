"""The report in a headless Chromium: charts, policy, phone, dark mode, keyboard, screen reader."""

import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from curate.report import page
from curate.report.markup import table
from tests.report.browser import Browser
from tests.report.finished import finished, pages, sample_run
from tests.report.test_report import hostile

pytestmark = pytest.mark.browser

LOOKS = [(1400, False), (1400, True), (390, False), (390, True)]
BAR = "getComputedStyle(document.querySelector('#funnel .mark-rect path')).fill"
CSS = (Path(page.__file__).parent / "page.css").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    page.write(sample_run(), path)
    return path


@pytest.fixture(scope="module")
def browser(report: Path) -> Iterator[Browser]:
    with Browser(1280) as opened:
        opened.open(report)
        yield opened


def undrawn(browser: Browser) -> list[str]:
    """Charts that are not there as a picture with marks in it, in the part of the page that is theirs."""
    found: list[str] = browser.value("""[...document.querySelectorAll('[data-chart]')].filter(place => {
        const svg = place.querySelector('svg');
        const marks = place.querySelectorAll('.mark-rect path, .mark-rule line');
        if (!svg || !marks.length) return true;
        const box = svg.getBoundingClientRect(), room = place.getBoundingClientRect();
        return box.width < 100 || box.height < 40 || box.right > room.right + 1;
    }).map(place => place.getAttribute('aria-label'))""")
    return found


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_all_charts_are_drawn_without_a_problem(report: Path, width: int, dark: bool) -> None:
    with Browser(width, dark=dark) as browser:
        browser.open(report)
        charts = browser.value("document.querySelectorAll('[data-chart]').length")
        assert charts > 30 and browser.value("document.documentElement.dataset.charts") == f"{charts}/{charts}"
        assert undrawn(browser) == []
        assert browser.problems == []
        assert browser.requests == [report.resolve().as_uri()]
        assert browser.value("document.documentElement.scrollWidth") == width
        colour = browser.value("getComputedStyle(document.querySelector('section')).backgroundColor")
        assert colour == ("rgb(26, 33, 42)" if dark else "rgb(255, 255, 255)")
        assert browser.value(BAR) == ("rgb(106, 174, 234)" if dark else "rgb(33, 102, 172)")


def test_charts_follow_when_the_page_turns_dark(report: Path) -> None:
    with Browser(1280) as browser:
        browser.open(report)
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        assert browser.value(BAR) == "rgb(106, 174, 234)"
        assert undrawn(browser) == [] and browser.problems == []


def test_charts_follow_the_width_of_the_window(report: Path) -> None:
    with Browser(1280) as browser:
        browser.open(report)
        browser.call("Emulation.setDeviceMetricsOverride", width=500, height=900, deviceScaleFactor=1, mobile=False)
        browser.wait("document.querySelector('#funnel svg').getBoundingClientRect().width < 500")
        assert browser.value("document.documentElement.scrollWidth") == 500
        assert undrawn(browser) == [] and browser.problems == []


def test_a_script_of_a_crawled_page_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    page.write(hostile(tmp_path), path)
    with Browser(1280) as browser:
        browser.open(path)
        assert browser.value("window.hacked") is None
        assert browser.value("document.body.textContent.includes('javascript:alert')") is True
        assert undrawn(browser) == [] and browser.problems == []
        assert browser.requests == [path.resolve().as_uri()]


def test_the_policy_forbids_foreign_scripts_styles_and_network(report: Path) -> None:
    with Browser(1280) as browser:
        browser.open(report)
        browser.value("""(() => {
            const script = document.createElement('script'); script.textContent = 'window.hacked = 1';
            const style = document.createElement('style'); style.textContent = 'h1 { display: none }';
            const image = document.createElement('img'); image.src = 'https://example.org/x.png';
            document.body.append(script, style, image);
            document.querySelector('h1').setAttribute('style', 'display: none');
        })()""")
        assert browser.value("fetch('https://example.org/').then(() => 'sent', () => 'refused')") == "refused"
        assert browser.value("(() => { try { return eval('1') } catch (error) { return 'refused' } })()") == "refused"
        assert browser.value("window.hacked") is None
        assert browser.value("getComputedStyle(document.querySelector('h1')).display") == "block"
        assert len(browser.problems) >= 5 and all("Content Security Policy" in problem for problem in browser.problems)


def test_an_empty_run_has_a_report_too(tmp_path: Path) -> None:
    source = {"path": pages(tmp_path, [{"text": "", "url": "x"}]), "url": "url"}
    path = tmp_path / "report.html"
    page.write(finished(tmp_path, ["gopher", "exact_dedup"], source), path)
    with Browser(390) as browser:
        browser.open(path)
        assert undrawn(browser) == [] and browser.problems == []


def test_landmarks_headings_and_names(browser: Browser) -> None:
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert [role for role, _ in roles].count(landmark) == 1
    charts = browser.value("document.querySelectorAll('[data-chart]').length")
    images = [name for role, name in roles if role in ("image", "img")]
    assert len(images) == charts and all(images) and len(set(images)) == charts
    assert all(name for role, name in roles if role in ("region", "table", "link", "navigation"))
    levels = browser.value("[...document.querySelectorAll('h1,h2,h3,h4')].map(title => Number(title.tagName[1]))")
    assert levels.count(1) == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    assert browser.value("document.querySelectorAll('table:not(:has(caption))').length") == 0
    assert browser.value("document.querySelectorAll('th:not([scope])').length") == 0
    assert browser.value("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size") == browser.value(
        "document.querySelectorAll('[id]').length"
    )


def press(browser: Browser, key: str, code: int, text: str = "") -> None:
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text)


def test_the_keyboard_reaches_everything(report: Path) -> None:
    with Browser(1280) as browser:
        browser.open(report)
        press(browser, "Tab", 9)
        assert browser.value("document.activeElement.className") == "skip"
        assert browser.value("document.activeElement.getBoundingClientRect().left") == 0
        seen = set()
        for _ in range(15):
            press(browser, "Tab", 9)
            seen.add(browser.value("document.activeElement.getAttribute('href')"))
            assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert {None, "#overview", "#samples", "#config"} <= seen
        browser.value("document.querySelector('#samples summary').focus()")
        press(browser, "Enter", 13, "\r")
        assert browser.value("document.querySelector('#samples details').open") is True


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_that_of_wcag_aa(scheme: int) -> None:
    block = re.findall(r":root \{(.*?)\n\s*\}", CSS, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    for text, ground in [
        *(("text", name) for name in ("page", "card", "code", "alarm", "advice")),
        *(("muted", name) for name in ("page", "card", "code")),
        *(("link", name) for name in ("page", "card")),
        *(("card", name) for name in ("kept", "here")),
        *(("limit", "card"), ("mark-text", "mark")),
    ]:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for bar in ("kept", "here", "elsewhere", "edge"):
        assert contrast(colours[bar], colours["card"]) >= 3, bar


ROWS = """(number => {
    const table = document.querySelectorAll('#%s table')[number];
    return [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => [...row.cells].map(c => c.textContent));
})(%s)"""


def rows(browser: Browser, section: str, number: int = 0) -> list[list[str]]:
    """The cells of the rows that a table shows."""
    found: list[list[str]] = browser.value(ROWS % (section, number))
    return found


def typed(browser: Browser, text: str) -> None:
    """Types into what has the focus."""
    browser.call("Input.insertText", text=text)


def test_every_table_is_sorted_by_its_headings(report: Path) -> None:
    with Browser(1400) as browser:
        browser.open(report)
        plain = "table => !table.querySelector('thead .sort') && table.tBodies[0].rows.length > 1"
        assert browser.value(f"[...document.querySelectorAll('main table')].filter({plain}).length") == 0
        before = rows(browser, "domains")
        browser.value("document.querySelector('#domains details').open = true")
        browser.value("document.querySelectorAll('#domains th .sort')[2].focus()")  # kept
        press(browser, "Enter", 13, "\r")
        heading = "document.querySelectorAll('#domains th[scope=col]')[2].getAttribute('aria-sort')"
        assert browser.value(heading) == "descending"
        numbers = [int(row[2].replace(",", "")) for row in rows(browser, "domains")]
        assert numbers == sorted(numbers, reverse=True) and numbers != sorted(numbers)
        press(browser, " ", 32, " ")
        assert browser.value(heading) == "ascending"
        assert [int(row[2].replace(",", "")) for row in rows(browser, "domains")] == sorted(numbers)
        press(browser, "Enter", 13, "\r")
        assert browser.value(heading) is None and rows(browser, "domains") == before
        browser.value("document.querySelectorAll('#domains th .sort')[0].click()")
        names = [row[0] for row in rows(browser, "domains")]
        plain = [name for name in names if not re.search(r"[\d(.]", name.removesuffix(".example"))]
        assert len(plain) > 10 and plain == sorted(plain)
        assert names.index("near2.example") < names.index("near10.example") and browser.problems == []


SIZES = ["9 kB", "1.2 MB", "–", "800 bytes", "1,100 bytes", "", "−5 bytes", "2.5 million", "1e-3", "0.5 to 7"]


def test_numbers_are_sorted_by_what_they_say(tmp_path: Path) -> None:
    lines = [["of", "size"], *([str(place), size] for place, size in enumerate(SIZES))]
    shown = table("Sizes", lines[0], lines[1:])
    script = (Path(page.__file__).parent / "tables.js").read_text(encoding="utf-8")
    path = tmp_path / "sizes.html"
    ready = "document.documentElement.dataset.ready = 1"
    path.write_text(
        f"<meta charset=utf-8><main><section id=sizes>{shown}</section></main><script>{script};{ready}</script>"
    )
    with Browser(1400) as browser:
        browser.open(path)
        browser.value("document.querySelectorAll('th .sort')[1].click()")
        largest = [row[1] for row in rows(browser, "sizes")]
        assert largest == [
            "2.5 million",
            "1.2 MB",
            "9 kB",
            "1,100 bytes",
            "800 bytes",
            "0.5 to 7",
            "1e-3",
            "−5 bytes",
            "–",
            "",
        ]
        browser.value("document.querySelectorAll('th .sort')[1].click()")
        assert [row[1] for row in rows(browser, "sizes")] == [*reversed(largest[:-2]), "–", ""]  # blanks stay last


def test_reasons_stay_under_their_stage_and_the_total_at_the_end(browser: Browser) -> None:
    before = rows(browser, "funnel")
    browser.value("document.querySelectorAll('#funnel th .sort')[2].click()")
    after = rows(browser, "funnel")
    assert after[-1][0] == "kept" and sorted(after) == sorted(before) and after != before
    stages = {row[0] for row in before if row[1]}
    of = {}
    for side in (before, after):
        stage = ""
        for row in side:
            stage = row[0] if row[0] in stages else stage
            of.setdefault(row[0], set()).add(stage)
    assert all(len(found) == 1 for found in of.values())
    dropped = [int(row[2]) for row in after if row[0] in stages and row[2]]
    assert dropped == sorted(dropped, reverse=True)
    browser.value("document.querySelectorAll('#funnel th .sort')[2].click()")
    browser.value("document.querySelectorAll('#funnel th .sort')[2].click()")
    assert rows(browser, "funnel") == before


def test_every_table_is_filtered_by_words(report: Path) -> None:
    with Browser(390) as browser:
        browser.open(report)
        inputs = browser.value("document.querySelectorAll('main .tools input[aria-label]').length")
        assert inputs == browser.value("document.querySelectorAll('main thead:has(.sort)').length") > 30
        every = rows(browser, "pages")
        browser.value("document.querySelector('#pages .tools input').focus()")
        typed(browser, "near_dedup wooden")
        some = rows(browser, "pages")
        assert some == [row for row in every if "near_dedup" in "".join(row) and "wooden" in "".join(row)]
        assert 0 < len(some) < len(every)
        assert browser.value("document.querySelector('#pages [role=status]').textContent") == (
            f"{len(some)} of {len(every)} rows"
        )
        press(browser, "Escape", 27)
        assert rows(browser, "pages") == every
        browser.value("document.querySelector('#funnel .tools input').focus()")
        typed(browser, "too few stop words")
        assert [row[0] for row in rows(browser, "funnel")] == ["gopher", "too few stop words", "kept"]
        assert browser.value("document.documentElement.scrollWidth") == 390


def test_a_slash_leads_to_the_search_and_enter_to_what_it_found(report: Path) -> None:
    with Browser(1400) as browser:
        browser.open(report)
        press(browser, "/", 191, "/")
        assert browser.value("document.activeElement.getAttribute('aria-label')") == "Search pages and domains"
        assert browser.value("document.activeElement.value") == ""
        typed(browser, browser.value("document.querySelector('#samples .dropped .url').textContent"))
        browser.wait("document.querySelectorAll('#search li').length > 1")
        said = browser.value("document.querySelector('#search [role=status]').textContent")
        assert "1 dropped page" in said and "1 page" in said
        kinds = browser.value("[...document.querySelectorAll('#search .kind')].map(kind => kind.textContent)")
        for _ in range(kinds.index("dropped page") + 1):
            press(browser, "ArrowDown", 40)
        assert browser.value("document.activeElement.textContent").startswith("dropped page http")
        press(browser, "ArrowDown", 40)
        press(browser, "ArrowUp", 38)
        press(browser, "Enter", 13, "\r")
        assert browser.value("document.activeElement.className") == "sample dropped found"
        assert browser.value("document.activeElement.closest('details').open") is True
        top = browser.value("document.activeElement.getBoundingClientRect().top")
        assert 0 <= top < 900 and browser.value("!document.querySelector('#search.open')") is True
        press(browser, "/", 191, "/")
        press(browser, "Escape", 27)
        assert browser.value("document.querySelector('#search input').value") == "" and browser.problems == []


def test_a_row_that_a_filter_hides_is_shown_when_it_is_found(report: Path) -> None:
    with Browser(1400) as browser:
        browser.open(report)
        browser.value("document.querySelector('#domains details').open = true")
        browser.value("document.querySelector('#domains .tools input').focus()")
        typed(browser, "nothing is called so")
        press(browser, "Escape", 27)
        typed(browser, "no such domain")
        assert rows(browser, "domains") == []
        browser.value("document.querySelector('#search input').focus()")
        typed(browser, "near5.example")
        press(browser, "Enter", 13, "\r")
        assert browser.value("document.activeElement.textContent").startswith("near5.example")
        assert len(rows(browser, "domains")) > 1


def test_without_script_the_page_is_read_all_the_same(report: Path) -> None:
    with Browser(390) as browser:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.call("Page.navigate", url=report.resolve().as_uri())
        while browser.value("document.querySelector('footer + script + script + script') === null"):
            time.sleep(0.05)  # no timer runs in the page
        assert browser.value("document.querySelectorAll('.sort, .tools').length") == 0
        assert browser.value("getComputedStyle(document.querySelector('#search')).display") == "none"
        assert browser.value("document.querySelector('noscript p').getBoundingClientRect().height") > 10
        assert browser.value("document.documentElement.scrollWidth") == 390


def test_printed_it_is_black_on_white_and_all_open(report: Path) -> None:
    with Browser(1400, dark=True) as browser:
        browser.open(report)
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        browser.call("Emulation.setEmulatedMedia", media="print", features=dark)
        assert browser.value("getComputedStyle(document.querySelector('#overview p')).color") == "rgb(0, 0, 0)"
        ground = browser.value("getComputedStyle(document.querySelector('section')).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert browser.value(BAR) == "rgb(33, 102, 172)"
        for hidden in ("nav", ".tools", ".skip"):
            assert browser.value(f"getComputedStyle(document.querySelector('{hidden}')).display") == "none"
        browser.value("dispatchEvent(new Event('beforeprint'))")
        assert browser.value("document.querySelectorAll('details:not([open])').length") == 0
        assert (
            browser.value("[...document.querySelectorAll('pre')].some(p => p.scrollHeight > p.clientHeight + 2)")
            is False
        )
        browser.value("dispatchEvent(new Event('afterprint'))")
        assert browser.value("document.querySelectorAll('details[open]').length") == 0
