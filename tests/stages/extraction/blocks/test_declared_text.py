"""The text that a page declares in JSON-LD, and when it is taken."""

import json

import pytest

from stages.extract import Extract
from stages.extraction.blocks.declared_text import declared_text
from tests.stages.labelled import labelled

BODY = "The harbour engine rings. " * 12


def page(data: object, body: str = "") -> str:
    return f'<head><script type="application/ld+json">{json.dumps(data)}</script></head><body>{body}</body>'


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"@type": "Article", "articleBody": "a <b>b</b><br>c &amp; d"}, "a b\nc & d"),
        ({"@graph": [{"@type": ["Product"], "description": "a shoe"}]}, "a shoe"),
        ({"@type": "Organization", "name": "Product", "description": "no"}, ""),
        ({"@type": "Product", "description": 3}, ""),
        ([[[]]], ""),
    ],
)
def test_declared(data: object, expected: str) -> None:
    assert declared_text([json.dumps(data).encode()]) == expected


def test_what_is_no_json_declares_nothing() -> None:
    assert declared_text([b'{"articleBody": ', b"[" * 100_000 + b"articleBody"]) == ""


def test_it_is_taken_where_the_page_shows_nothing() -> None:
    extract = Extract(engine="blocks")
    assert extract.text(page({"@type": "Article", "articleBody": BODY}).encode()) == BODY.strip()
    _, html, truth = labelled(2)
    both = html.replace("<body>", page({"@type": "Article", "articleBody": BODY * 20}) + "<body>")
    assert extract.text(both.encode()).split() == truth.split()
