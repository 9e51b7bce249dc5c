"""Extract: clean text, the same for a page wherever it stands, and no page lost to what parsers stumble over."""

import random
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from curate.document import Address, Document, Drop
from curate.text import JOINER, MOST_MARKS
from stages.extract import Extract
from stages.extraction import article
from stages.extraction.article import TextOptions, article_text, plain_text
from stages.extraction.markup import repaired
from stages.extraction.memo import Extracted, Memo
from stages.extraction.visible import json_ld_text, visible_text

SENTENCES = (
    "The glass workshop keeps seventeen jars of honey behind the town hall when the snow finally melts.",
    "A retired baker has collected the stone steps at the edge of the forest during the autumn holidays.",
    "The regional museum will share the old loom beside the weekly market, and nobody complained.",
    "An old orchard wants to replace a hand drawn calendar along the canal because the first one was lost.",
    "The string quartet continues to mend an unusual collection of buttons near the ferry landing.",
    "The tram depot was asked to count the iron gate in a former mill with the help of eleven neighbours.",
)
MODES = ("full", "fast", "auto")


def page(*paragraphs: str, title: str = "A note from the valley") -> str:
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs or SENTENCES)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<style>p {color: red}</style><script>var a = "<p>not a paragraph</p>";</script></head>\n'
        '<body><nav class="menu"><a href="/">Home</a> <a href="/about">About</a></nav>\n'
        f'<main><article class="post"><h1>{title}</h1>\n{body}\n</article></main>\n'
        '<div id="comments"><p>First comment of a reader that nobody asked for.</p></div>'
        "<footer><p>Contact</p></footer></body></html>"
    )


def document(html: str | bytes | None, charset: str | None = "utf-8", text: str = "") -> Document:
    body = html.encode() if isinstance(html, str) else html
    return Document(Address("test", "a.warc.gz", 0), html=body, charset=charset, text=text)


def extracted(html: str | bytes, charset: str | None = "utf-8", **fields: Any) -> str:
    result = Extract(**fields).apply(document(html, charset))
    return result.text if isinstance(result, Document) else result.reason


RULES = [*({"mode": mode} for mode in MODES), {"engine": "resiliparse"}]


@pytest.fixture(params=[*RULES, {"engine": "blocks"}], ids=str)
def fields(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(request.param)


@pytest.mark.parametrize("fields", RULES, ids=str)
def test_the_main_text_and_nothing_else(fields: dict[str, Any]) -> None:
    text = extracted(page(), **fields)
    lines = [line for line in text.splitlines() if line]
    assert lines[0] == "A note from the valley"
    assert lines[1:] == list(SENTENCES)


def test_a_text_passes_untouched() -> None:
    doc = document(None, text="kept <as> it is\u0000")
    assert Extract().apply(doc) is doc


@pytest.mark.parametrize("html", [b"", b"   \n", b"<html><body></body></html>", b"<!-- only a comment -->", b"\x00"])
def test_no_text(html: bytes, fields: dict[str, Any]) -> None:
    assert Extract(**fields).apply(document(html)) == Drop("no_text", 0, 1)
    assert Extract.reasons == ("no_text", "unsure")


@pytest.mark.parametrize("fields", RULES, ids=str)
def test_line_breaks_of_blocks_and_preformatted_text_survive(fields: dict[str, Any]) -> None:
    code = "def area(r):\n    pi = 3.14\n    return pi * r * r"
    text = extracted(page(*SENTENCES[:3], f"A listing:</p><pre>{code}</pre><p>{SENTENCES[3]}"), **fields)
    assert code in text
    assert SENTENCES[0] + "\n" in text


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("&#3;", ""),
        ("&#0;", ""),
        ("&#x3;", ""),
        ("&#xD800;", ""),
        ("&#xDFFF;", ""),
        ("&#55296;", ""),
        ("&#x110000;", ""),
        ("&#99999999999999999999;", ""),
        ("&#xFFFF;", ""),
        ("&#11;", " "),
        ("&#146;", "’"),
        ("&#x80;", "€"),
        ("&#129;", ""),
        ("&#44032;", "&#44032;"),
        ("&#57344;", "&#57344;"),
        ("&#x1F600;", "&#x1F600;"),
        ("&#34;", "&#34;"),
        ("&#10;", "&#10;"),
        ("&#00039;", "&#00039;"),
        ("&#3", ""),
        ("&amp;#3;", "&amp;#3;"),
        ("&#xZ;", "&#xZ;"),
    ],
)
def test_references_to_no_character(reference: str, expected: str) -> None:
    assert repaired(f"a{reference}z") == f"a{expected}z"


def test_characters_that_no_parser_takes_go() -> None:
    for code in (*range(0x20), 0x7F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF):
        expected = chr(code) if chr(code) in "\t\n\r" else " " if code in (0x0B, 0x0C) else ""
        assert repaired(f"ä{chr(code)}z") == f"ä{expected}z"
    assert repaired("ä\u0085\u2028\U0001f600") == "ä\u0085\u2028\U0001f600"


def test_a_reference_of_a_million_digits() -> None:
    assert repaired("&#" + "9" * 10**6 + ";end") == "end"


def test_control_characters_and_surrogates_cut_nothing(fields: dict[str, Any]) -> None:
    bad = "Zero\x00byte, bell\x07, escape \x1b[0m, delete\x7f and vertical\x0btab sit in this line of the report."
    entities = "Entities &#0; &#3; &#xD800; &#xDFFF; &#x110000; should not break the row that holds them."
    text = extracted(page(*SENTENCES[:3], bad, entities, *SENTENCES[3:]), **fields)
    assert "Zerobyte, bell, escape [0m, delete and vertical tab sit in this line of the report." in text
    assert "should not break the row that holds them." in text
    for sentence in SENTENCES:
        assert sentence in text
    assert not set(text) & set(map(chr, [*range(9), *range(11, 32), 127, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]))
    text.encode("utf-8")


def test_surrogate_bytes_become_valid_text(fields: dict[str, Any]) -> None:
    html = page(*SENTENCES[:4], "A pair \ud83d\ude00 in the middle and a lone \ud83d one, as some writers store them.")
    text = extracted(html.encode("utf-8", "surrogatepass"), **fields)
    text.encode("utf-8")
    assert SENTENCES[3] in text
    assert "in the middle and a lone" in text


def test_text_is_nfc(fields: dict[str, Any]) -> None:
    decomposed = unicodedata.normalize("NFD", "Die größte Mühle gehörte früher einem Bäcker in diesem Tal.")
    text = extracted(page(*SENTENCES, decomposed), **fields)
    assert unicodedata.normalize("NFC", decomposed) in text
    assert unicodedata.is_normalized("NFC", text)


def test_charsets_in_header_and_in_meta() -> None:
    sentence = "Die größte Mühle im Tal gehörte früher einem Bäcker, Äpfel und Nüsse wurden dort verkauft."
    html = page(sentence, *SENTENCES)
    meta = html.replace('charset="utf-8"', 'charset="windows-1252"').encode("cp1252")
    assert sentence in extracted(meta, None)
    assert sentence in extracted(html.replace('<meta charset="utf-8">', "").encode("utf-16-le"), "utf-16le")


@pytest.mark.parametrize("depth", [100, 254, 255, 256, 600, 950])
def test_deep_nesting_loses_nothing(depth: int, fields: dict[str, Any]) -> None:
    body = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
    text = extracted(f"<html><body>{'<div>' * depth}{body}{'</div>' * depth}</body></html>", **fields)
    for sentence in SENTENCES:
        assert sentence in text


def shared_pages() -> Iterator[str]:
    """Pages of which every third has the same three paragraphs, the case that makes deduplication remember."""
    source = random.Random(7)
    for number in range(24):
        shared = SENTENCES[:3] if number % 3 == 0 else ()
        yield page(*shared, *source.choices(SENTENCES[3:], k=4), f"Page {number} ends here, with words of its own.")


def test_a_page_gives_the_same_text_alone_and_after_others(fields: dict[str, Any]) -> None:
    stage = Extract(memo_bytes=None, **fields)
    pages = list(shared_pages())
    forward = [stage.text(html.encode(), "utf-8") for html in pages]
    backward = [stage.text(html.encode(), "utf-8") for html in reversed(pages)][::-1]
    again = [stage.text(html.encode(), "utf-8") for html in pages]
    assert forward == backward == again
    assert all(SENTENCES[1] in text for text in forward[::3])


def test_the_memo_changes_no_byte(fields: dict[str, Any]) -> None:
    pages = [*shared_pages(), "", *shared_pages()]
    without, small, large = (
        [Extract(memo_bytes=size, **fields).apply(document(html)) for html in pages] for size in (None, 3_000, 10**6)
    )
    assert without == small == large


def test_the_memo_tells_charsets_and_options_apart() -> None:
    html = page(*SENTENCES, "Prei\u00dfe und \u00c4pfel stehen in dieser Zeile ganz am Ende der Seite.")
    body = html.replace('<meta charset="utf-8">', "").encode("cp1252")
    stage = Extract()
    western = stage.apply(document(body, "windows-1252"))
    cyrillic = stage.apply(document(body, "windows-1251"))
    assert isinstance(western, Document) and isinstance(cyrillic, Document)
    assert "Preiße" in western.text
    assert "Preiße" not in cyrillic.text
    table = page(*SENTENCES, f"</p><table><tr><td>{'A cell of a table with some words. ' * 3}</td></tr></table><p>")
    assert "A cell of a table" in extracted(table, tables=True)
    assert "A cell of a table" not in extracted(table, tables=False)


def test_the_memo_is_bounded_in_bytes() -> None:
    memo = Memo(1_000)
    for number in range(10):
        memo.put(bytes([number]), Extracted("x" * 100, None))
        assert memo.get(bytes([0])) == ("x" * 100, None)  # used again and again, so it stays
    assert memo.size <= 1_000
    assert memo.get(bytes([1])) is None
    memo.put(b"large", Extracted("x" * 2_000, None))
    assert memo.get(b"large") is None
    assert memo.size == sum(200 + len(found.text) for found in memo.results.values())
    memo.put(b"wide", Extracted("ä" * 100, 0.5))
    texts = [found.text for found in memo.results.values()]
    assert memo.size == sum(200 + len(text) * (1 if text.isascii() else 4) for text in texts) <= 1_000


def two_frames(first: int, second: int) -> str:
    """A page with so many paragraphs in a frame that looks like the article, and in one that does not."""
    frames = ["".join(f"<p>{number}. {SENTENCES[number % 6]}</p>" for number in range(n)) for n in (first, second)]
    return f"<html><body><div class='article-content'>{frames[0]}</div><div class='main-text'>{frames[1]}</div>"


def plainly(source: str, options: TextOptions) -> str:
    return plain_text(source, article._extractor(options))


@pytest.mark.parametrize("run", [article_text, plainly])
def test_auto_takes_full_where_fast_finds_little(run: Any) -> None:
    short, long = two_frames(36, 240), two_frames(36, 80)
    text = {(mode, html): run(html, TextOptions(mode)) for mode in MODES for html in (short, long)}
    assert len(text["fast", short]) < len(text["full", short])
    assert text["auto", short] == text["full", short]
    assert text["auto", long] == text["fast", long]


@pytest.mark.parametrize("favor", ["none", "precision", "recall"])
@pytest.mark.parametrize("mode", ["full", "fast"])
def test_the_lean_cascade_gives_the_plain_one_s_text(favor: str, mode: str) -> None:
    pages = [*shared_pages(), *odd_pages()]
    for links in (False, True):
        options = TextOptions(mode, favor, links=links)
        for html in pages:
            assert article_text(html, options) == plainly(html, options), html


def odd_pages() -> Iterator[str]:
    """Layouts that take trafilatura's other ways: lists, tables, teasers, JSON-LD, no paragraphs, readability."""
    body = " ".join(SENTENCES)
    yield page("Too short.")
    yield f"<html><body><div class='sidebar'>{body}</div><div id='main'>{body}<br>{body}</div></body></html>"
    yield f"<html><body><div id='footer'><p>{body}</p></div><div class='teaser'><p>{body}</p></div></body></html>"
    yield f"<html><body><table><tr><td class='text'>{body}</td><td>{body}</td></table><ul><li>x</ul></body></html>"
    spans = "".join(f"<span>{sentence}</span><hr>" for sentence in SENTENCES)
    yield f"<html><body><div class='Main-content'>{spans}</div></body></html>"
    yield f"<html><body><div id='x' class='cookie-notice'>{body}</div><p style='display:none'>{body}</p>{body}"
    yield f"<html><body>{'<p><a href=/x>a link</a></p>' * 30}<div class='comment-list'><p>{body}</p></div>"
    yield (
        '<html><head><script type="application/ld+json">{"@type": "NewsArticle", "articleBody": "'
        f'{body}"}}</script></head><body><div class="loading">please wait</div></body></html>'
    )
    yield f"<html><body><div aria-hidden='true'>{body}</div><section class='infinite-scroll'><p>{body}</p></section>"
    yield f"<html><body class='post'><div class='entry-content share-bar'><p>{body}</p></div><iframe src='x'></iframe>"
    yield f"<html><body><aside><p>{body}</p><p>{body}</p></aside><nav><p>{body}</p></nav><form>x</form></body></html>"
    yield f"<html><body><form id='f'><div id='nav' class='content'>{body}</div><textarea>{body}</textarea></form>"


def test_an_unknown_trafilatura_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(article, "version", lambda name: "2.9.0")
    article._cascade.cache_clear()
    assert article._cascade() is plain_text
    assert extracted(page(), memo_bytes=None).splitlines()[1:] == list(SENTENCES)
    article._cascade.cache_clear()


def test_text_in_json_ld_is_text() -> None:
    html = next(p for p in odd_pages() if "articleBody" in p)
    assert SENTENCES[0] in extracted(html)
    assert SENTENCES[5] in json_ld_text(html.encode())
    assert visible_text(html) == "please wait"
    assert json_ld_text(b"<script type='application/ld+json'>{broken</script>") == ""
    deep = "[" * 100_000
    assert json_ld_text(f"<script type='application/ld+json'>{deep}</script>".encode()) == ""


def test_options_are_checked() -> None:
    adapter = TypeAdapter(Extract)
    stage = adapter.validate_json('{"mode": "auto", "memo_bytes": null}', strict=True)
    assert stage == Extract(mode="auto", memo_bytes=None)
    for wrong in ('{"mode": "slow"}', '{"engine": "x"}', '{"favor": true}', '{"memo_bytes": -1}', '{"tables": 1}'):
        with pytest.raises(ValidationError):
            adapter.validate_json(wrong, strict=True)


@pytest.mark.parametrize("mode", MODES)
def test_a_run_of_marks_is_bounded_before_it_is_ordered(mode: str) -> None:
    marks = "".join(chr(0x300 + number % 70) for number in range(400))
    for text in (f"a{marks}", "a" + "".join(f"&#{ord(mark)};" for mark in marks)):
        found = article_text(page(*SENTENCES, f"{SENTENCES[0]} {text}"), TextOptions(mode))
        assert found.count(JOINER) >= 400 // MOST_MARKS - 1
