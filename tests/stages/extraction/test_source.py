"""A page in UTF-8 is what is decoded, and no copy where it is UTF-8 already."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.sources.charset import CODECS, decode
from stages.extraction.source import encoded

GERMAN = "<p>Die größte Mühle stand früher am Fluss; Äpfel und Nüsse lagen im Hof."
CHINESE = "<p>河边有一座古老的磨坊，我们每天晚上都走到那里去看水。"
ODD = [b"", b"<p>plain", b"<p>a\0b", b"<p>\xff\xfe", b"<p>\xed\xa0\x80", b"a\x1b$B", b"\xef\xbb\xbf" + GERMAN.encode()]


@pytest.mark.parametrize("declared", [None, "utf-8", "windows-1251", "utf-16", "hz-gb-2312", "iso-2022-jp"])
@pytest.mark.parametrize("codec", ["utf-8", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_text_in_any_encoding(codec: str, declared: str | None) -> None:
    html = GERMAN.encode(codec)
    assert encoded(html, declared) == decode(html, declared)[0].encode("utf-8", "replace")


@pytest.mark.parametrize("declared", [None, "utf-8", "hz-gb-2312", "iso-2022-jp"])
@pytest.mark.parametrize("html", [*ODD, CHINESE.encode("hz"), CHINESE.encode("gb18030")])
def test_odd_bytes(html: bytes, declared: str | None) -> None:
    assert encoded(html, declared) == decode(html, declared)[0].encode("utf-8", "replace")


@given(st.binary(max_size=60), st.sampled_from([None, *CODECS]))
def test_any_bytes(html: bytes, declared: str | None) -> None:
    assert encoded(html, declared) == decode(html, declared)[0].encode("utf-8", "replace")


def test_what_is_utf8_is_not_copied() -> None:
    html = CHINESE.encode()
    assert encoded(html, None) is html
