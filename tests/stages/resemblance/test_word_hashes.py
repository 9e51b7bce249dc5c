"""word_hashes: xxhash is the oracle, whatever the lengths, the neighbours and the writing system."""

import random
import sys
import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.text import normalize
from stages.resemblance import word_hashes
from stages.resemblance.word_hashes import Words, hashes_of


def plain(texts: Sequence[str]) -> tuple[list[int], list[int]]:
    """Hashes of all words and the texts' numbers of words, one by one."""
    words = [normalize(text).split() for text in texts]
    hashes = [xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass")) for each in words for word in each]
    return hashes, [len(each) for each in words]


def given_as(text: str) -> Words:
    return text if text.isascii() else text.split()


def check(texts: Sequence[str]) -> None:
    hashes, counts = hashes_of([given_as(text) for text in texts])
    assert (hashes.tolist(), counts.tolist()) == plain(texts)


def test_every_length_alone_and_among_others() -> None:
    rng = random.Random(1)
    alphabet = "".join(chr(code) for code in range(33, 127))
    words = ["".join(rng.choices(alphabet, k=length)) for length in range(1, 300)]
    for word in words:
        check([word])
        check(["", word, " ", word + " " + word])
    rng.shuffle(words)
    check([" ".join(words)])
    check([" ".join(rng.choices(words[:20], k=3)) for _ in range(50)])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(st.one_of(st.sampled_from("aAzZ0 \t\x1c\x0b.-"), st.characters()), max_size=40), max_size=8))
def test_any_texts(texts: list[str]) -> None:
    check(texts)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.text("aI e\u0301\u0307\u00ad\u200b\u00a0\u2028\u201d", max_size=30).map(lambda t: "plain words " * 9 + t)
    )
)
def test_mostly_ascii_texts(texts: list[str]) -> None:
    check(texts)


@pytest.mark.parametrize("piece", [1, 7, 64])
def test_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(word_hashes, "PIECE", piece)
    rng = random.Random(2)
    words = ["".join(rng.choices("abC", k=rng.randrange(1, 25))) for _ in range(300)]
    check([" ".join(words), "  x  ", "a" * 200, "", " ".join(words[:3]) + "\u00e9"])


def test_white_space_of_ascii_is_that_of_split() -> None:
    for code in range(128):
        check([f"ab{chr(code)}cd"])


def test_lower_case_before_the_marks_compose_is_the_same() -> None:
    """Mostly-ASCII texts are lowered byte by byte first: no mark composes otherwise with a capital."""
    marks = [chr(code) for code in range(sys.maxunicode) if unicodedata.combining(chr(code))]
    assert len(marks) > 800
    for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
        for mark in marks:
            assert normalize(capital + mark) == normalize(capital.lower() + mark)


def test_the_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_hashes, "MEMO_WORDS", 5)
    texts = [f"w\u00f6rt{number} \u00e4" for number in range(50)]
    check(texts)
    assert len(word_hashes._HASHES) <= 5


def test_nothing() -> None:
    for texts in ([], [""], ["", " "]):
        hashes, counts = hashes_of(texts)
        assert hashes.tolist() == [] and counts.tolist() == [0] * len(texts)
    assert hashes_of([["\u200b"], ["a"]])[1].tolist() == [0, 1]
    assert hashes_of([["a"]])[0].dtype == np.uint64
