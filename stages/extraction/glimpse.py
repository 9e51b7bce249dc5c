"""Some text of a page from its bytes alone: no tree is built, and what lies elsewhere on the page is never read."""

import re
from html import unescape

# What stands between two tags, or the beginning of something whose inside is no text.
PIECE = re.compile(rb">\s*+([^<\s][^<]*+)<|<(?:(script|style|svg|template)\b|!--)", re.IGNORECASE)
WITHIN = ((b"<script", b"</script"), (b"<!--", b"-->"))


def body(html: bytes) -> int:
    """Where the body begins; 0 where no tag says so."""
    return max(html.find(b"<body"), 0)


def middle(html: bytes) -> int:
    """Halfway through the body's bytes, which is not halfway through its text."""
    return (body(html) + len(html)) // 2


def glimpse(html: bytes, at: int, chars: int) -> str:
    """The first `chars` characters of text from a place of a page in UTF-8 on; less where the page ends before.

    White space is one space. What only a parser takes for text, such as a tag that never ends, may be missing.
    """
    at = _outside(html, at)
    parts: list[str] = []
    left = chars
    while left > 0 and (found := PIECE.search(html, at)) is not None:
        if found[1] is None:
            close = b"</" + found[2] if found[2] else b"-->"
            at = html.find(close, found.end()) + 1
            if not at:
                break
            continue
        at = found.end() - 1  # the bracket that ends it may begin a script
        text = found[1].decode("utf-8", "replace")
        text = " ".join((unescape(text) if "&" in text else text).split())
        parts.append(text)
        left -= len(text) + 1
    return " ".join(parts)[:chars]


def _outside(html: bytes, at: int) -> int:
    """The place, or the end of the script or comment that it lies in."""
    for begin, end in WITHIN:
        close = html.find(end, at)
        if close >= 0 and html.find(begin, at, close) < 0:
            at = close
    return at
