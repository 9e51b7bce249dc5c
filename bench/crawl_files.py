"""Writes pages into WARC files as Common Crawl does: a gzip member a record, request, response and metadata a page."""

import base64
import gzip
import hashlib
import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

START = datetime(2025, 3, 8, 10)
AGENT = "curate-bench/1.0"


@dataclass(frozen=True, kw_only=True)
class Visited:
    """A page as a crawler stores it, with what is known of it for the truth."""

    url: str
    body: bytes
    truth: dict[str, Any]
    content_type: str = "text/html"


def _urn(*parts: object) -> str:
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join(map(str, parts)))}>"


def _digest(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def member(kind: str, record_id: str, date: str, fields: dict[str, str], block: bytes) -> bytes:
    """One WARC/1.0 record (ISO 28500:2009) as a gzip member; the same bytes for the same arguments and zlib."""
    head = {
        "WARC-Type": kind,
        "WARC-Date": date,
        "WARC-Record-ID": record_id,
        "Content-Length": str(len(block)),
        **fields,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return gzip.compress(f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n", 6, mtime=0)


class CrawlWriter:
    """Pages into `FOLDER/NAME-00000.warc.gz` and so on, `per_file` a file, and their truth into `truth.jsonl`."""

    def __init__(self, folder: Path, name: str, per_file: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.name, self.per_file = folder, name, per_file
        self.pages = 0
        self._file: BinaryIO | None = None
        self._truth = (folder / "truth.jsonl").open("w", encoding="utf-8", newline="\n")

    def __enter__(self) -> "CrawlWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._truth.close()
        if self._file:
            self._file.close()

    def _next_file(self) -> BinaryIO:
        if self._file:
            self._file.close()
        name = f"{self.name}-{self.pages // self.per_file:05d}.warc.gz"
        self._file = (self.folder / name).open("wb")
        self._file.write(
            member(
                "warcinfo",
                _urn("warcinfo", name),
                _date(self.pages),
                {"Content-Type": "application/warc-fields", "WARC-Filename": name},
                f"software: {AGENT}\r\nformat: WARC File Format 1.0\r\n".encode(),
            )
        )
        return self._file

    def add(self, page: Visited) -> None:
        """Appends the request, the response and the crawler's notes on one page."""
        file = self._next_file() if self._file is None or self.pages % self.per_file == 0 else self._file
        host = page.url.split("/")[2]
        date = _date(self.pages)
        asked = f"GET / HTTP/1.1\r\nUser-Agent: {AGENT}\r\nHost: {host}\r\nAccept: text/html\r\n\r\n".encode()
        answered = (
            f"HTTP/1.1 200 OK\r\nContent-Type: {page.content_type}\r\nContent-Length: {len(page.body)}\r\n\r\n".encode()
        )
        response = {
            "WARC-Target-URI": page.url,
            "Content-Type": "application/http; msgtype=response",
            "WARC-Payload-Digest": _digest(page.body),
            "WARC-Identified-Payload-Type": "text/html",
        }
        for kind, fields, block in (
            ("request", {"Content-Type": "application/http; msgtype=request"}, asked),
            ("response", response, answered + page.body),
            ("metadata", {"Content-Type": "application/warc-fields"}, b"fetchTimeMs: 120\r\n"),
        ):
            urn = _urn(kind, self.pages, page.url)
            file.write(member(kind, urn, date, {"WARC-Target-URI": page.url, **fields}, block))
        self._truth.write(json.dumps({"url": page.url, **page.truth}, ensure_ascii=False) + "\n")
        self.pages += 1


def _date(second: int) -> str:
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")
