"""Words of classes and ids, without their digits, and what is not shown."""

import pytest

from stages.extraction.blocks.names import Ballot, hides, named, names_of, votes, words
from stages.extraction.blocks.names import of as called_of
from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import stream


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("post-body", ["post", "body", "post-body"]),
        ("postBody", ["post", "body", "post-body"]),
        ("menu-item-2687 menu-item-12", ["menu", "item", "menu-item"]),
        ("x 12 a1", []),
        ("", []),
        ("wordwordwordwordwordword", []),
    ],
)
def test_words(value: str, expected: list[str]) -> None:
    assert list(words(value)) == expected


def test_a_value_of_megabytes_is_cut() -> None:
    assert len(names_of("name " * 1_000_000)) == 1
    assert len(names_of(" ".join(f"n{'x' * number}" for number in range(100)))) == 16


def test_attributes_as_the_parser_writes_them() -> None:
    assert named(' href="/" class="a b" data-class="no" id="c"') == "a b c"
    assert named(' href="/"') == ""


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (' hidden=""', True), (' aria-hidden="true"', True), (' style="color:red;display: none"', True),
        (' class="hidden"', False), (' style="display:block"', False), (' data-x="none"', False), ("", False),
    ],
)  # fmt: skip
def test_hidden(attributes: str, expected: bool) -> None:
    assert hides(attributes) is expected


def test_votes_of_an_element_are_those_of_its_words() -> None:
    tags = stream('<div class="post sidebar other"><p>text</p></div>')
    made = None if tags is None else page(tags)
    assert made is not None
    cast = votes(made, called_of(made), Ballot({"post": 0.5, "sidebar": -0.3, "<p>": 0.2}))
    div, paragraph = (int(made.above[0, level]) for level in (1, 0))
    assert (cast.mean[div], cast.least[div], cast.most[div]) == pytest.approx((0.1, -0.3, 0.5))
    assert (cast.tag[div], cast.tag[paragraph]) == (0.0, 0.2)
