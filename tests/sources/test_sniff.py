"""What is taken for a page, what for text, what for neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.sources.sniff import MAGIC, sniff

PAGE = b"<!DOCTYPE html><html><body><p>words</p></body></html>"


@pytest.mark.parametrize(
    ("body", "content_type", "kind"),
    [
        (PAGE, "text/html", "html"),
        (PAGE, "", "html"),
        (PAGE, "text/plain", "html"),
        (PAGE, "application/json", "html"),
        (PAGE, "application/octet-stream", "html"),
        (PAGE, "image/png", "binary"),
        (b"\xef\xbb\xbf  \n<!-- c --> " + PAGE, "", "html"),
        (b"<?xml version='1.0'?>" + PAGE, "application/xml", "html"),
        (b"<p>no frame, just a part", "text/html", "html"),
        (b"<p>no frame, just a part", "", "html"),
        (b"Just words.\nAnd more words.", "text/plain", "text"),
        (b"Just words.\nAnd more words.", "", "text"),
        (b"Just words.", "text/html", "html"),
        (b"words <div class=x> in markup </div>", "", "html"),
        (b"%PDF-1.4 " + PAGE, "text/html", "binary"),
        (b"\x89PNG\r\n\x1a\n", "", "binary"),
        (b"GIF89a..", "text/html", "binary"),
        (b"\0\0\0\x18ftypmp42", "", "binary"),
        (b"RIFF1234WEBP", "text/html", "binary"),
        (b"{\\rtf1 words}", "", "binary"),
        (b'{"a": 1}', "application/json", "binary"),
        (b'{"a": 1}', "", "binary"),
        (b"a { color: red }", "text/css", "binary"),
        (b"<?xml version='1.0'?><rss></rss>", "application/rss+xml", "binary"),
        (b"<?xml version='1.0'?><urlset></urlset>", "text/xml", "binary"),
        (b"words", "application/octet-stream", "binary"),
        (bytes(range(256)) * 4, "text/html", "binary"),
        (bytes(range(256)) * 4, "", "binary"),
        (PAGE + b"\0" * 40, "text/html", "html"),
        (b"<p>one \0 stray \x07 mark among words</p>", "text/html", "html"),
        (PAGE.decode().encode("utf-16-le"), "text/html", "html"),
        (PAGE.decode().encode("utf-16"), "", "html"),
        ("Только слова по-русски".encode("cp1251"), "text/plain", "text"),
        (b"", "text/html", "html"),
        (b"", "", "text"),
    ],
)
def test_kinds(body: bytes, content_type: str, kind: str) -> None:
    assert sniff(body, content_type) == kind


@given(st.sampled_from(MAGIC), st.binary(max_size=99), st.sampled_from(["", "text/html", "text/plain"]))
def test_a_magic_number_beats_every_header(magic: bytes, rest: bytes, content_type: str) -> None:
    assert sniff(magic + rest, content_type) == "binary"


@given(st.binary(max_size=2000), st.text(max_size=20))
def test_any_bytes_have_a_kind(body: bytes, content_type: str) -> None:
    assert sniff(body, content_type) in ("html", "text", "binary")


def test_a_row_of_comments_takes_no_exponential_time() -> None:
    """Each comment may have ended at any later `-->`: 2^200 ways, were they all tried."""
    assert sniff(b"<!---->" * 200 + b"x", "text/html") == "html"
    assert sniff(b"<!---->" * 190 + b"<html>", "application/octet-stream") == "html"


@pytest.mark.parametrize(
    "feed",
    [
        b'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>a</title></channel></rss>',
        b'<!-- made by hand --><feed xmlns="http://www.w3.org/2005/Atom"><title>a</title></feed>',
        b'<atom:feed xmlns:atom="http://www.w3.org/2005/Atom">',
        b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>',
        b'<?xml version="1.0"?>\n<opml version="2.0">',
        b"<rdf:RDF xmlns:rdf='x'><channel/></rdf:RDF>",
    ],
)
def test_a_feed_is_no_page_whatever_it_is_served_as(feed: bytes) -> None:
    assert {sniff(feed, kind) for kind in ("text/html", "text/plain", "text/xml", "")} == {"binary"}
