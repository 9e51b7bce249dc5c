"""What the model is told of blocks, by hand for a small page."""

import numpy as np
import pytest

from stages.extraction.blocks import around
from stages.extraction.blocks import features as f
from stages.extraction.blocks.names import Ballot
from stages.extraction.blocks.page import Page, page
from stages.extraction.blocks.stream import stream

HTML = (
    '<meta property="og:type" content="article"><main class="post"><h1>Title here</h1>'
    "<p>One two three four five, six.</p><ul><li><a href=/>a link</a></ul></main>"
)
BALLOT = Ballot({"post": 0.5, "<p>": 0.2, "<main>": 0.1})


def described(html: str) -> tuple[Page, f.Described]:
    blocks = page(stream(html.encode()))
    assert blocks is not None
    return blocks, f.features(blocks, BALLOT)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("words", [2, 6, 2]),
        ("words-1", [0, 2, 6]),
        ("words+1", [6, 2, 0]),
        ("link", [0, 0, 1]),
        ("stops", [0, 1, 0]),
        ("pieces", [1, 1, 1]),
        ("in_main", [1, 1, 1]),
        ("in_li", [0, 0, 1]),
        ("tag0", [0, 0.2, 0]),
        ("name1", [0.5, 0.5, 0]),
        ("names_most", [0.5, 0.5, 0.5]),
        ("box_share0", [0.2, 0.6, 0.2]),
        ("box_prose0", [0, 1, 0]),
        ("at", [0, 1 / 3, 2 / 3]),
        ("before", [0, 2, 8]),
        ("after", [8, 2, 0]),
        ("from_title", [0, 1, 2]),
        ("from_longest", [-1, 0, 1]),
        ("alike_count", [1, 1, 1]),
        ("near_words4", [10, 10, 10]),
        ("page_words", [10, 10, 10]),
        ("page_p", [1, 1, 1]),
        ("graph_article", [1, 1, 1]),
        ("schema_product", [0, 0, 0]),
    ],
)
def test_features(name: str, expected: list[float]) -> None:
    _, made = described(HTML)
    assert made.matrix[f.NAMES.index(name)].tolist() == pytest.approx(expected, abs=1e-6)


def test_blocks_alike_are_of_one_group() -> None:
    _, made = described('<div class="post a1">x</div><div class="post a2">y</div><div class="side">z</div><p>w')
    first, second, third, fourth = made.group.tolist()
    assert first == second
    assert len({first, third, fourth}) == 3


def test_what_the_second_trees_see_of_the_first_ones() -> None:
    blocks, made = described(HTML)
    first = np.array([0.2, 0.9, 0.1])
    rows = dict(zip(around.NAMES, around.surroundings(blocks, made.group, first), strict=True))
    assert rows["first"].tolist() == pytest.approx(first)
    assert rows["first+1"].tolist() == pytest.approx([0.9, 0.1, -0.1])
    assert rows["first-2"].tolist() == pytest.approx([-0.1, -0.1, 0.2])
    assert rows["first_most"].tolist() == pytest.approx([0.9] * 3)
    weight = blocks.words + around.HALF_WORD
    assert rows["first_page"][0] == pytest.approx((first * weight).sum() / weight.sum())
    assert rows["first_box0"].tolist() == pytest.approx(first)  # each stands in an element of its own
    assert rows["first_box1"][:2].tolist() == pytest.approx([rows["first_page"][0]] * 2)  # all stand in <main>


def test_one_block_alone() -> None:
    blocks, made = described("word")
    assert np.isfinite(made.matrix).all()
    assert np.isfinite(around.surroundings(blocks, made.group, np.array([0.5]))).all()
