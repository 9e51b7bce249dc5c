"""WARC/1.0 records (ISO 28500:2009) as Common Crawl has them: warcinfo, request, response, metadata."""

import base64
import hashlib
import uuid
from dataclasses import dataclass

from sample_crawl.page import Page

AGENT = "sample-crawl/1.0"


@dataclass(frozen=True)
class Record:
    """One record as bytes, with the facts that the truth states about it."""

    id: str
    type: str
    url: str
    data: bytes
    page: Page | None = None  # of a response or revisit


def _id(*parts: object) -> str:
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join(map(str, parts)))}>"


def digest(data: bytes) -> str:
    """SHA-1 in base 32, as WARC digests are written."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def date(second: int) -> str:
    """A WARC-Date, so many seconds after ten o'clock."""
    return f"2025-03-08T{10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def _record(kind: str, record_id: str, second: int, headers: list[tuple[str, str]], block: bytes) -> bytes:
    fields = [
        ("WARC-Type", kind),
        ("WARC-Date", date(second)),
        ("WARC-Record-ID", record_id),
        ("Content-Length", str(len(block))),
        *headers,
        ("WARC-Block-Digest", digest(block)),
    ]
    head = "WARC/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields) + "\r\n"
    return head.encode() + block + b"\r\n\r\n"


def _fields(**fields: str) -> bytes:
    return "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items()).encode()


def warcinfo(file: str) -> Record:
    """The record at the head of a file."""
    block = _fields(software=AGENT, format="WARC File Format 1.0", description="Pages written for tests")
    record_id = _id("warcinfo", file)
    headers = [("Content-Type", "application/warc-fields"), ("WARC-Filename", file)]
    return Record(record_id, "warcinfo", "", _record("warcinfo", record_id, 0, headers, block))


def _http_head(page: Page, second: int) -> bytes:
    fields = [
        ("Date", f"Sat, 08 Mar 2025 {date(second)[11:19]} GMT"),
        ("Server", "nginx"),
        ("Content-Type", page.content_type),
        *page.headers,
    ]
    if ("Transfer-Encoding", "chunked") not in page.headers:
        fields.append(("Content-Length", str(len(page.body))))
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"HTTP/1.1 {page.status}\r\n{lines}\r\n".encode()


def visit(page: Page, info: Record, second: int) -> list[Record]:
    """The request for a page, the response or revisit, and the crawler's notes on it."""
    path = "/" + page.url.split("/", 3)[3]
    host = page.url.split("/")[2]
    ids = {kind: _id(kind, page.kind, page.url) for kind in ("request", "response", "metadata")}
    common = [("WARC-Warcinfo-ID", info.id), ("WARC-Target-URI", page.url)]
    request = f"GET {path} HTTP/1.1\r\nUser-Agent: {AGENT}\r\nAccept: text/html\r\nHost: {host}\r\n\r\n".encode()
    asked = [
        *common,
        ("Content-Type", "application/http; msgtype=request"),
        ("WARC-Concurrent-To", ids["response"]),
    ]
    noted = [*common, ("Content-Type", "application/warc-fields"), ("WARC-Concurrent-To", ids["response"])]
    notes = _fields(fetchTimeMs=str(80 + len(page.body) % 400), languages_cld2=page.language)
    kind = "revisit" if page.revisit else "response"
    return [
        Record(ids["request"], "request", page.url, _record("request", ids["request"], second, asked, request)),
        Record(ids["response"], kind, page.url, _answer(page, kind, ids, common, second), page),
        Record(ids["metadata"], "metadata", page.url, _record("metadata", ids["metadata"], second, noted, notes)),
    ]


def _answer(page: Page, kind: str, ids: dict[str, str], common: list[tuple[str, str]], second: int) -> bytes:
    headers = [
        *common,
        ("Content-Type", "application/http; msgtype=response"),
        ("WARC-Concurrent-To", ids["request"]),
        ("WARC-IP-Address", "192.0.2.7"),
        ("WARC-Payload-Digest", digest(page.body)),
    ]
    if page.truncated:
        headers.append(("WARC-Truncated", "length"))
    if page.revisit:
        profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
        headers += [("WARC-Profile", profile), ("WARC-Refers-To-Target-URI", page.url)]
    return _record(kind, ids["response"], second, headers, _http_head(page, second) + page.body)
