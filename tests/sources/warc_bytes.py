"""WARC bytes for tests: records, whole pages, and the ways of compressing them."""

import base64
import gzip
import hashlib
import io
import zipfile
import zlib

import zstandard

WORDS = (
    "river mill water evening stone path garden window letter harbour morning bread market lamp winter road cloud "
    "field bridge story people house song table summer forest silver copper village old quiet long green bright"
).split()


def text(number: int, words: int = 120) -> str:
    """A made-up paragraph, another one for each number."""
    state = number * 2654435761 % (1 << 32) or 1
    out = []
    for _ in range(words):
        state = (state * 1103515245 + 12345) % (1 << 31)
        out.append(WORDS[(state >> 8) % len(WORDS)])
    return " ".join(out).capitalize() + "."


def page(number: int, words: int = 120) -> bytes:
    """A small web page."""
    body = f"<h1>Page {number}</h1><p>{text(number, words)}</p>"
    return f"<!DOCTYPE html><html><head><title>{number}</title></head><body>{body}</body></html>".encode()


def http(body: bytes, *fields: str, status: str = "200 OK", version: str = "HTTP/1.1", eol: str = "\r\n") -> bytes:
    """An HTTP response; without fields it is text/html in UTF-8."""
    lines = [f"{version} {status}", *(fields or ("Content-Type: text/html; charset=utf-8",))]
    return (eol.join(lines) + eol + eol).encode("latin-1") + body


def sha1(data: bytes) -> str:
    """A digest as WARC files write it."""
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def record(
    kind: str,
    block: bytes,
    url: str = "",
    *,
    content_type: str = "application/http; msgtype=response",
    version: str = "1.0",
    eol: str = "\r\n",
    length: int | None = None,
    digest: bool = False,
    closing: bytes = b"\r\n\r\n",
    extra: tuple[str, ...] = (),
) -> bytes:
    """One record. `length` is a Content-Length that lies."""
    name = hashlib.sha1(kind.encode() + url.encode() + block[:99], usedforsecurity=False).hexdigest()[:32]
    lines = [
        f"WARC/{version}",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: <urn:uuid:{name}>",
        "WARC-Date: 2024-05-06T07:08:09Z",
    ]
    lines += [f"WARC-Target-URI: {url}"] if url else []
    lines += [f"WARC-Block-Digest: {sha1(block)}"] if digest else []
    lines += [*extra, f"Content-Type: {content_type}"]
    lines += [f"Content-Length: {len(block) if length is None else length}"]
    return (eol.join(lines) + eol + eol).encode() + block + closing


def warcinfo() -> bytes:
    """The record that opens a file."""
    return record("warcinfo", b"software: made for a test\r\n", content_type="application/warc-fields")


def response(number: int, words: int = 120, **options: object) -> bytes:
    """A record with a page at http://site.example/<number>."""
    return record("response", http(page(number, words)), f"http://site.example/{number}", **options)  # type: ignore[arg-type]


def member(data: bytes, level: int = 6) -> bytes:
    """A gzip member, the same bytes on every machine and at any time."""
    return gzip.compress(data, level, mtime=0)


def stored_member(data: bytes, block_bytes: int = 16_383) -> bytes:
    """A gzip member of stored blocks, in which the data stand as they are."""
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    blocks = [data[at : at + block_bytes] for at in range(0, len(data), block_bytes)] or [b""]
    body = b""
    for number, block in enumerate(blocks):
        last = number == len(blocks) - 1
        size = len(block)
        body += bytes([last]) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + block
    return head + body + zlib.crc32(data).to_bytes(4, "little") + (len(data) % (1 << 32)).to_bytes(4, "little")


def frame(data: bytes, checksum: bool = True, dictionary: bytes | None = None) -> bytes:
    """A zstd frame."""
    words = None if dictionary is None else zstandard.ZstdCompressionDict(dictionary)
    return zstandard.ZstdCompressor(level=3, write_checksum=checksum, dict_data=words).compress(data)


def dictionary_frame(dictionary: bytes, packed: bool = False) -> bytes:
    """The skippable frame in which a .warc.zst carries its dictionary."""
    data = zstandard.ZstdCompressor().compress(dictionary) if packed else dictionary
    return b"\x5d\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def site(pages: int, words: int = 120) -> list[bytes]:
    """A warcinfo and the pages 0 to `pages` - 1."""
    return [warcinfo(), *(response(number, words) for number in range(pages))]


def wacz(files: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A ZIP archive of files by name."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as opened:
        for name, data in files.items():
            opened.writestr(zipfile.ZipInfo(name), data, method)
    return held.getvalue()


def arc(pages: int, version: int = 1) -> list[bytes]:
    """The records of an ARC file: its version block, and the pages 0 to `pages` - 1 at http://site.example/<number>."""
    fields = (
        "URL IP-address Archive-date Content-type Archive-length"
        if version == 1
        else ("URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length")
    )
    block = f"{version} 0 crawler\n{fields}\n".encode()
    more = "" if version == 1 else "200 - - 0 a.arc "
    records = [f"filedesc://a.arc 0.0.0.0 20050607080910 text/plain {more}{len(block)}\n".encode() + block + b"\n"]
    for number in range(pages):
        answer = http(page(number))
        url = f"http://site.example/{number}" if number != 1 else "http://site.example/a b/1"
        line = f"{url} 10.0.0.{number} 20050607080910 text/html {more}{len(answer)}\n"
        records.append(line.encode() + answer + b"\n")
    return records
