"""Texts encoded unit by unit have the tokens of the whole text."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.export.tokenizer import Tokenizer
from curate.export.units import splits_into_units, units
from tests.export.tokenizers_made import all_byte_level, byte_level, of_words

SPACES = [" ", " ", " ", "\n", "  ", "\n\n", "\t", " \n", "\n ", "\u00a0", "\u2028", "\r\n", "\x1c", "\x85", " \t "]
WORDS = ["the", "It's", "'s", "12345", "river,", "...", "東京", "é", "e\u0301", "\u0301", "/", "a\u200bb"]
PIECES = st.one_of(st.sampled_from([*SPACES, *WORDS, "<|endoftext|>"]), st.text(max_size=3))
TEXTS = st.lists(PIECES, max_size=20).map("".join)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Tokenizer]:
    return [Tokenizer(path) for path in all_byte_level(tmp_path_factory.mktemp("tokenizers"))]


@given(TEXTS)
def test_units_joined_are_the_text(text: str) -> None:
    assert "".join(units(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ", [" "]),
        ("one two", ["one", " two"]),
        ("one\ntwo", ["one\n", "two"]),
        ("one  two", ["one  two"]),
        ("one\n\ntwo", ["one\n\ntwo"]),
        (" one two ", [" one", " two "]),
        ("one\n", ["one\n"]),
    ],
)
def test_a_unit_ends_only_at_one_space_or_after_one_line_feed(text: str, expected: list[str]) -> None:
    assert units(text) == expected


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_texts_have_the_tokens_that_the_library_gives_them(made: list[Tokenizer], texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    for tokenizer in made:
        assert tokenizer._by_units
        assert tokenizer.encode(texts) == tokenizer.encode_whole(texts)


def test_other_tokenizers_are_left_to_the_library(tmp_path: Path) -> None:
    def by_units(path: str) -> bool:
        return splits_into_units(json.loads(Path(path).read_text()))

    path = tmp_path / "tokenizer.json"
    assert by_units(byte_level(path, **{"<tool>": {"special": False}}))
    assert not by_units(byte_level(path, **{"two words": {"special": False}}))
    assert not by_units(byte_level(path, **{"strip": {"special": False, "lstrip": True}}))
    assert not by_units(byte_level(path, r"\s+|\w+|[^\w\s]+"))
    assert not by_units(of_words(path))


def test_what_is_remembered_is_bounded(made: list[Tokenizer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curate.export.tokenizer.KEPT", 3)
    tokenizer = made[0]
    for text in ("one two", "three four five six", "one two", "x" * 100):
        assert tokenizer.encode([text]) == tokenizer.encode_whole([text])
        assert len(tokenizer._known.tokens) <= 3
