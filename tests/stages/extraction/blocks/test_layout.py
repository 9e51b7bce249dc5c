"""The text of chosen blocks has the structure of the page."""

import numpy as np
import pytest

from stages.extraction.blocks.layout import text
from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import stream


def laid_out(html: str, **options: bool) -> str:
    made = page(stream(f"<body>{html}</body>".encode()))
    assert made is not None
    return text(made, np.ones(made.count, bool), **options)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>Title</h1><p>One.<p>Two.", "Title\n\nOne.\n\nTwo."),
        ("<p>a\n  line   of\tspaces", "a line of spaces"),
        ("<p>first<br>second", "first\nsecond"),
        ("<ul><li>one<li>two<ul><li>inner</ul></ul>", "- one\n- two\n  - inner"),
        ("<ol><li><p>a</p><p>b</p><li>c</ol>", "- a\nb\n- c"),
        ("<pre>a\n  b\n</pre><pre>c</pre>", "a\n  b\n\nc"),
        ("<p>x<pre>\ta &lt;b&gt;</pre>y", "x\n\n\ta <b>\n\ny"),
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", "a | b\nc | d"),
        ("<table><tr><td><p>a<p>b<td>c</table>", "a\nb\nc"),
        ("<p>a &amp; b&nbsp;c", "a & b c"),
        ("<p>a <b>b</b> <i>c</i>d<template>no</template> e", "a b cd e"),
        ("<p>a&#8217;b &copy; &amp;amp; &lt;p&gt;", "a\u2019b \u00a9 &amp; <p>"),
        ("<div>glued</div><div>not</div>", "glued\n\nnot"),
    ],
)
def test_structure(html: str, expected: str) -> None:
    assert laid_out(html) == expected


def test_tables_and_links_are_options() -> None:
    html = '<p>See <a href="/a?b=1&amp;c=2">this</a> page.<table><tr><td>cell</table>'
    assert laid_out(html, tables=False) == "See this page."
    assert (
        laid_out("<p>a <a href=/b>c</a>d <a HREF='e'>f</a><template>no</template>", links=True) == "a [c](/b)d [f](e)"
    )
    assert laid_out(html, links=True) == "See [this](/a?b=1&c=2) page.\n\ncell"
