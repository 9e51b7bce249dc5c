"""Prescreen: each reason at its limit, the audit, and no config in which it drops what later stages keep."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from stages.extract import Extract
from stages.gopher import Gopher
from stages.language import Language
from stages.prescreen import Prescreen

ENGLISH = "The ferry crew keeps the letters of that winter under the arches, and with them they have to wait."
GERMAN = "Die größte Mühle im Tal gehörte früher einem Bäcker, der jeden Morgen vor Sonnenaufgang das Wehr öffnete."
OFF = {"min_words": None, "min_stop_words": None, "languages": None}


def document(*paragraphs: str, offset: int = 0, script: str = "") -> Document:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    html = f"<html><head><title></title>{script}</head><body>{body}</body></html>"
    return Document(Address("test", "a.warc.gz", offset), html=html.encode(), charset="utf-8")


def test_a_text_passes_untouched() -> None:
    doc = Document(Address("test", "a.jsonl", 0), text="short")
    assert Prescreen().apply(doc) is doc


def test_a_page_that_nothing_speaks_against_passes_untouched() -> None:
    doc = document(*[ENGLISH] * 5)
    assert Prescreen().apply(doc) is doc


def test_too_few_words() -> None:
    stage = Prescreen(**{**OFF, "min_words": 20, "audit": None})
    doc = document("word " * 12, "word " * 8)
    assert stage.apply(doc) is doc
    assert stage.apply(document("word " * 12, "word " * 7)) == Drop("prescreened_words", 19, 20)


def test_too_few_stop_words_are_counted_once_each_in_any_case() -> None:
    stage = Prescreen(**{**OFF, "min_stop_words": 2, "audit": None})
    doc = document("The harbour AND nothing else")
    assert stage.apply(doc) is doc
    assert stage.apply(document("The the THE harbour")) == Drop("prescreened_stop_words", 1, 2)


def test_another_language_must_be_sure_in_both_parts() -> None:
    stage = Prescreen(**{**OFF, "languages": ("en",), "audit": None, "chars": 200})
    drop = stage.apply(document(*[GERMAN] * 8))
    assert isinstance(drop, Drop)
    assert (drop.reason, drop.limit, drop.cause) == ("prescreened_language", 0.5, "de")
    assert drop.value is not None and 0.5 <= drop.value <= 1.0
    half_german = [document(*[GERMAN] * 4, *[ENGLISH] * 8), document(*[ENGLISH] * 4, *[GERMAN] * 8)]
    for page in (*half_german, document("42 " * 90)):
        assert stage.apply(page) is page
    assert isinstance(Prescreen(**{**OFF, "languages": ("de",)}).apply(document(*[GERMAN] * 8)), Document)
    unsure = Prescreen(**{**OFF, "languages": ("en",), "audit": None, "min_confidence": 1.0})
    assert isinstance(unsure.apply(document(*[GERMAN] * 8)), Document)


def test_a_limit_itself_passes_and_none_turns_a_rule_off() -> None:
    assert Prescreen(**OFF).judge("") is None
    assert Prescreen(**{**OFF, "min_words": 0, "min_stop_words": 0}).judge("") is None


def test_text_in_json_ld_counts() -> None:
    script = f'<script type="application/ld+json">{json.dumps({"@graph": [{"articleBody": ENGLISH * 4}]})}</script>'
    stage = Prescreen(audit=None)
    assert stage.apply(document("Please wait.")) == Drop("prescreened_words", 2, 50)
    page = document("Please wait.", script=script)
    assert stage.apply(page) is page


def test_the_audit_lets_a_fixed_share_through_and_says_so() -> None:
    pages = [document("short", offset=offset) for offset in range(2_000)]
    results = [Prescreen(audit=0.05).apply(page) for page in pages]
    audited = [result for result in results if isinstance(result, Document)]
    assert 60 <= len(audited) <= 140  # 100 expected, standard deviation 9.7
    assert {doc.attributes["prescreen_audit"] for doc in audited} == {"prescreened_words"}
    assert [Prescreen(audit=0.05).apply(page) for page in reversed(pages)] == results[::-1]
    assert all(isinstance(Prescreen(audit=None).apply(page), Drop) for page in pages[:100])
    assert all(isinstance(Prescreen(audit=1.0).apply(page), Document) for page in pages[:100])


@pytest.mark.parametrize(
    ("fields", "after", "fault"),
    [
        ({}, {}, None),
        ({"min_words": 51}, {}, "min_words: 51 is stricter than the 'gopher' after it"),
        ({"min_words": 10}, {"min_words": 10}, None),
        ({}, {"min_words": 49}, "min_words"),
        ({}, {"min_words": None}, "min_words"),
        ({}, {"min_stop_words": 1}, "min_stop_words"),
        ({}, {"annotate": True}, "min_words"),
        ({}, {"stop_words": ("the", "a")}, "stop_words: lacks"),
        ({}, {"keep": ("en", "de")}, "languages: stricter"),
        ({"languages": ("en", "de")}, {"keep": ("en", "de")}, "min_words: 'gopher' judges en alone"),
        ({"languages": ("en", "de")}, {"keep": ("en", "de"), "languages": None}, None),
        ({}, {"keep": "all"}, "languages: stricter"),
        ({"languages": None}, {"keep": "all"}, "min_words: 'gopher' judges en alone"),
        ({"languages": None, "min_words": None, "min_stop_words": None}, {"keep": "all"}, None),
    ],
)
def test_it_may_not_be_stricter_than_what_follows(fields: dict[str, Any], after: dict[str, Any], fault: str) -> None:
    language = Language(keep=after.pop("keep", ("en",)))
    following = [("extract", Extract()), ("language", language), ("gopher", Gopher(**after))]
    stage = Prescreen(**fields)
    if fault is None:
        stage.check([], following)
    else:
        with pytest.raises(ValueError, match=fault):
            stage.check([], following)


def test_it_needs_followers_and_stands_before_extract() -> None:
    with pytest.raises(ValueError, match="must stand before 'extract'"):
        Prescreen().check([("extract", Extract())], [])
    with pytest.raises(ValueError, match="which keeps all"):
        Prescreen().check([], [("extract", Extract()), ("gopher", Gopher())])
    Prescreen(languages=None).check([], [("extract", Extract()), ("gopher", Gopher())])
    with pytest.raises(ValueError, match="min_words: 50 is stricter"):
        Prescreen().check([], [("language", Language())])


def test_fields_are_checked() -> None:
    adapter = TypeAdapter(Prescreen)
    stage = adapter.validate_json('{"min_words": null, "languages": ["en", "de"], "audit": 0.5}', strict=True)
    assert stage == Prescreen(min_words=None, languages=("en", "de"), audit=0.5)
    for wrong in ('{"audit": 2}', '{"languages": []}', '{"min_words": -1}', '{"min_confidence": "x"}', '{"chars": 0}'):
        with pytest.raises(ValidationError):
            adapter.validate_json(wrong, strict=True)
    assert Prescreen.reasons == ("prescreened_words", "prescreened_stop_words", "prescreened_language")
