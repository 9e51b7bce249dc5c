"""line_dedup: which lines stay, held to a dictionary; what a cut document must still have."""

from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from stages.line_dedup import LineDedup
from tests.engine import run_it, settings, table, write_jsonl


def cut(folder: Path, texts: list[str], sites: list[str] | None = None, **options: Any) -> dict[int, str]:
    """The texts that a run leaves, by place."""
    urls = [f"http://{site}/{n}" for n, site in enumerate(sites or ["a.example"] * len(texts))]
    path = write_jsonl(folder / "in.jsonl", texts, url=urls, number=list(range(len(texts))))
    source = {"crawl": {"path": str(path), "url": "url", "columns": ["number"]}}
    run_it(settings(source, folder / "out", stages=[{"line_dedup": options}]), slice_bytes=2000)
    return {row["number"]: row["text"] for row in table(folder / "out", "shards").to_pylist()}


def plain(texts: list[str], sites: list[str], keep: Any, scope: str) -> dict[int, str]:
    """The same with a dictionary of where each line stands."""
    places: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for number, text in enumerate(texts):
        for at, line in enumerate(text.split("\n")):
            places[sites[number] if scope == "domain" else "", line.lower()].append((number, at))
    gone: set[tuple[int, int]] = set()
    for same in places.values():
        most = keep["max_count"] if isinstance(keep, dict) else 1
        gone |= set(same[1:] if keep == "first" else same if len(same) > most else [])
    left = {
        number: "\n".join(line for at, line in enumerate(text.split("\n")) if (number, at) not in gone)
        for number, text in enumerate(texts)
    }
    return {number: text for number, text in left.items() if text}


@pytest.mark.parametrize("keep", ["first", "none", {"max_count": 3}])
@pytest.mark.parametrize("scope", ["domain", "corpus"])
def test_lines_that_stay_are_those_a_dictionary_keeps(tmp_path: Path, keep: Any, scope: str) -> None:
    rng = Random(f"{keep} {scope}")
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
    texts = ["\n".join(rng.choice(letters) * 2 for _ in range(rng.randrange(1, 9))) for _ in range(40)]
    sites = [rng.choice(["a.example", "b.example"]) for _ in texts]
    assert cut(tmp_path, texts, sites, keep=keep, scope=scope) == plain(texts, sites, keep, scope)


def test_digits_case_and_space_do_not_tell_lines_apart_unless_asked(tmp_path: Path) -> None:
    texts = ["Page 3 of 9\none", "two\n page  4 OF 9"]
    for name in ("same", "exact"):
        (tmp_path / name).mkdir()
    assert cut(tmp_path / "same", texts) == {0: "Page 3 of 9\none", 1: "two"}
    assert cut(tmp_path / "exact", texts, exact=True) == dict(enumerate(texts))


def test_paragraphs_are_cut_as_a_whole(tmp_path: Path) -> None:
    texts = ["a\nb\n\nc", "x\n\na\nb\n\ny", "a\n\nb"]
    assert cut(tmp_path, texts, unit="paragraph") == {0: "a\nb\n\nc", 1: "x\n\ny", 2: "a\n\nb"}


def test_short_lines_and_lines_that_say_nothing_stay(tmp_path: Path) -> None:
    texts = ["home\n|---|\none two three", "home\n|---|\none two three\nend"]
    assert cut(tmp_path, texts, min_words=2)[1] == "home\n|---|\nend"


def test_a_document_without_a_url_is_compared_within_its_source(tmp_path: Path) -> None:
    for name in "ab":
        write_jsonl(tmp_path / f"{name}.jsonl", ["menu\nfirst " + name, "menu\nsecond " + name], url=["", ""])
    sources = {name: str(tmp_path / f"{name}.jsonl") for name in "ab"}
    run_it(settings(sources, tmp_path / "out", stages=["line_dedup"]))
    kept = table(tmp_path / "out", "shards")["text"].to_pylist()
    assert kept == ["menu\nfirst a", "second a", "menu\nfirst b", "second b"]


@pytest.mark.parametrize(
    ("reason", "options", "dropped", "passes"),
    [
        ("nothing_left", {}, "menu", "menu\nx"),
        ("too_few_words_left", {"min_words_left": 3}, "menu\none two", "menu\none two three"),
        ("too_few_sentences_left", {"min_sentences_left": 2}, "menu\nOne is it.", "menu\nSo it is.\nTwo is it."),
    ],
)
def test_what_drops_a_document_that_was_cut(
    tmp_path: Path, reason: str, options: dict[str, Any], dropped: str, passes: str
) -> None:
    """A document that was not cut is not asked: the first one stays whatever it has."""
    assert list(cut(tmp_path, ["menu", dropped, f"{passes} more"], **options)) == [0, 2]
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert row["reason"] == reason and row["matched_offset"] == 0 and row["words"] == len(dropped.split())


def test_options_that_make_no_sense_are_refused() -> None:
    read = TypeAdapter(LineDedup).validate_python
    assert read({"keep": {"max_count": 6}}).keep.max_count == 6
    for options in ({"keep": {"max_count": 0}}, {"keep": "last"}, {"unit": "word"}, {"min_words": -1}):
        with pytest.raises(ValidationError):
            read(options)
