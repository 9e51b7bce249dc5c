"""Words of names, and that their hashes are those of the words."""

import random

import pytest

from stages.extraction.blocks.words import hashed, number, words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("post-body", ["post", "body", "post-body"]),
        ("postBody", ["post", "body", "post-body"]),
        ("menu-item-2687 menu-item-12", ["menu", "item", "menu-item"] * 2),
        ("a-very-long-name-of-five", ["very", "long", "name", "of", "five", "very-long-name-of"]),
        ("x 12 a1", []),
        ("", []),
        ("wordwordwordwordwordword", []),
    ],
)
def test_words(value: str, expected: list[str]) -> None:
    assert list(words(value)) == expected


def test_hashes_are_those_of_the_words_wherever_they_stand() -> None:
    random_ = random.Random(1)
    letters = "abCDz-_ \t1é"
    values = ["".join(random_.choice(letters) for _ in range(random_.randrange(25))) for _ in range(500)]
    spoken = hashed([value.encode() for value in values])
    found: list[list[int]] = [[] for _ in values]
    for word, value in zip(spoken.word.tolist(), spoken.value.tolist()):
        found[value].append(word)
    assert [sorted(each) for each in found] == [sorted(map(number, words(value))) for value in values]
