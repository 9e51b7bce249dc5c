"""Articles in odd envelopes: charsets declared here, there or wrongly, content and transfer codings, lies."""

from dataclasses import replace

from sample_crawl import markup
from sample_crawl.page import CODINGS, KEPT, OTHER, Page, chunked, page
from sample_crawl.prose import Article

NEEDLE = "café’s naïve façade"

# kind: (codec, charset in the HTTP header, charset in a meta element)
CHARSETS: dict[str, tuple[str, str | None, str | None]] = {
    "charset_header": ("cp1252", "windows-1252", None),
    "charset_meta": ("cp1252", None, "windows-1252"),
    "charset_latin1_label": ("cp1252", "iso-8859-1", None),
    "charset_undeclared": ("utf-8", None, None),
    "charset_bom_over_header": ("utf-8-sig", "iso-8859-1", None),
    "charset_header_wrong": ("cp1252", "utf-8", "windows-1252"),
    "charset_utf16": ("utf-16", None, None),
}
FOREIGN_CHARSETS: dict[str, tuple[str, str, bool]] = {
    "ja": ("shift_jis", "Shift_JIS", True),
    "ru": ("cp1251", "windows-1251", False),
    "pl": ("iso8859-2", "iso-8859-2", True),
}
ENTITIES = {"“": "&ldquo;", "”": "&#8221;", "’": "&#x2019;", "–": "&ndash;", "£": "&pound;", "é": "&eacute;"}


def _encoded(body: str, codec: str) -> bytes:
    if codec == "utf-16":
        return b"\xff\xfe" + body.encode("utf-16-le")
    return body.encode(codec)


def charset(host: str, article: Article, kind: str) -> Page:
    """A page whose bytes only the right charset can read."""
    codec, header, meta = CHARSETS[kind]
    tag = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">\n' if meta else ""
    body = _encoded(markup.html(host, article, meta=tag), codec)
    content_type = f"text/html; charset={header}" if header else "text/html"
    return replace(page(host, article, kind), body=body, content_type=content_type, needle=NEEDLE)


def foreign(host: str, article: Article) -> Page:
    """A page in another language, in that language's old charset where it has one here."""
    plain = page(host, article, f"language_{article.language}", OTHER)
    needle = article.paragraphs[0][:12]
    if article.language not in FOREIGN_CHARSETS or host.startswith("b"):
        return replace(plain, needle=needle)
    codec, label, in_header = FOREIGN_CHARSETS[article.language]
    tag = "" if in_header else f'<meta charset="{label}">\n'
    return replace(
        plain,
        kind=f"charset_{label.lower()}",
        body=markup.html(host, article, meta=tag).encode(codec),
        content_type=f"text/html; charset={label}" if in_header else "text/html",
        needle=needle,
    )


def entities(host: str, article: Article) -> Page:
    """Pure ASCII: every other character is a character reference."""
    body = markup.html(host, article)
    for character, reference in ENTITIES.items():
        body = body.replace(character, reference)
    return replace(page(host, article, "entities"), body=body.encode("ascii", "xmlcharrefreplace"), needle=NEEDLE)


def codings(host: str, articles: list[Article]) -> list[Page]:
    """Each content and transfer coding once, and headers that claim one that is not there."""
    kinds: list[tuple[str, str, str, bool]] = [  # kind, coding applied, coding claimed, chunked
        *((f"coding_{name}", name, name.removeprefix("raw_"), False) for name in CODINGS),
        ("coding_x_gzip", "gzip", "x-gzip", False),
        ("coding_gzip_lie", "", "gzip", False),
        ("coding_unknown", "", "utf-8", False),
        ("chunked", "", "", True),
        ("chunked_gzip", "gzip", "gzip", True),
    ]
    pages = [_coded(host, article, *kind) for article, kind in zip(articles, kinds)]
    lie = page(host, articles[len(kinds)], "chunked_lie")
    return [*pages, replace(lie, headers=(("Transfer-Encoding", "chunked"),), needle=NEEDLE)]


def _coded(host: str, article: Article, kind: str, coding: str, claimed: str, in_chunks: bool) -> Page:
    plain = page(host, article, kind, KEPT)
    body = CODINGS[coding](plain.body) if coding else plain.body
    headers = [("Content-Encoding", claimed)] if claimed else []
    if in_chunks:
        body = chunked(body)
        headers.append(("Transfer-Encoding", "chunked"))
    return replace(plain, body=body, headers=tuple(headers), needle=NEEDLE)
