"""Answers that are no pages: errors, redirects, files of other types, cut bodies, revisits."""

import json
import struct
import zlib
from dataclasses import replace

from sample_crawl import markup
from sample_crawl.deflate import zlib_stream
from sample_crawl.page import Page, page
from sample_crawl.prose import Article

ERRORS = ("404 Not Found", "403 Forbidden", "410 Gone", "500 Internal Error", "503 Service Unavailable")
REDIRECTS = ("301 Moved Permanently", "302 Found", "308 Permanent Redirect")
STATUS, TYPE, CUT = "read.bad_status", "read.not_text", "read.truncated"


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    rows = b"".join(b"\x00" + bytes(range(16 * y, 16 * y + 8)) for y in range(8))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib_stream(rows)) + chunk(b"IEND", b"")


PDF = (
    b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    b"2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
)


def errors(article: Article) -> list[Page]:
    """Error statuses; one of them with a good article as its body."""
    pages = []
    for status in ERRORS:
        code, _, phrase = status.partition(" ")
        body = markup.document(status, f"<h1>{phrase}</h1><p>The server could not answer.</p>").encode()
        url = f"https://errors.example/{code}"
        pages.append(Page(url=url, kind=f"error_{code}", expect=STATUS, body=body, status=status))
    long = page("errors.example", article, "error_404_article", STATUS)
    return [*pages, replace(long, status="404 Not Found")]


def redirects() -> list[Page]:
    """Answers that point elsewhere."""
    pages = []
    for status in REDIRECTS:
        code = status[:3]
        target = ("Location", f"https://new.example/{code}")
        body = b'<a href="https://new.example/">Moved</a>'
        pages.append(
            Page(
                url=f"https://old.example/{code}",
                kind=f"redirect_{code}",
                expect=STATUS,
                body=body,
                status=status,
                headers=(target,),
            )
        )
    return pages


def files() -> list[Page]:
    """Bodies that are neither HTML nor plain text, one of them under a false flag."""
    table = json.dumps([{"id": n, "name": f"item {n}", "price": 3 * n} for n in range(40)], indent=1).encode()
    bodies = {
        "pdf": ("application/pdf", PDF),
        "pdf_as_html": ("text/html", PDF),
        "json": ("application/json", table),
        "png": ("image/png", _png()),
    }
    return [
        Page(url=f"https://files.example/{kind}", kind=kind, expect=TYPE, body=body, content_type=content_type)
        for kind, (content_type, body) in bodies.items()
    ]


def plain_text(article: Article) -> Page:
    """An article without any markup."""
    body = "\n\n".join((article.title, *article.paragraphs)).encode()
    return replace(page("text.example", article, "plain_text"), body=body, content_type="text/plain; charset=utf-8")


def cut(article: Article) -> Page:
    """A page that the crawler stopped reading half way."""
    whole = page("long.example", article, "truncated", CUT)
    return replace(whole, body=whole.body[: len(whole.body) // 2], truncated=True)


def revisit(original: Page) -> Page:
    """A second visit that found the same payload, so that only the headers were stored."""
    return replace(original, kind="revisit", expect="", body=b"", revisit=True, of=original.url)
