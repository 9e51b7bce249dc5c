"""Wrongly decoded text is mended; what only has another form stays, unless asked for."""

from typing import Any

import pytest

from curate.document import Address, Document
from stages.fix_unicode import FixUnicode


def fixed(text: str, **options: Any) -> Document:
    return FixUnicode(**options).apply(Document(Address("web", "a.warc", 0), text=text))


@pytest.mark.parametrize(("text", "after"), [("sÃ³lo", "sólo"), ("a &amp; b", "a & b"), ("donâ€™t", "don’t")])
def test_what_was_decoded_wrongly_is_mended(text: str, after: str) -> None:
    outcome = fixed(text)
    assert (outcome.text, outcome.attributes["unicode_fixed"]) == (after, True)


@pytest.mark.parametrize(
    ("text", "option", "after"),
    [
        ("“so”", {"uncurl_quotes": True}, '"so"'),
        ("ﬁn", {"fix_ligatures": True}, "fin"),
        ("ＡＢ", {"fix_width": True}, "AB"),
        ("a\r\nb", {"fix_line_breaks": True}, "a\nb"),
        ("e\u0301", {"normalization": "NFC"}, "é"),
    ],
)
def test_forms_stay_unless_asked_for(text: str, option: dict[str, Any], after: str) -> None:
    assert (fixed(text).text, fixed(text).attributes["unicode_fixed"]) == (text, False)
    assert fixed(text, **option).text == after


@pytest.mark.parametrize(
    ("how", "after"), [("auto", "<b>&amp;</b>"), ("always", "<b>&</b>"), ("never", "<b>&amp;</b>")]
)
def test_html_is_left_alone_where_there_is_markup(how: str, after: str) -> None:
    assert fixed("<b>&amp;</b>", unescape_html=how).text == after
