"""The edits that have a name, each with what it takes and what it leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stages.rewriting import built_in as edits


@pytest.mark.parametrize(
    ("text", "after", "count"),
    [
        ("See https://host.org/a?b=1#c, and more.", "See , and more.", 1),
        ("(www.host.org/)", "()", 1),
        ("FTP://host.org/x_y-z.", ".", 1),
        ("a host.org or http:// or awww.org", "a host.org or http:// or awww.org", 0),
    ],
)
def test_links(text: str, after: str, count: int) -> None:
    assert edits.links(text) == (after, count)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("/* Copyright 2020\n Jo */\nint a;", "int a;"),
        ("# All rights reserved\n# Jo\nimport x\n# copyright", "import x\n# copyright"),
        ("// SPDX-License-Identifier: MIT\ncode", "code"),
        ("/* a comment */ code, copyright Jo", "/* a comment */ code, copyright Jo"),
        ("# A heading\n\nText.", "# A heading\n\nText."),
        ("Copyright 2020 Jo", "Copyright 2020 Jo"),
    ],
)
def test_copyright_heads(text: str, after: str) -> None:
    assert edits.copyright_heads(text) == (after, int(text != after))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Text of it.\n\\begin{thebibliography}{9}\nItem", "Text of it."),
        ("Text of it, long enough.\n\nReferences\n[1] Jo", "Text of it, long enough."),
        ("## References\n[1] Jo\nthen a text that goes on for long after it", None),
        ("Text. We give references here.", None),
    ],
)
def test_bibliographies(text: str, after: str | None) -> None:
    assert edits.bibliographies(text) == ((text, 0) if after is None else (after, 1))


@pytest.mark.parametrize(("text", "after", "count"), [("a xxxx b", "a b", 1), ("a xxx b", "a xxx b", 0)])
def test_long_words(text: str, after: str, count: int) -> None:
    assert edits.long_words(text, 3) == (after, count)


@pytest.mark.parametrize(
    ("text", "after", "count"),
    [
        ("It is. It was. It is! So.", "It is. It was. So.", 1),
        ("It is.\nIt is.\n\nIt was.", "It is.\n\nIt was.", 1),
        ("水曜日の火。火。水曜日の火。", "水曜日の火。火。", 1),
        ("No end here. no end here", "No end here. ", 1),
        ("See e.g. it, e.g. this, at 3.14 or 3.14.", "See e.g. it, e.g. this, at 3.14 or 3.14.", 0),
        ("https://a.org/b.c https://a.org/b.c", "https://a.org/b.c https://a.org/b.c", 0),
        ("Yes. No. Yes.", "Yes. No. Yes.", 0),
        ('He said "it is." Then he said "it is." Then.', 'He said "it is." Then he said "it is." Then.', 0),
    ],
)
def test_repeated_sentences(text: str, after: str, count: int) -> None:
    assert edits.repeated_sentences(text, 4) == (after, count)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a \u00a0\tb", "a b"),
        ("a  \r\n  b", "a\nb"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("a\u2028b\u200bc", "a\nbc"),
        (" a ", "a"),
        ("a\n \n \nb", "a\n\nb"),
    ],
)
def test_white_space(text: str, after: str) -> None:
    assert edits.white_space(text) == (after, 1)


@given(st.text(st.sampled_from("ab. \n\t!\r\u00a0")))
def test_white_space_and_sentences_are_done_after_once(text: str) -> None:
    tidy = edits.white_space(text)[0]
    assert edits.white_space(tidy) == (tidy, 0)
    once = edits.repeated_sentences(text, 1)[0]
    assert edits.repeated_sentences(once, 1) == (once, 0)
