"""A page's bytes as tags and texts: what is cut out, where tags end, and what the page says of itself."""

import random

import numpy as np
import pytest

from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import BACK, FRONT, Stream, stream
from stages.extraction.blocks.tags import TAGS


def pieces(html: str) -> list[tuple[str, str]]:
    """The tags, an end tag with its slash, and the text that follows each; the one in front of the page has no name."""
    made: Stream = stream(html.encode())
    names = ["/" * (step < 0) + TAGS[tag] for tag, step in zip(made.tag.tolist(), made.step.tolist())]
    texts = [made.source[begin:end].decode() for begin, end in zip(made.end.tolist(), made.next.tolist())]
    return list(zip(["", *names[1:]], texts))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("text", [("", "text")]),
        ("", [("", "")]),
        ("a<p>b</p>c", [("", "a"), ("p", "b"), ("/p", "c")]),
        ("<P CLASS=a>b</P >", [("", ""), ("p", "b"), ("/p", "")]),
        ("1 < 2 <3 <b>4", [("", "1 < 2 <3 "), ("b", "4")]),
        ('<p title="a > b">c', [("", ""), ("p", "c")]),
        ("<p title='>' id=x>c", [("", ""), ("p", "c")]),
        ("<p title=it's>c<i title='>'>d", [("", ""), ("p", "c"), ("i", "d")]),
        ("<p title=\"it's\">c<i title='\">'>d", [("", ""), ("p", "c"), ("i", "d")]),
        ('<p title="<b>">c', [("", ""), ("p", "c")]),
        ('<p title="a>b', [("", ""), ("p", "b")]),  # a quote that never closes is none
        ("<p>a<b", [("", ""), ("p", "a")]),
        ("a<b <i>c", [("", "a"), ("b", "c")]),
        ("<x-y>a</x-y><article-x>", [("", ""), ("?", "a"), ("/?", ""), ("?", "")]),
        ("<!doctype html><?php x ?>a</>b", [("", ""), ("?", ""), ("?", "a"), ("/?", "b")]),
        (
            "<blockquote>a</blockquote><figcaption>b</figcaption>",
            [
                ("", ""),
                ("blockquote", "a"),
                ("/blockquote", ""),
                ("figcaption", "b"),
                ("/figcaption", ""),
            ],
        ),
        ("<h1>a</h1><h7>b", [("", ""), ("h1", "a"), ("/h1", ""), ("?", "b")]),
    ],
)
def test_tags_and_texts(html: str, expected: list[tuple[str, str]]) -> None:
    assert pieces(html) == expected


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("a<!-- <p> -->b", "ab"),
        ("a<!-->b", "ab"),
        ("a<!-- b", "a"),
        ("a<script>'<p>'</script>b", "ab"),
        ("a<SCRIPT>x</Script >b", "ab"),
        ("a<script>b", "a"),
        ("a<style>p{}</style>b", "ab"),
        ("a<svg><title>x</title></svg>b", "ab"),
        ("a<svg/>b<svg>c</svg>d", "abd"),
        ("a<title>x</title>b", "ab"),
        ("a<select><option>x</select>b", "ab"),
        ("<title>x</title><p>before</p><body>a", "<body>a"),
        ("<!--<body>--><body>a<body>b", "<body>a<body>b"),
    ],
)
def test_what_no_reader_sees_is_cut_out(html: str, left: str) -> None:
    assert stream(html.encode()).source == FRONT + left.encode() + BACK


@pytest.mark.parametrize("name", ["textarea", "title", "svg", "select"])
def test_what_is_never_closed_hides_no_text(name: str) -> None:
    assert pieces(f"a<{name}>b<p>c")[-1] == ("p", "c")


@pytest.mark.parametrize("head", ["<head>", "<html><HEAD lang=en>", "<html><head><title>t</title><meta charset=utf-8>"])
def test_a_head_that_is_never_closed_hides_no_text(head: str) -> None:
    for html in (f"{head}<p>text", f"{head}<p>text</p></html>"):
        made = page(stream(html.encode()))
        assert made is not None
        assert made.count == 1
    assert page(stream(f"{head}text</head>".encode())) is None
    assert page(stream(b"<!-- <head> --><p>text")) is not None
    assert page(stream(b"<p>text<head")) is not None


def test_what_a_page_says_of_itself() -> None:
    said = stream(
        b'<meta property="og:type" content="article"><script type="application/ld+json">{"a": 1}</script><body>'
        b"<script>no</script><script type='application/ld+json'>[]</script>"
    ).said
    assert b'content="article"' in said.graph
    assert said.scripts == [b'{"a": 1}', b"[]"]
    assert stream(b"<p>text").said == (b"", [])


def test_columns_are_equally_long_and_places_rise_whatever_the_bytes() -> None:
    random_ = random.Random(4)
    parts = [*"<>'\"= xé/", "<p", "</p>", "<!--", "-->", "<script>", "</script>", "<a href="]
    for _ in range(2_000):
        html = "".join(random_.choice(parts) for _ in range(random_.randrange(30)))
        made = stream(html.encode())
        count = len(made.tag)
        assert {len(column) for column in (made.begin, made.end, made.next, made.step, made.inline)} == {count}
        borders = np.stack([made.begin, made.end, made.next], axis=1).ravel()
        assert (np.diff(borders) >= 0).all()
        assert (made.begin[1:] == made.next[:-1]).all()
