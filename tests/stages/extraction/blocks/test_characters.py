"""Characters by kind and words, of many texts in UTF-8 at once."""

import unicodedata

import numpy as np
import pytest

from stages.extraction.blocks.characters import (
    COMMA,
    DIGIT,
    IDEOGRAPH,
    LOWER,
    NOTHING,
    POINT,
    SPACE,
    STOP,
    SYMBOL,
    UPPER,
    count,
    kinds_of,
)


def counted(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    written = [text.encode() for text in texts]
    return count(b"".join(written), np.array([len(text) for text in written]))


def test_kinds() -> None:
    counts, words = counted("Añ 1,-", "漢字。", "", "| \U0001f600x", "б")
    assert counts[[LOWER, UPPER, DIGIT, SPACE, STOP, COMMA, POINT, IDEOGRAPH, SYMBOL], 0].tolist() == [
        1,
        1,
        1,
        1,
        0,
        1,
        1,
        0,
        0,
    ]
    assert counts[IDEOGRAPH].tolist() == [0, 2, 0, 0, 0]
    assert counts[STOP].tolist() == [0, 1, 0, 0, 0]
    assert counts.sum(0).tolist() == [6, 3, 0, 4, 1]
    assert words.tolist() == [2, 2, 0, 1, 1]


def test_words_end_with_their_text() -> None:
    assert counted("ab", "cd", " e", "f g")[1].tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("text", "words", "characters"),
    [("caf&eacute;s", 1, 5), ("a&nbsp;b", 2, 3), ("don&#8217;t", 2, 5), ("&lt;b&gt;", 1, 3), ("a & b &zz", 3, 9)],
)
def test_references_are_what_they_stand_for(text: str, words: int, characters: int) -> None:
    counts, found = counted(text, "next")
    assert (found.tolist(), counts.sum(0).tolist()) == ([words, 1], [characters, 4])


def test_each_character_has_one_kind() -> None:
    text = "".join(chr(code) for code in range(1, 0x11000, 7) if unicodedata.category(chr(code)) != "Cs")
    kinds = kinds_of(text.encode())
    assert int((kinds != NOTHING).sum()) == len(text)
