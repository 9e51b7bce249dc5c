"""What elements are called, how that votes, and what is not shown."""

import pytest

from stages.extraction.blocks.names import LONG, Ballot, Called, hashes, hidden, votes
from stages.extraction.blocks.names import of as called_of
from stages.extraction.blocks.page import Page, page
from stages.extraction.blocks.stream import stream
from stages.extraction.blocks.words import number


def made(html: str) -> tuple[Page, Called]:
    blocks = page(stream(html.encode()))
    assert blocks is not None
    return blocks, called_of(blocks)


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('href="/" class="a b" data-class="no" id="c"', "a b c"),
        ("class='a\"b' id=c role = x", 'a"b c'),
        ('CLASS="a"', "a"),
        ("\nclass=\"a\"\tID='b'", "a b"),
        ('itemprop="articleBody"', "articleBody"),
        ('title="class=x"', ""),
        ('href="?id=3"', ""),
        ('class=""', ""),
        ("class=a", "a"),
        ("", ""),
        (f'class="{"x" * 1000}"', "x" * LONG),
        ('class="a>b" id="c<d"', "a>b c<d"),
    ],
)
def test_what_an_element_is_called(attributes: str, expected: str) -> None:
    _, called = made(f"<div><section {attributes}>text</section></div>")
    assert called.written(1) == expected
    assert called.written(0) == ""


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('hidden=""', True),
        ("hidden", True),
        ("hidden=true", True),
        ('aria-hidden="true"', True),
        ('style="color:red;display: none"', True),
        ("STYLE='visibility:hidden'", True),
        ('class="hidden"', False),
        ('style="display:block"', False),
        ('data-x="none"', False),
        ("", False),
        ('aria-hidden="false"', False),
    ],
)
def test_hidden(attributes: str, expected: bool) -> None:
    blocks, called = made(f"<p>a<div {attributes}><p>b</div><p>c")
    assert hidden(blocks, called).tolist() == [False, expected, False]


def test_votes_of_an_element_are_those_of_its_words() -> None:
    blocks, called = made('<div class="post sidebar other"><p>text</p></div>')
    cast = votes(blocks, called, Ballot({"post": 0.5, "sidebar": -0.3, "<p>": 0.2}))
    div, paragraph = (int(blocks.above[level, 0]) for level in (1, 0))
    assert (cast.mean[div], cast.least[div], cast.most[div]) == pytest.approx((0.1, -0.3, 0.5))
    assert (cast.tag[div], cast.tag[paragraph]) == (0.0, 0.2)


def test_a_ballot_with_other_votes() -> None:
    ballot = Ballot({"post": 0.5, "post-body": 0.1, "<p>": 0.2})
    other = ballot.but({"post-body": 0.4, "<p>": 0.3})
    for each, expected in ((ballot, (0.5, 0.1, 0.2)), (other, (0.5, 0.4, 0.3))):
        known = {int(word): vote for word, vote in zip(each.words, each.votes)}
        assert (known[number("post")], known[number("post-body")], max(each.tags)) == expected


def test_elements_of_the_same_words_have_the_same_number() -> None:
    blocks, called = made('<div class="item-1 a2">x</div><div class="item-22">y</div><div id=items>z</div><div>w</div>')
    numbers = hashes(blocks, called)[blocks.above[0]].tolist()
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 3
