"""extract with engine: blocks: our model's text, its confidence, and what becomes of pages of which it is unsure."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.extract import Extract
from stages.extraction.blocks import model
from tests.stages.labelled import labelled


def document(html: str) -> Document:
    return Document(Address("test", "a.warc.gz", 0), html=html.encode(), charset="utf-8")


def blocks(**fields: Any) -> Extract:
    return Extract(engine="blocks", **fields)


@pytest.mark.parametrize("number", range(6))
def test_the_text_and_none_of_what_is_around_it(number: int) -> None:
    _, html, truth = labelled(number)
    assert blocks().text(html.encode()).split() == truth.split()


def test_the_model_is_ours_small_and_says_what_it_was_trained_on() -> None:
    assert model.OURS.stat().st_size <= 500_000
    ours = model.load()
    assert "CC-BY-4.0" in ours.about


def test_confidence_is_a_measure_and_decides_where_it_is_asked_to() -> None:
    doc = document(labelled(3)[1])
    unsure = blocks(unsure="drop", min_confidence=1.0)
    measures = blocks().measure(blocks().clean(doc))
    assert 0.5 < measures["confidence"] < 1.0
    assert blocks(min_confidence=1.0).judge(measures) is None
    assert unsure.judge(measures) == Drop("unsure", measures["confidence"], 1.0)
    assert unsure.judge({**measures, "characters": 0, "confidence": 0.0}) == Drop("no_text", 0, 1)
    assert blocks(unsure="drop", min_confidence=None).judge(measures) is None
    assert Extract().measure(Extract().clean(doc))["confidence"] is None


def test_an_unsure_page_gets_the_text_of_the_other_engine() -> None:
    html = labelled(4)[1].encode()
    assert blocks(unsure="trafilatura", min_confidence=1.0).text(html) == Extract().text(html)
    assert blocks(unsure="trafilatura", min_confidence=0.0).text(html) == blocks().text(html)


def test_what_if_is_told_where_a_rerun_is_needed() -> None:
    assert blocks(unsure="drop").rerun(blocks()) is None
    assert blocks(unsure="drop", min_confidence=0.7).rerun(blocks(unsure="drop")) is None
    assert "another text" in (blocks(unsure="trafilatura").rerun(blocks()) or "")
    assert "another text" in (blocks().rerun(blocks(unsure="trafilatura")) or "")


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"engine": "blocks", "model": "none.json"}, "can't be read"), ({"model": "x.json"}, "is for engine: blocks")],
)
def test_check_refuses(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((UserError, ValueError), match=message):
        Extract(**fields).check([], [])


def test_the_same_text_in_any_order_and_process(tmp_path: Path) -> None:
    pages = [labelled(number)[1] for number in range(8)]
    once = [blocks().text(page.encode()) for page in pages]
    shuffled = list(range(len(pages)))
    random.Random(2).shuffle(shuffled)
    assert {number: blocks(memo_bytes=None).text(pages[number].encode()) for number in shuffled} == dict(
        enumerate(once)
    )
    code = (
        "from tests.stages.labelled import labelled\nfrom stages.extract import Extract\n"
        "print(Extract(engine='blocks').text(labelled(5)[1].encode()), end='')"
    )
    root = Path(__file__).parents[2]
    for seed in ("0", "7"):
        environment = {"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(root)}
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True, cwd=root)
        assert ended.stdout.decode() == once[5]


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "deep",
        f'<p class="{"name " * 1_000_000}">text of one paragraph</p>',
        "<p>" * 50_000 + "text",
        "<ul><li>" * 20_000 + "text",
        "a<br>" * 100_000,
        '<p title="' + "<b>" * 100_000,
        "<!--" * 100_000,
        "<script>" * 50_000,
        "<svg " * 200_000,
        "<svg>" * 400_000,
        "<p " + "a=b " * 420_000 + ">text",
        '<p a="' * 100_000,
        "<p a='\">" * 100_000,
        "<div>" + "<section>" * 50_000 + "</div></p>" * 50_000,
        "<p class=" + "aB-" * 1_000_000 + ">text",
        "&amp;" * 200_000,
        "<template>" * 50_000 + "text",
        "<body>" * 50_000,
        "<a>" * 100_000 + "text",
    ],
    ids=(
        "depth,attribute,paragraphs,lists,breaks,open attribute,comments,scripts,open svg,svg,attributes,odd quotes,"
        "quotes in quotes,far ends,humps,references,templates,bodies,links"
    ).split(","),
)
def test_hostile_pages_end(html: str) -> None:
    assert isinstance(blocks(memo_bytes=None).text(html.encode()), str)
