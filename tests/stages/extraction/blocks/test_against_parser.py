"""Blocks are those of a browser's parser, on made pages that leave out ends, quotes and case as authors do."""

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from resiliparse.parse.html import HTMLTree, NodeType

from stages.extraction.blocks.layout import block_texts
from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import stream
from stages.extraction.blocks.tags import INLINE, TAGS

INSIDE = {"ul": ("li",), "ol": ("li",), "dl": ("dt", "dd"), "table": ("tr",), "tr": ("td", "th")}
FIRST = {"ul": "<li>", "ol": "<li>", "dl": "<dd>", "table": "<tr><td>", "tr": "<td>"}
ANY = ("div", "section", "article", "p", "ul", "dl", "table", "h2", "blockquote", "pre", "figure", "aside", "x-box")
MAY_STAY_OPEN = ("li", "dt", "dd", "tr", "td", "th", "p")
LEAVES = ("p", "h2", "pre")  # which hold lines of text alone here
NOISE = (
    "<!-- <p>no -->",
    "<script>if (a < b) '<p>no</p>'</script>",
    "<style>p > a {}</style>",
    "<svg><path d='<'/></svg>",
)


class Made:
    """A page by chance: each element has text of its own in front, and most have others in them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.words = 0

    def text(self) -> str:
        self.words += 1
        word = f"w{self.words}"
        inline = self.random.choice(("b", "a", "span", "code"))
        forms = (word, f"<{inline}>{word}</{inline}>x", f"{word} 1 < 2 ", f"{word}&amp;{self.random.choice(NOISE)}y")
        return self.random.choice(forms)

    def element(self, name: str, depth: int) -> str:
        written = self.random.choice((name, name.upper()))
        attributes = self.random.choice(("", " class=a", ' id="a > b"', " title='\"'", ' data-x="<p>"', "\n hidden"))
        inside = "" if name in INSIDE else self.text()
        if depth and name not in LEAVES:
            kinds = INSIDE.get(name, ANY)
            inside += "".join(
                self.element(self.random.choice(kinds), depth - 1) for _ in range(self.random.randrange(1, 4))
            )
        elif name in INSIDE:
            inside = FIRST[name] + self.text()
        end = "" if name in MAY_STAY_OPEN and self.random.random() < 0.5 else f"</{written}>"
        return f"<{written}{attributes}>{inside}{end}"

    def page(self) -> str:
        return "<body>" + "".join(self.element(self.random.choice(ANY), 4) for _ in range(4))


def ours(html: str) -> list[tuple[str, str]]:
    blocks = page(stream(html.encode()))
    assert blocks is not None
    names = [TAGS[tag] for tag in blocks.elements.tag[blocks.above[0]].tolist()]
    return list(zip(names, ["".join(text.split()) for text in block_texts(blocks)]))


def theirs(html: str) -> list[tuple[str, str]]:
    """Runs of text in one element, by its name, "?" for those that are none of ours."""

    def texts(node: Any, around: Any) -> Iterator[tuple[int, str, str]]:
        for child in node.child_nodes:
            if child.type == NodeType.TEXT:
                yield around, "".join(child.text.replace("&", "&amp;").split()), ""
            elif child.tag not in ("script", "style", "svg"):
                inline = child.tag in INLINE
                if not inline:
                    number.append(child.tag if child.tag in TAGS else "?")
                yield from texts(child, around if inline else len(number) - 1)

    number = ["body"]
    body = HTMLTree.parse(html).body
    assert body is not None
    runs = groupby(((place, text) for place, text, _ in texts(body, 0) if text), lambda each: each[0])
    return [
        ("?" if number[place] == "body" else number[place], "".join(text for _, text in run)) for place, run in runs
    ]


@pytest.mark.parametrize("seed", range(60))
def test_the_same_blocks_in_the_same_elements(seed: int) -> None:
    html = Made(seed).page()
    assert ours(html) == theirs(html)
