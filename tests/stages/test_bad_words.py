"""Lists by language, the limits, and the draw."""

from pathlib import Path
from typing import Any

import pytest

from curate.document import Address, Document, Drop
from curate.errors import UserError
from stages.bad_words import BadWords


def page(text: str, **attributes: Any) -> Document:
    return Document(Address("web", "a.warc", 0), text=text, attributes=attributes)


@pytest.fixture
def lists(tmp_path: Path) -> dict[str, str]:
    for name, words in (("en", "drat\ndash it\n"), ("ja", "悪い\n"), ("any", "zut\n")):
        (tmp_path / name).write_text(words, "utf-8")
    return {"en": str(tmp_path / "en"), "ja": str(tmp_path / "ja"), "*": str(tmp_path / "any")}


def test_a_page_goes_with_one_word_more_than_may_be_and_stays_with_as_many(lists: dict[str, str]) -> None:
    text = page("Dash it, DRAT!", language="en")
    assert BadWords(lists=lists, max_bad_words=1).apply(text) == Drop("too_many_bad_words", 2, 1, "dash it")
    assert BadWords(lists=lists, max_bad_words=2).apply(text) is text
    assert BadWords(lists=lists).apply(page("drats", language="en")) == page("drats", language="en")


def test_a_page_goes_with_a_larger_share_than_may_be(lists: dict[str, str]) -> None:
    stage = BadWords(lists=lists, max_bad_words=None, max_bad_word_ratio=0.25)
    assert stage.apply(page("drat you me", language="en")) == Drop("too_large_share_of_bad_words", 1 / 3, 0.25, "drat")
    assert isinstance(stage.apply(page("drat you me too", language="en")), Document)


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [("drat zut", "en", 1), ("drat zut", "fr", 1), ("drat zut", None, 1), ("とても悪い日", "ja", 1), ("zuts", "fr", 0)],
)
def test_each_language_has_its_list_and_others_that_of_any(
    lists: dict[str, str], text: str, language: str | None, count: int
) -> None:
    assert BadWords(lists=lists).measure(page(text, language=language))["bad_words"] == count


def test_pages_without_a_list_pass_unmeasured(lists: dict[str, str]) -> None:
    foreign = page("drat", language="de")
    stage = BadWords(lists={"en": lists["en"]})
    assert set(stage.measure(foreign).values()) == {None} and stage.apply(foreign) is foreign


def test_a_share_of_the_pages_is_drawn_by_their_text(lists: dict[str, str]) -> None:
    pages = [page(f"drat {number}", language="en") for number in range(400)]
    stage = BadWords(lists=lists, keep_fraction=0.25)
    kept = [isinstance(stage.apply(one), Document) for one in pages]
    assert kept == [isinstance(stage.apply(one), Document) for one in pages]
    assert 60 <= sum(kept) <= 140  # 100 expected, standard deviation 8.7
    assert isinstance(BadWords(lists=lists, keep_fraction=1).apply(pages[0]), Document)


def test_a_missing_list_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone: can.t be read as a list"):
        BadWords(lists={"en": str(tmp_path / "gone")}).check([], [])
    with pytest.raises(ValueError, match="lists is empty"):
        BadWords(lists={}).check([], [])
