"""The report in a headless Chromium: charts, policy, phone, dark mode, keyboard, screen reader."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from curate.report import page
from tests.report.browser import Browser
from tests.report.finished import finished, pages, sample_run
from tests.report.test_report import hostile

pytestmark = pytest.mark.browser

LOOKS = [(1280, False), (1280, True), (390, False), (390, True)]
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
        bar = browser.value("document.querySelector('#funnel .mark-rect path').getAttribute('fill')")
        assert bar == ("#6aaeea" if dark else "#2166ac")


def test_charts_follow_when_the_page_turns_dark(report: Path) -> None:
    with Browser(1280) as browser:
        browser.open(report)
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.wait("document.documentElement.dataset.ready === '2'")
        assert browser.value("document.querySelector('#funnel .mark-rect path').getAttribute('fill')") == "#6aaeea"
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
        for _ in range(14):
            press(browser, "Tab", 9)
            seen.add(browser.value("document.activeElement.getAttribute('href')"))
            assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert {"#overview", "#drops", "#config"} <= seen
        browser.value("document.querySelector('#drops summary').focus()")
        press(browser, "Enter", 13, "\r")
        assert browser.value("document.querySelector('#drops details').open") is True


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
        *(("limit", "card"), ("mark-text", "mark")),
    ]:
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for bar in ("kept", "here", "elsewhere"):
        assert contrast(colours[bar], colours["card"]) >= 3, bar
