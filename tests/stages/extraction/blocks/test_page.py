"""The stream of a page's tags, its blocks, and the tree above them."""

import pytest

from stages.extraction.blocks.layout import block_texts
from stages.extraction.blocks.page import Page, page
from stages.extraction.blocks.stream import stream
from stages.extraction.blocks.tags import TAGS


def blocks(html: str) -> Page:
    made = page(stream(html.encode()))
    assert made is not None
    return made


def above(html: str) -> list[list[str]]:
    made = blocks(html)
    return [[TAGS[tag] for tag in made.elements.tag[row].tolist() if tag] for row in made.above.T]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<p>One <b>bold</b> line<p>Two", ["One bold line", "Two"]),
        ("<div>a<br>b</div>c", ["a", "b", "c"]),
        ("<p>a<svg><title>no</title><path d=x /></svg>b", ["ab"]),
        ("<p>a<script>'<p>no</p>'</script>b<!-- <p>no --><style>p{}</style>", ["ab"]),
        ("<select><option>no</select><p>yes<template><p>no</template>", ["yes"]),
        ('<p title="a > b">yes', ["yes"]),
        ("<noscript><p>a forum without scripts</noscript>", ["a forum without scripts"]),
        ("<table><tr><td>a<td>b", ["a", "b"]),
        ("<x-y>a</x-y><x-y>b</x-y>", ["a", "b"]),
        ("a<object><p>no</p></object>b<video>no</video>", ["ab"]),
        ("a<template><p>no</p></template> c", ["a c"]),
    ],
)
def test_blocks_end_where_a_line_does(html: str, texts: list[str]) -> None:
    assert [text.strip() for text in block_texts(blocks(f"<body>{html}</body>"))] == texts


@pytest.mark.parametrize("html", ["", "   ", "<body></body>", "<!-- x -->", "<script>x</script>", "<svg>x</svg>"])
def test_a_page_without_text_has_no_blocks(html: str) -> None:
    assert page(stream(html.encode())) is None


def test_the_elements_around_a_block() -> None:
    html = "<main><h1>T</h1><ul><li>one<li>two</ul>x<table><tr><td>a</table></main>"
    assert above(html) == [
        ["h1", "main"],
        ["li", "ul", "main"],
        ["li", "ul", "main"],
        ["main"],
        ["td", "tr", "table", "main"],
    ]


def test_what_stands_in_an_element() -> None:
    made = blocks("<div><p>a<p>b</div><section><p>c</section>")
    inside = {
        TAGS[tag]: (first, last)
        for tag, first, last in zip(
            made.elements.tag.tolist(), made.elements.first.tolist(), made.elements.last.tolist()
        )
        if TAGS[tag] != "p"
    }
    assert inside == {"div": (0, 2), "section": (2, 3), "?": (0, 3)}  # the last is the page itself


def test_words_and_links() -> None:
    made = blocks("<p>two words <a href=/>three in links</a><p>漢字")
    assert made.words.tolist() == [5, 2]
    assert made.linked.tolist() == [3, 0]


def test_any_depth() -> None:
    depth = 100_000
    made = blocks("<div>" * depth + "deep")
    assert made.count == 1
    assert made.depth[0] > depth
