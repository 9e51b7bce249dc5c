"""HTTP responses as crawlers stored them: the header, and the body behind transfer and content encodings.

Headers lie. An encoding is undone only where the bytes agree with it; where they do not, the raw bytes are the
body, as in a browser's cache that has already decoded them.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import brotli
import zstandard

from curate.sources.members.zstd_frames import whole_frames

Decoded = tuple[bytes, bool]  # what an encoding was undone to, and whether it broke off before its end
STATUS = re.compile(rb"\s*(?:HTTP|ICY)/?[\d.]*[ \t]+(\d{3})(?!\d)[^\r\n]*(?:\r?\n|\r|$)", re.IGNORECASE)
HEADER_END = re.compile(rb"\r?\n\r?\n|\r\r")
CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
CHARSET = re.compile(r"""charset\s*+=\s*+(?:["']\s*+)?([^\s"';,]+)""", re.IGNORECASE)
MAX_ENCODINGS = 4
STEP = 1 << 20
AHEAD = 1 << 18  # what zlib has not looked at yet is copied with every step
MEMBER_STEP = 1 << 12


class TooLarge(ValueError):
    """A body that grows beyond the cap; `size` is how far it was decoded."""

    def __init__(self, size: int) -> None:
        super().__init__(f"more than {size} bytes after decoding")
        self.size = size


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Status (None without a status line), header fields (names in lower case, the first of each), raw body."""

    status: int | None
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters."""
        return media_type(self.headers.get("content-type", ""))

    @property
    def charset(self) -> str | None:
        """The charset that the header declares, in lower case."""
        return charset_of(self.headers.get("content-type", ""))


def media_type(value: str) -> str:
    """`text/html` of `Text/HTML; charset=x`."""
    return value.partition(";")[0].partition(",")[0].strip().lower()


def charset_of(value: str) -> str | None:
    """The charset parameter of a Content-Type, in lower case."""
    match = CHARSET.search(value)
    return match[1].lower() if match else None


def parse_response(block: bytes) -> HttpResponse:
    """Splits a response into header and body. Without a status line the whole block is the body.

    Interim answers (`100 Continue`) that a crawler stored in front of the true one are passed over.
    """
    line = STATUS.match(block)
    if not line:
        return HttpResponse(None, {}, block)
    first, end, start = _ends(block, line)
    while int(line[1]) < 200 and (following := STATUS.match(block, start)):
        line = following
        first, end, start = _ends(block, line)
    return HttpResponse(int(line[1]), _fields(block[first:end]), block[start:])


def _ends(block: bytes, line: re.Match[bytes]) -> tuple[int, int, int]:
    """Where the header fields behind a status line begin and end, and where the body starts."""
    if block.startswith((b"\r\n", b"\n"), line.end()):  # no header field at all
        return line.end(), line.end(), line.end() + (2 if block[line.end()] == 13 else 1)
    end = HEADER_END.search(block, line.end())
    return (line.end(), end.start(), end.end()) if end else (line.end(), len(block), len(block))


def _fields(head: bytes) -> dict[str, str]:
    """Bytes beyond ASCII are read as UTF-8 if they are valid, else as latin-1 (RFC 9110, section 5.5)."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    fields: dict[str, list[str]] = {}  # parts, joined once: folds and repeats come by the hundred thousand
    name = ""
    for line in re.split("\r\n|\n|\r", text):
        if line[:1] in (" ", "\t"):
            if name:
                fields[name] += " ", line.strip()
            continue
        key, colon, value = line.partition(":")
        name = key.strip().lower() if colon else ""
        if not name:
            continue
        if name in ("content-encoding", "transfer-encoding") and name in fields:
            fields[name] += ",", value.strip()
        else:
            fields.setdefault(name, [value.strip()])
    return {name: "".join(parts) for name, parts in fields.items()}


@dataclass(frozen=True, slots=True)
class Body:
    """A body after decoding; `refused` names an encoding that was declared but that the bytes contradict, `cut` says
    by what it is known that the body is not whole."""

    data: bytes = field(repr=False)
    dechunked: bytes = field(repr=False)
    refused: str = ""
    cut: str = ""


def decode_body(response: HttpResponse, max_bytes: int) -> Body:
    """Undoes the transfer encoding, then the content encodings in reverse order. Raises TooLarge."""
    data = response.body
    transfer = response.headers.get("transfer-encoding", "").lower()
    cut = ""
    if "chunked" in transfer:
        complete, broken = _dechunked(data)
        data = data if complete is None else complete
        cut = "the chunked body ends inside a chunk" if broken else ""
    dechunked = data
    names = _encodings(response.headers.get("content-encoding", "")) or _encodings(transfer.replace("chunked", ""))
    refused = ""
    for name in reversed(names):
        decoded = _decode_one(name, data, max_bytes)
        if decoded is None:
            refused = name
            break
        data, broken = decoded
        cut = cut or (f"the {name} body breaks off" if broken else "")
    if not refused and not cut and "chunked" not in transfer:
        cut = _short(response)
    if not refused and _hides_gzip(response.content_type) and data.startswith(b"\x1f\x8b\x08"):
        hidden = _gzip(data, max_bytes)  # encoded twice, or the header keeps silent
        if hidden is not None and hidden[0]:
            data, broken = hidden
            cut = cut or ("the gzip body breaks off" if broken else "")
    return Body(data, dechunked, refused, cut)


def _short(response: HttpResponse) -> str:
    length_field = response.headers.get("content-length", "").strip()
    length = int(length_field) if length_field.isascii() and length_field.isdigit() and len(length_field) < 16 else 0
    return f"{len(response.body)} of Content-Length {length} bytes" if length > len(response.body) else ""


def _encodings(value: str) -> list[str]:
    names = [name.strip().strip("\"'").lower() for name in value.split(",")]
    known = [n for n in names if n and n not in ("identity", "none", "utf-8", "text", "binary", "8bit", "7bit")]
    return known[:MAX_ENCODINGS]


def _hides_gzip(content_type: str) -> bool:
    return content_type.startswith("text/") or content_type in (
        "",
        "application/xhtml+xml",
        "application/xml",
    )


def dechunk(data: bytes) -> bytes | None:
    """The body of a chunked message; None where the bytes are not chunked.

    Takes chunk extensions, zero-padded sizes, LF for CRLF, trailers, and a body that ends without its last chunk.
    """
    return _dechunked(data)[0]


def _dechunked(data: bytes) -> tuple[bytes | None, bool]:
    """As `dechunk`, and whether the body ends inside a chunk."""
    size = CHUNK_SIZE.match(data)
    if not size:
        return None, False
    chunks: list[bytes] = []
    position = 0
    while size:
        length = int(size[1], 16)
        start = size.end()
        if length == 0:
            return b"".join(chunks), False
        end = start + length
        behind = data[end : end + 2]
        if end < len(data) and behind[:1] not in (b"\r", b"\n"):
            return (b"".join([*chunks, data[position:]]) if chunks else None), False
        if end > len(data) and not chunks and end - len(data) > length // 2:
            return None, False  # the first "size" is far beyond the body: a word that looks hexadecimal
        chunks.append(data[start:end])
        if end > len(data):
            return b"".join(chunks), True
        position = min(len(data), end + (2 if behind == b"\r\n" else 1))
        size = CHUNK_SIZE.match(data, position)
    return b"".join([*chunks, data[position:]]), False


def _decode_one(name: str, data: bytes, max_bytes: int) -> Decoded | None:
    """One content encoding undone; None where it is unknown or the bytes contradict it."""
    decoder = DECODERS.get(name)
    return decoder(data, max_bytes) if decoder else None


def _inflate(data: bytes, wbits: int, max_bytes: int) -> Decoded | None:
    """What zlib makes of the data; of a body that breaks off, what came before. None if nothing came."""
    view, parts = memoryview(data), list[bytes]()
    size, position, ahead = 0, 0, AHEAD
    while True:
        inflater = zlib.decompressobj(wbits)
        tail: bytes | memoryview = b""
        try:
            while not inflater.eof:
                if not tail:
                    tail = view[position : position + ahead]
                    position += len(tail)
                part = inflater.decompress(tail, STEP)
                size += len(part)
                if size > max_bytes:
                    raise TooLarge(size)
                parts.append(part)
                if len(inflater.unconsumed_tail) == len(tail) and not part:
                    break
                tail = inflater.unconsumed_tail
        except zlib.error as error:
            return (b"".join(parts), "data check" not in str(error)) if size else None
        position -= len(inflater.unused_data)
        if wbits != 31 or bytes(view[position : position + 3]) != b"\x1f\x8b\x08":
            return (b"".join(parts), not inflater.eof) if size or inflater.eof or wbits == 31 else None
        ahead = MEMBER_STEP  # gzip bodies may be several members, a hostile one millions; each copies what it leaves


def _gzip(data: bytes, max_bytes: int) -> Decoded | None:
    return _inflate(data, 31, max_bytes) if data.startswith(b"\x1f\x8b") else None


def _deflate(data: bytes, max_bytes: int) -> Decoded | None:
    """RFC 9110 says zlib; many servers send it bare, and some send gzip."""
    if data.startswith(b"\x1f\x8b"):
        return _gzip(data, max_bytes)
    zlib_first = len(data) > 1 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    for wbits in (15, -15) if zlib_first else (-15,):
        inflated = _inflate(data, wbits, max_bytes)
        if inflated is not None:
            return inflated
    return None


def _brotli(data: bytes, max_bytes: int) -> Decoded | None:
    decoder = brotli.Decompressor()
    parts: list[bytes] = []
    size = 0
    try:
        part = decoder.process(data, output_buffer_limit=STEP)
        while part:
            size += len(part)
            if size > max_bytes:
                raise TooLarge(size)
            parts.append(part)
            part = b"" if decoder.is_finished() else decoder.process(b"", output_buffer_limit=STEP)
    except brotli.error:
        return None
    complete = decoder.is_finished()
    return (b"".join(parts), not complete) if complete or size > len(data) else None


def _zstd(data: bytes, max_bytes: int) -> Decoded | None:
    if not data.startswith(b"\x28\xb5\x2f\xfd"):
        return None
    reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    parts: list[bytes] = []
    size = 0
    try:
        while part := reader.read(STEP):
            size += len(part)
            if size > max_bytes:
                raise TooLarge(size)
            parts.append(part)
    except zstandard.ZstdError:
        return (b"".join(parts), True) if size else None
    return b"".join(parts), not whole_frames(data)


DECODERS: dict[str, Callable[[bytes, int], Decoded | None]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
