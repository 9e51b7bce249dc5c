"""A page's bytes as source text that any parser can read."""

import struct

import pyarrow as pa

from curate.sources.charset import decode
from stages.extraction.last import last
from stages.extraction.markup import repaired

MARK = b"\xef\xbb\xbf"  # a byte order mark, which is no text
HEAD = 1024  # bytes in which UTF-16 without a mark is seen by its zeros
SWITCHES = (b"\x1b", b"~{", b"\0")  # in encodings whose bytes are all ASCII they begin other characters


@last
def decoded(html: bytes, charset: str | None) -> str:
    """The page decoded. The last page is kept, so that `prescreen` and `extract` share the work."""
    return decode(html, charset)[0]


@last
def encoded(html: bytes, charset: str | None) -> bytes:
    """The page in UTF-8, as `decoded` reads it; the same object where it is that already. The last page is kept."""
    marked = html.startswith(MARK) or b"\0" in html[:HEAD]
    other = marked or (html.isascii() and any(switch in html for switch in SWITCHES))
    return html if not other and is_utf8(html) else decode(html, charset)[0].encode("utf-8", "replace")


def is_utf8(html: bytes) -> bool:
    """Whether bytes are valid UTF-8; Arrow looks, in a tenth of the time of making a string of them."""
    borders = pa.py_buffer(struct.pack("=qq", 0, len(html)))
    try:
        pa.Array.from_buffers(pa.large_binary(), 1, [None, borders, pa.py_buffer(html)]).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def source_text(html: bytes, charset: str | None) -> str:
    """The page decoded and repaired; the same object as `decoded` where nothing was to be repaired."""
    return repaired(decoded(html, charset))
