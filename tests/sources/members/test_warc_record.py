"""The header parser: any bytes give a header or a cause, and what was written is what is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.sources.members.digest import matches
from curate.sources.members.warc_record import BadRecord, parse_header
from tests.sources.warc_bytes import record, sha1

NAMES = st.text(st.sampled_from("abcXYZ-019"), min_size=1, max_size=12).map(lambda name: f"X-{name}")
VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)


@given(st.dictionaries(NAMES, VALUES, max_size=6), st.binary(max_size=60), st.sampled_from(["\r\n", "\n"]))
def test_fields_come_back(fields: dict[str, str], block: bytes, eol: str) -> None:
    data = record("response", block, "http://a.example/", eol=eol, extra=tuple(f"{k}:{v}" for k, v in fields.items()))
    header = parse_header(b"before" + data, 6)
    assert (header.type, header.url, header.length) == ("response", "http://a.example/", len(block))
    assert data[header.size : header.size + header.length] == block
    first: dict[str, str] = {}
    for name, value in fields.items():
        first.setdefault(name.lower(), value.strip())
    assert {name: header.get(name) for name in first} == first


@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_give_a_header_or_a_cause(data: bytes, versioned: bool) -> None:
    data = b"WARC/1.0\r\n" + data if versioned else data
    try:
        header = parse_header(data)
    except BadRecord as bad:
        assert str(bad)
    else:
        assert 0 < header.size <= len(data) and header.length >= 0


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"WARC/1\r\n\r\n", "no WARC header"),
        (b"warc/1.0\r\n\r\n", "no WARC header"),
        (b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 1\r\n", "does not end"),
        (b"WARC/1.0\r\n\r\n", "no Content-Length"),
        (b"WARC/1.0\r\nContent-Length: -1\r\n\r\n", "no Content-Length"),
        (b"WARC/1.0\r\nContent-Length: 1e3\r\n\r\n", "no Content-Length"),
        (b"WARC/1.0\r\nContent-Length: 9999999999999999999\r\n\r\n", "no Content-Length"),
        ("WARC/1.0\r\nContent-Length: ٣\r\n\r\n".encode(), "no Content-Length"),
        (b"WARC/1.0\r\nContent-Length: 3\r\n\r\n", "no WARC-Type"),
        (b"WARC/1.0\r\nWARC-Type: x\r\nWARC/1.0\r\nContent-Length: 3\r\n\r\n", "runs into another one"),
        (b"WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 3\r\nHTTP/1.1 200 OK\r\n\r\n", "runs into the HTTP header"),
    ],
)
def test_causes(data: bytes, cause: str) -> None:
    with pytest.raises(BadRecord, match=cause):
        parse_header(data)


def test_folded_repeated_and_foreign_lines() -> None:
    header = parse_header(
        b"WARC/0.18 \r\nwarc-type: Response\r\nContent-Length: 3\r\nContent-Length: 9\r\n"
        b"X: a\r\n b\r\n\tc\r\nno colon\r\n"
        b"WARC-Target-URI: <http://caf\xe9.example/>\r\n\r\n"
    )
    assert (header.type, header.length, header.get("x")) == ("response", 3, "a b c")
    assert header.url == "http://caf\xe9.example/"


def test_digests_in_every_spelling() -> None:
    data = b"words"
    assert matches(sha1(data), data) is True and matches(sha1(data).lower(), data) is True
    assert matches("sha-256:3ad1a4c2ed4ba7d0ea4a4bb1ac9b8a9d", data) is False
    assert matches("md5:5b8b2ce0ce1d9d5d4d6f1bf6cfd2f0cc", data) is False
    assert matches("sha1:e57a5c9f8b3f1ab31b3f9c4d7c3d6a1f0b2a9c11", data) is False
    assert matches("", data) is None and matches("crc9:x", data) is None and matches("sha1", data) is None
