"""What a body is, by its bytes first and by its Content-Type second: a web page, plain text, or neither.

The magic numbers are those of the WHATWG MIME Sniffing Standard (sections 6 and 7), and some of formats that
crawls are full of.
"""

import re
from typing import Literal

Kind = Literal["html", "text", "binary"]

HEAD_BYTES = 1445  # what the MIME Sniffing Standard reads of a resource
MAGIC = (
    b"%PDF-", b"%!PS-Adobe", b"\x89PNG\r\n", b"GIF87a", b"GIF89a", b"\xff\xd8\xff", b"PK\x03\x04", b"PK\x05\x06",
    b"Rar!\x1a\x07", b"7z\xbc\xaf", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"OggS\0", b"ID3",
    b"\xff\xfb", b"\xff\xf3", b"\x7fELF", b"wOFF", b"wOF2", b"OTTO", b"\0asm", b"FWS", b"CWS", b"\0\0\x01\0",
    b"{\\rtf", b"\xd0\xcf\x11\xe0", b"fLaC", b"MThd", b"II*\0", b"MM\0*", b"\x1aE\xdf\xa3", b"FLV\x01", b"SQLite f",
    b"\0\0\0\x0cjP", b"WARC/1.", b"\xca\xfe\xba\xbe", b"8BPS",
)  # fmt: skip
PAGE = re.compile(
    rb"(?:(?><!--.*?-->)|<\?xml[^>]*+>|\s)*+<(?:!doctype\s+html|html|head|body|title|meta|script|h1|div|table|p|a|br"
    rb"|center|font|style|b|iframe|link|article|main|section|span|ul|ol|form|img)\b",
    re.IGNORECASE | re.DOTALL,
)
WHOLE_PAGE = re.compile(
    rb"(?:(?><!--.*?-->)|<\?xml[^>]*+>|\s)*+<(?:!doctype\s+html|html|head)\b", re.IGNORECASE | re.DOTALL
)
FEED = re.compile(
    rb"(?:(?><!--.*?-->)|<[?!][^>]*+>|\s)*+<(?:rss|feed|rdf:rdf)[\s>]", re.IGNORECASE | re.DOTALL
)
MARKUP = re.compile(rb"<(?:html|body|div|p|a\s+href|table|span|h[1-6]|br|article|section)\b[^<]*>", re.IGNORECASE)
CONTROLS = bytes([*range(0x00, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
PAGE_TYPES = frozenset(
    {"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "text/x-server-parsed-html"}
)
TEXT_TYPES = frozenset({"text/plain", "text/markdown", "text/x-markdown", "text/x-rst", "text/x-web-markdown"})
UNKNOWN_TYPES = frozenset({
    "", "application/octet-stream", "application/x-octet-stream", "unknown/unknown", "application/unknown", "*/*",
    "text/*", "text", "html", "none", "null", "(null)", "binary/octet-stream", "text/xml", "application/xml",
})  # fmt: skip


def sniff(body: bytes, content_type: str) -> Kind:
    """`html`, `text` or `binary` (which stands for everything that holds no page: images, PDF, JSON, styles)."""
    head = body[:HEAD_BYTES]
    if head.startswith(MAGIC) or head[4:8] == b"ftyp" or (head[:4] == b"RIFF" and head[8:12] != b""):
        return "binary"
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff")) or _wide(head)
    flat = head.replace(b"\0", b"") if wide else head
    flat = flat.removeprefix(b"\xef\xbb\xbf").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    if WHOLE_PAGE.match(flat) and content_type.partition("/")[0] not in ("image", "audio", "video", "font"):
        return "html"
    if FEED.match(flat):
        return "binary"  # RSS and Atom, whatever they are served as
    controls = len(flat) - len(flat.translate(None, CONTROLS))
    # A page may hold stray control characters; noise of them is no text (1 in 10 already is far beyond any page).
    if controls * 10 > len(flat):
        return "binary"
    if content_type in PAGE_TYPES:
        return "html"
    if content_type in TEXT_TYPES:
        return "text" if controls * 50 <= len(flat) else "binary"
    if content_type in UNKNOWN_TYPES and not controls:
        if PAGE.match(flat):
            return "html" if b"xml" not in content_type.encode() else "binary"
        if "xml" in content_type or flat.lstrip().startswith((b"<?xml", b"{", b"[")):
            return "binary"
        if content_type.endswith("octet-stream"):
            return "binary"
        return "html" if MARKUP.search(body, 0, 1 << 14) else "text"
    return "binary"


def is_page(text: str) -> bool:
    """Whether a text begins as an HTML document does, and not just with some markup."""
    return WHOLE_PAGE.match(text[:HEAD_BYTES].removeprefix("\ufeff").encode("utf-8", "replace")) is not None


def _wide(head: bytes) -> bool:
    """UTF-16 without a mark: every other byte of markup is NUL."""
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    return half > 8 and min(even, odd) * 20 <= half and max(even, odd) * 5 >= half * 2
