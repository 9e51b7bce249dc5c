"""Entries of a list in a text: whole words, phrases, marks."""

from pathlib import Path

import pytest

from stages.rules.word_lists import met, met_anywhere, word_list


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "list.txt").write_text("# comment\nDrat\ndash it\ndash it all\nx-rated\n@#!\n-ish\n", "utf-8")
    return str(tmp_path / "list.txt")


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("oh drat, drat!", ["drat", "drat"]),
        ("drats undrat drat_it", []),
        ("dash it all", ["dash it", "dash it all"]),
        ("dash  it, dash itself, undash it", []),
        ("x-rated, un x-ratedly", ["x-rated"]),
        ("@#!@#!", ["@#!", "@#!"]),
        ("so -ish", ["-ish"]),
        ("green-ish", []),
        ("", []),
    ],
)
def test_entries_are_met_as_whole_words(path: str, text: str, entries: list[str]) -> None:
    assert sorted(met(text, word_list(path))) == sorted(entries)


def test_anywhere_means_within_words_too(path: str) -> None:
    assert sorted(met_anywhere("undratted dash itself", path)) == ["dash it", "drat"]
