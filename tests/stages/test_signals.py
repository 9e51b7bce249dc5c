"""Signals as columns and measures; nothing is dropped."""

from pathlib import Path

import pytest

from curate.document import Address, Document
from curate.errors import UserError
from stages.rules.signals import DOCUMENT, LINES
from stages.signals import Signals

PAGE = Document(Address("web", "a.warc", 0), text="One two.\nThree drat.\n", attributes={"language": "en"})


def test_signals_are_columns_and_the_text_stays() -> None:
    kept = Signals().apply(PAGE)
    assert isinstance(kept, Document) and kept.text == PAGE.text
    assert set(kept.attributes) == {"language", *DOCUMENT}
    assert kept.attributes["rps_doc_word_count"] == 4


def test_signals_of_lines_only_when_asked_for() -> None:
    kept = Signals(lines=True).apply(PAGE)
    assert isinstance(kept, Document) and set(kept.attributes) == {"language", *DOCUMENT, *LINES}
    assert kept.attributes["rps_lines_num_words"] == [2, 2]


def test_lists_are_by_language(tmp_path: Path) -> None:
    (tmp_path / "en").write_text("drat\n")
    lists = {"en": str(tmp_path / "en")}
    measured = Signals(bad_words=lists, stop_words=lists).measure(PAGE)
    assert (measured["rps_doc_ldnoobw_words"], measured["rps_doc_stop_word_fraction"]) == (1, round(1 / 6, 8))
    foreign = PAGE.annotate(language="de")
    assert Signals(bad_words=lists).measure(foreign)["rps_doc_ldnoobw_words"] is None
    with pytest.raises(UserError, match=r"gone: can.t be read as a list"):
        Signals(stop_words={"en": str(tmp_path / "gone")}).check([], [])


def test_nothing_is_dropped() -> None:
    assert Signals.reasons == ()
    assert isinstance(Signals().apply(PAGE.with_text("")), Document)
