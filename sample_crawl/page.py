"""One page of the crawl as a crawler would have met it, and what a curation run should make of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sample_crawl import markup
from sample_crawl.deflate import brotli_stored, deflate, gzip_member, zlib_stream, zstd_stored
from sample_crawl.prose import Article

HTML = "text/html; charset=utf-8"
KEPT = "kept"
OTHER = "language.other_language"

CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip_member,
    "deflate": zlib_stream,
    "raw_deflate": deflate,
    "br": brotli_stored,
    "zstd": zstd_stored,
}


@dataclass(frozen=True, kw_only=True)
class Page:
    """`expect` is "kept" or "stage.reason" under `configs/sample.yaml`; `of` is the URL of the page copied.

    `text` is the main text that lies in the page, `needle` a part of it that only the right decoding shows.
    """

    url: str
    kind: str
    expect: str
    body: bytes
    text: str = ""
    status: str = "200 OK"
    content_type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    of: str | None = None
    language: str = "en"
    needle: str = ""
    truncated: bool = False  # WARC-Truncated: length
    revisit: bool = False
    damaged: bool = False  # one byte of its record is flipped


def slug(title: str) -> str:
    """A title as the last part of a URL."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def page(
    host: str, article: Article, kind: str, expect: str = KEPT, *, template: int = -1, of: str | None = None
) -> Page:
    """An article on a host's site, in UTF-8."""
    body = markup.html(host, article, template).encode()
    url = f"https://{host}/{slug(article.title) or kind}"
    return Page(url=url, kind=kind, expect=expect, body=body, text=article.text, of=of, language=article.language)


def chunked(body: bytes, size: int = 700) -> bytes:
    """A body in HTTP/1.1 chunks (RFC 9112, section 7.1)."""
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
