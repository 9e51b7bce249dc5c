"""HTTP responses: odd headers, transfer and content encodings, and headers that lie about them."""

import gzip
import zlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from curate.sources import http_response
from curate.sources.http_response import TooLarge, charset_of, dechunk, decode_body, parse_response
from tests.sources.warc_bytes import http, page

BODY = page(1, 300)
HTML = "Content-Type: text/html"
CAP = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def chunked(data: bytes, size: int = 100, last: bytes = b"0\r\n\r\n", eol: bytes = b"\r\n") -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    return b"".join(b"%x" % len(part) + eol + part + eol for part in parts) + last


def body_of(block: bytes, cap: int = CAP) -> bytes:
    return decode_body(parse_response(block), cap).data


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("HTTP/1.1 200 OK", 200),
        ("HTTP/1.0 404", 404),
        ("HTTP/2 200", 200),
        ("HTTP/1.1  301  Moved", 301),
        ("ICY 200 OK", 200),
        ("http/1.1 200 ok", 200),
        ("HTTP/1.1 200", 200),
        ("HTTP/1.1 2000", None),
        ("<html>", None),
    ],
)
@pytest.mark.parametrize("eol", ["\r\n", "\n", "\r"])
def test_status_lines(line: str, status: int | None, eol: str) -> None:
    response = parse_response(f"{line}{eol}Content-Type: text/html{eol}{eol}".encode() + BODY)
    assert response.status == status
    if status is not None:
        assert response.body == BODY and response.content_type == "text/html"


def test_a_block_without_a_status_line_is_all_body() -> None:
    response = parse_response(BODY)
    assert (response.status, response.headers, response.body) == (None, {}, BODY)


def test_header_fields_beyond_ascii_folded_repeated_and_broken() -> None:
    block = (
        b"HTTP/1.1 200 OK\r\nServer: caf\xe9\r\nSet-Cookie\x80\xff: a=\xe2\x82\r\n"
        b"Content-Type: text/html;\r\n charset=KOI8-R\r\n"
        b"Content-Type: text/plain\r\nno colon here\r\n: nothing\r\n\r\nbody"
    )
    response = parse_response(block)
    assert response.headers["server"] == "caf\xe9" and response.body == b"body"
    assert response.content_type == "text/html" and response.charset == "koi8-r"
    assert parse_response("HTTP/1.1 200 OK\r\nX: grün\r\n\r\n".encode()).headers == {"x": "grün"}


def test_interim_answers_are_passed_over() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    response = parse_response(b"HTTP/1.1 100 Continue\r\n\r\n" + interim + http(BODY))
    assert (response.status, response.body) == (200, BODY)
    assert parse_response(b"HTTP/1.1 100 Continue\r\n\r\n" + BODY).status == 100


def test_no_header_field_at_all_and_no_body_at_all() -> None:
    assert parse_response(b"HTTP/1.1 200 OK\r\n\r\nbody\r\n\r\nmore").body == b"body\r\n\r\nmore"
    assert parse_response(b"HTTP/1.1 200 OK\r\nContent-Type: text/html").headers == {"content-type": "text/html"}
    assert parse_response(b"HTTP/1.1 200 OK").body == b""


@pytest.mark.parametrize("name", ENCODERS)
def test_content_encodings(name: str) -> None:
    packed = ENCODERS[name](BODY)
    assert body_of(http(packed, HTML, f"Content-Encoding: {name}")) == BODY
    assert body_of(http(chunked(packed), HTML, f"Content-Encoding: {name}", "Transfer-Encoding: chunked")) == BODY


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "identity", "none", "utf-8", "klingon"])
def test_an_encoding_that_the_bytes_contradict_is_not_undone(name: str) -> None:
    assert body_of(http(BODY, HTML, f"Content-Encoding: {name}")) == BODY
    assert body_of(http(BODY, HTML, f"Content-Encoding: {name}", "Transfer-Encoding: chunked")) == BODY


def test_a_refused_encoding_is_named() -> None:
    assert decode_body(parse_response(http(BODY, HTML, "Content-Encoding: gzip")), CAP).refused == "gzip"
    assert decode_body(parse_response(http(BODY, HTML)), CAP).refused == ""


def test_encodings_in_a_row_twice_and_in_silence() -> None:
    both = brotli.compress(gzip.compress(BODY))
    assert body_of(http(both, HTML, "Content-Encoding: gzip, br")) == BODY
    assert body_of(http(both, HTML, "Content-Encoding: gzip", "Content-Encoding: br")) == BODY
    assert body_of(http(gzip.compress(gzip.compress(BODY)), HTML, "Content-Encoding: gzip")) == BODY
    assert body_of(http(gzip.compress(BODY), HTML)) == BODY
    assert body_of(http(gzip.compress(BODY), HTML, "Transfer-Encoding: gzip, chunked")) == BODY
    assert body_of(http(gzip.compress(BODY), "Content-Type: application/gzip")) == gzip.compress(BODY)
    assert body_of(http(gzip.compress(BODY[:200]) + gzip.compress(BODY[200:]), HTML, "Content-Encoding: gzip")) == BODY


def test_a_body_of_a_million_members_is_not_copied_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[int] = []

    class Counting:
        def __init__(self, wbits: int) -> None:
            self.inflater = zlib.decompressobj(wbits)

        def __getattr__(self, name: str) -> Any:
            value = getattr(self.inflater, name)
            if name == "unused_data":
                left.append(len(value))
            return value

    body = gzip.compress(b"first") + gzip.compress(b"") * 5000 + gzip.compress(b"last")
    monkeypatch.setattr(http_response, "zlib", SimpleNamespace(decompressobj=Counting, error=zlib.error))
    assert http_response.DECODERS["gzip"](body, 1 << 20) == (b"firstlast", False)
    assert len(left) == 5002 and sum(left[1:]) < 5001 * http_response.MEMBER_STEP < 5001 * len(body) / 4


def test_a_body_that_breaks_off_gives_what_came() -> None:
    for name in ("gzip", "deflate", "zstd"):
        packed = ENCODERS[name](BODY * 3)
        cut = body_of(http(packed[:-9], HTML, f"Content-Encoding: {name}"))
        assert cut == packed[:-9] or (BODY * 3).startswith(cut)
    assert (BODY * 3).startswith(body_of(http(gzip.compress(BODY * 3)[:-200], HTML, "Content-Encoding: gzip")))


@pytest.mark.parametrize(
    "data",
    [
        chunked(BODY),
        chunked(BODY, 7),
        chunked(BODY, 10_000),
        chunked(BODY, last=b"0000\r\n\r\n"),
        chunked(BODY, last=b""),
        chunked(BODY, last=b"0\r\nX-Trailer: yes\r\n\r\n"),
        chunked(BODY, last=b"0"),
        chunked(BODY, eol=b"\n", last=b"0\n\n"),
        b"%X ; name=value\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n",
        b"000%x  \r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n",
        b"%x\r\n" % len(BODY) + BODY,
        b"%x\r\n" % (len(BODY) + 99) + BODY,
    ],
)
def test_chunked_variants(data: bytes) -> None:
    assert (dechunk(data) or b"").removesuffix(b"0") == BODY


@pytest.mark.parametrize(
    "data", [BODY, b"", b"face\r\nvalue", b"add\nmore words than that", b"1\r\nab\r\n0\r\n\r\n", b"12"]
)
def test_what_is_not_chunked_stays_as_it_is(data: bytes) -> None:
    assert dechunk(data) is None
    assert body_of(http(data, HTML, "Transfer-Encoding: chunked")) == data


@pytest.mark.parametrize("name", ENCODERS)
def test_a_bomb_is_too_large(name: str) -> None:
    bomb = http(ENCODERS[name](bytes(4 << 20)), HTML, f"Content-Encoding: {name}")
    with pytest.raises(TooLarge) as caught:
        body_of(bomb)
    assert CAP < caught.value.size < 4 << 20
    assert len(body_of(bomb, 5 << 20)) == 4 << 20


@given(st.binary(max_size=300), st.integers(1, 40))
def test_chunks_come_back_whole(data: bytes, size: int) -> None:
    found = dechunk(chunked(data, size))
    assert found == data


@given(st.binary(max_size=300))
def test_any_bytes_parse_and_decode(data: bytes) -> None:
    for block in (data, b"HTTP/1.1 200 OK\r\n" + data, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + data):
        response = parse_response(block)
        assert block.endswith(response.body)
        decode_body(response, CAP)


@given(st.binary(max_size=200), st.sampled_from(sorted(ENCODERS)), st.integers(0, 300), st.integers(1, 255))
def test_broken_encodings_never_raise(data: bytes, name: str, at: int, flip: int) -> None:
    packed = bytearray(ENCODERS[name](data))
    packed[at % len(packed)] ^= flip
    body_of(http(bytes(packed), HTML, f"Content-Encoding: {name}"))


def test_headers_take_time_linear_in_their_length() -> None:
    """Each of these took n^2 steps, minutes at this size."""
    folds = parse_response(b"HTTP/1.1 200 OK\r\nX: a\r\n" + b" b\r\n" * 1_000_000 + b"\r\nbody")
    assert folds.headers["x"] == "a" + " b" * 1_000_000 and folds.body == b"body"
    repeats = parse_response(b"HTTP/1.1 200 OK\r\n" + b"Content-Encoding: a\r\n" * 300_000 + b"\r\n")
    assert repeats.headers["content-encoding"].count("a") == 300_000
    interim = parse_response(b"HTTP/1.1 100 Continue\r\n\r\n" * 400_000 + b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody")
    assert (interim.status, interim.headers, interim.body) == (200, {"a": "b"}, b"body")
    assert charset_of("text/html; charset=" + " " * 1_000_000 + ";") is None
