"""substring_dedup: what is cut is what lies in a window that stands elsewhere, held to sets of windows."""

from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from tests.engine import run_it, settings, table, write_jsonl


def cut(folder: Path, texts: list[str], **options: Any) -> dict[int, str]:
    """The texts that a run leaves, by place."""
    path = write_jsonl(folder / "in.jsonl", texts, number=list(range(len(texts))))
    source = {"crawl": {"path": str(path), "columns": ["number"]}}
    run_it(settings(source, folder / "out", stages=[{"substring_dedup": options}]), slice_bytes=500, partitions=3)
    return {row["number"]: row["text"] for row in table(folder / "out", "shards").to_pylist()}


def plain(texts: list[str], size: int, keep: str) -> dict[int, str]:
    """The same by all windows of all texts: a token goes where a window of it stands elsewhere (before, for first)."""
    words = [text.split() for text in texts]
    places: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for number, some in enumerate(words):
        for at in range(len(some) - size + 1):
            places.setdefault(tuple(some[at : at + size]), []).append((number, at))
    repeated = [place for same in places.values() if len(same) > 1 for place in (same[1:] if keep == "first" else same)]
    gone = {(number, at + k) for number, at in repeated for k in range(size)}
    left = {n: " ".join(w for at, w in enumerate(some) if (n, at) not in gone) for n, some in enumerate(words)}
    return {number: text for number, text in left.items() if text}


@examples(max_examples=40, deadline=None)
@given(
    st.lists(st.text("ab", min_size=1, max_size=14), min_size=1, max_size=6),
    st.integers(2, 5),
    st.sampled_from(["first", "none"]),
)
def test_what_stays_is_what_no_window_repeats(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int, keep: Literal["first", "none"]
) -> None:
    """Of two letters nearly all repeats: runs that overlap themselves, that touch, that stand in three documents."""
    spaced = [" ".join(text) for text in texts]
    got = cut(tmp_path_factory.mktemp("sub"), spaced, min_tokens=size, keep=keep)
    assert got == plain(spaced, size, keep)


def test_a_run_of_fifty_words_is_found_and_one_of_49_is_not(tmp_path: Path) -> None:
    rng = Random(5)
    shared = [f"s{n}" for n in range(50)]

    def around(middle: list[str]) -> str:
        return " ".join([*(f"w{rng.random()}" for _ in range(30)), *middle, *(f"w{rng.random()}" for _ in range(30))])

    texts = [around(shared), around(shared[1:]), around(shared), around(shared[:-1])]
    left = cut(tmp_path, texts)
    assert {number for number in left if left[number] != texts[number]} == {2}
    assert "s1" not in left[2].split() and len(left[2].split()) == 60
    (row,) = table(tmp_path / "out", "cuts").to_pylist()
    assert texts[2][row["start"] : row["end"]].split() == shared and row["matched_offset"] == 0


def test_a_phrase_said_over_and_over_stays_once(tmp_path: Path) -> None:
    assert cut(tmp_path, ["a b c " * 6 + "d"], min_tokens=4) == {0: "a b c d"}


def test_letters_are_tokens_in_scripts_without_spaces(tmp_path: Path) -> None:
    texts = ["今日は天気がいい。𠀋散歩", "昨日も天気がいい。𠀋昼寝"]
    assert cut(tmp_path, texts, min_tokens=6)[1] == "昨日も昼寝"


def test_no_span_crosses_from_one_document_into_the_next(tmp_path: Path) -> None:
    texts = ["a b", "c d", "a b c d"]
    assert cut(tmp_path, texts, min_tokens=4) == dict(enumerate(texts))


@pytest.mark.parametrize(
    ("reason", "options", "dropped", "passes"),
    [
        ("repeated_span", {"action": "drop"}, "x a b c y", "z a b y"),
        ("nothing_left", {}, "a b c", "a b c x"),
        ("too_much_cut", {"max_cut_ratio": 0.5}, "a b c x", "a b c xyzxyz"),
        ("too_few_words_left", {"min_words_left": 2}, "a b c x", "a b c u v"),
        ("too_few_characters_left", {"min_characters_left": 3}, "a b c xy", "a b c xyz"),
    ],
)
def test_what_drops_a_document(tmp_path: Path, reason: str, options: dict[str, Any], dropped: str, passes: str) -> None:
    left = cut(tmp_path, ["q a b c", dropped, passes], min_tokens=3, **options)
    assert list(left) == [0, 2]
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert row["reason"] == reason and row["matched_offset"] == 0 and row["words"] == len(dropped.split())
