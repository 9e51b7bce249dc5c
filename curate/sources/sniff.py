"""What a body is, by its bytes first and by its Content-Type second: a web page, plain text, or neither.

The magic numbers are those of the WHATWG MIME Sniffing Standard (sections 6 and 7), and some of formats that
crawls are full of.
"""

import re
from typing import Literal

Kind = Literal["html", "text", "binary"]

HEAD_BYTES = 1445  # what the MIME Sniffing Standard reads of a resource
MAGIC = tuple(
    (
        b"%PDF-|%!PS-Adobe|\x89PNG\r\n|GIF87a|GIF89a|\xff\xd8\xff|PK\x03\x04|PK\x05\x06|Rar!\x1a\x07|7z\xbc\xaf|"
        b"\x1f\x8b\x08|BZh9|\xfd7zXZ|\x28\xb5\x2f\xfd|OggS\0|ID3|\xff\xfb|\xff\xf3|\x7fELF|wOFF|wOF2|OTTO|\0asm|FWS|CWS|"
        b"\0\0\x01\0|{\\rtf|\xd0\xcf\x11\xe0|fLaC|MThd|II*\0|MM\0*|\x1aE\xdf\xa3|FLV\x01|SQLite f|\0\0\0\x0cjP|WARC/1.|"
        b"\xca\xfe\xba\xbe|8BPS"
    ).split(b"|")
)
PAGE = re.compile(
    rb"(?:(?><!--.*?-->)|<\?xml[^>]*+>|\s)*+<(?:!doctype\s+html|html|head|body|title|meta|script|h1|div|table|p|a|br"
    rb"|center|font|style|b|iframe|link|article|main|section|span|ul|ol|form|img)\b",
    re.IGNORECASE | re.DOTALL,
)
WHOLE_PAGE = re.compile(
    rb"(?:(?><!--.*?-->)|<\?xml[^>]*+>|\s)*+<(?:!doctype\s+html|html|head)\b", re.IGNORECASE | re.DOTALL
)
FEED = re.compile(
    rb"(?:(?><!--.*?-->)|<[?!][^>]*+>|\s)*+<(?:rss|(?:atom:)?feed|rdf:rdf|urlset|sitemapindex|opml)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
MARKUP = re.compile(rb"<(?:html|body|div|p|a\s+href|table|span|h[1-6]|br|article|section)\b[^<]*>", re.IGNORECASE)
CONTROLS = bytes([*range(0x00, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
NOT_ASCII = CONTROLS + bytes(range(0x80, 0x100))
PAGE_TYPES = frozenset(
    {"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "text/x-server-parsed-html"}
)
TEXT_TYPES = frozenset({"text/plain", "text/markdown", "text/x-markdown", "text/x-rst", "text/x-web-markdown"})
UNKNOWN_TYPES = frozenset(
    [
        "",
        *(
            "application/octet-stream application/x-octet-stream unknown/unknown application/unknown */* text/* text "
            "html none null (null) binary/octet-stream text/xml application/xml"
        ).split(),
    ]
)


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


def is_noise(body: bytes) -> bool:
    """Whether bytes that may still be encoded look like no text: much beyond ASCII, and no markup at the head."""
    head = body[:HEAD_BYTES]
    beyond = len(head) - len(head.translate(None, NOT_ASCII))
    return beyond * 10 > len(head) * 3 and not PAGE.match(head) and not MARKUP.search(head)


def is_page(text: str) -> bool:
    """Whether a text begins as an HTML document does, and not just with some markup."""
    return WHOLE_PAGE.match(text[:HEAD_BYTES].removeprefix("\ufeff").encode("utf-8", "replace")) is not None


def _wide(head: bytes) -> bool:
    """UTF-16 without a mark: every other byte of markup is NUL."""
    half = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    return half > 8 and min(even, odd) * 20 <= half and max(even, odd) * 5 >= half * 2
