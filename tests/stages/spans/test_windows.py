"""Windows: equal where the tokens are, apart where they are not; tokens and where they stand."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.spans.windows import TOKEN, token_spans, tokens_of, windows, with_gap


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=12), max_size=6), st.integers(2, 9))
def test_windows_have_equal_hashes_where_their_tokens_are_equal(texts: list[list[str]], size: int) -> None:
    found = windows(texts, size)
    want = [tuple(text[at : at + size]) for text in texts for at in range(len(text) - size + 1)]
    assert found.counts.tolist() == [max(0, len(text) - size + 1) for text in texts]
    pairs = list(zip(found.keys.tolist(), found.checks.tolist()))
    assert len(pairs) == len(want) and len(set(pairs)) == len(set(want)) == len(set(zip(pairs, want)))
    assert len(set(found.checks.tolist())) == len(set(found.keys.tolist())) == len(set(want))


@pytest.mark.parametrize("size", [2, 3, 31, 32, 33, 50, 64])
def test_each_token_of_a_window_counts_and_so_does_their_order(size: int) -> None:
    base = [f"w{n}" for n in range(size)]
    changed = [[*base[:at], "x", *base[at + 1 :]] for at in range(size)]
    swapped = [[*base[:at], base[at + 1], base[at], *base[at + 2 :]] for at in range(size - 1)]
    found = windows([base, *changed, *swapped], size)
    assert len(set(found.keys.tolist())) == len(set(found.checks.tolist())) == 2 * size


def test_words_of_thue_and_morse_do_not_collide() -> None:
    """They break polynomial hashes modulo 2^64 from 2^11 tokens on, whatever the base."""
    word = [bin(n).count("1") % 2 for n in range(1 << 11)]
    texts = [[str(bit) for bit in word], [str(1 - bit) for bit in word]]
    assert len(set(windows(texts, 1 << 11).keys.tolist())) == 2


def test_low_bits_are_spread() -> None:
    """Partitions are made of keys, checks are cut to 32 bits: halves of a hash must be as good as the whole."""
    rng = Random(1)
    found = windows([[f"w{rng.randrange(1000)}" for _ in range(20_000)]], 5)
    for part in (found.keys & np.uint64(0xFFFFFFFF), found.keys >> np.uint64(32), found.checks & np.uint64(0xFFFFFFFF)):
        assert len(np.unique(part)) > 19_900


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab ,\n\t\u00a0\u3000\x1c\x85漢字かなไทย𠀋é"), max_size=30))
def test_tokens_stand_where_they_are_said_to(text: str) -> None:
    assert [text[start:end] for start, end in token_spans(text)] == tokens_of(text) == TOKEN.findall(text)


def test_letters_are_tokens_where_no_spaces_stand() -> None:
    assert tokens_of("das Wort 漢字x ไท") == ["das", "Wort", "漢", "字", "x", "ไ", "ท"]
    assert tokens_of("  ") == []


@pytest.mark.parametrize(
    ("text", "first", "behind", "left"),
    [
        ("a b c", 1, 2, "a c"),
        ("a b\nc", 1, 2, "a\nc"),
        ("a\nb c", 1, 2, "a\nc"),
        ("a b\n", 1, 2, "a"),
        ("a b c", 0, 2, "c"),
        ("  a b", 0, 2, ""),
        ("a\nb\nc", 1, 2, "a\nc"),
        ("漢字漢", 1, 2, "漢漢"),
    ],
)
def test_a_gap_goes_with_what_is_cut(text: str, first: int, behind: int, left: str) -> None:
    start, end = with_gap(text, token_spans(text), first, behind)
    assert text[:start] + text[end:] == left
