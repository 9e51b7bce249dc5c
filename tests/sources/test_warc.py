"""WARC files as writers write them: layouts, versions, record types, odd headers, and what becomes of each."""

import gzip
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard

from curate.document import Drop
from curate.sources import SourceConfig, reader
from curate.sources.reader import Slice, settled
from tests.sources.reading import kept, numbers, put, read, real, reasons, sliced
from tests.sources.warc_bytes import (
    dictionary_frame,
    frame,
    http,
    member,
    page,
    record,
    response,
    site,
    stored_member,
    text,
    warcinfo,
)

DICTIONARY = " ".join(text(n) for n in range(90)).encode()
LAYOUTS = {
    "plain.warc": b"".join,
    "members.warc.gz": lambda records: b"".join(map(member, records)),
    "one.warc.gz": lambda records: member(b"".join(records)),
    "blocks.warc.gz": lambda records: b"".join(
        member(b"".join(records)[at : at + 999]) for at in range(0, 1 << 14, 999)
    ),
    "stored.warc.gz": lambda records: b"".join(map(stored_member, records)),
    "frames.warc.zst": lambda records: b"".join(map(frame, records)),
    "bare.warc.zst": lambda records: b"".join(frame(r, checksum=False) for r in records),
    "one.warc.zst": lambda records: frame(b"".join(records)),
    "words.warc.zst": lambda records: (
        dictionary_frame(DICTIONARY) + b"".join(frame(r, dictionary=DICTIONARY) for r in records)
    ),
    "packed.warc.zst": lambda records: (
        dictionary_frame(DICTIONARY, packed=True) + b"".join(frame(r, dictionary=DICTIONARY) for r in records)
    ),
    "misnamed.warc": lambda records: b"".join(map(member, records)),
    "misnamed.warc.gz": b"".join,
    "misnamed.warc.zst": lambda records: b"".join(map(member, records)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_brings_the_same_pages(tmp_path: Path, name: str) -> None:
    spans = read(put(tmp_path, name, LAYOUTS[name](site(12))))
    assert kept(spans) == numbers(range(12))
    assert [span.document.html for span in spans if span.document] == [page(number) for number in range(12)]
    assert [span.type for span in spans if span.type not in ("response", "padding")] == ["warcinfo"]
    assert all(span.document.id.startswith("<urn:uuid:") for span in spans if span.document)


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("slice_bytes", [64, 700, 1500, 5000, 1 << 20])
def test_any_slice_size_gives_the_same_spans(tmp_path: Path, name: str, slice_bytes: int) -> None:
    file = put(tmp_path, name, LAYOUTS[name](site(12)))
    assert real(sliced(reader(SourceConfig(path=file.name), file), file, slice_bytes)) == real(read(file))


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_record_is_read_alone_from_its_offset(tmp_path: Path, name: str) -> None:
    file = put(tmp_path, name, LAYOUTS[name](site(6)))
    made = reader(SourceConfig(path=file.name), file)
    for span in read(file):
        assert next(iter(settled(made.read(file, Slice(span.offset, span.offset + 1))))) == span


def test_a_member_of_several_records_among_members_of_one(tmp_path: Path) -> None:
    records = site(9)
    data = member(records[0]) + member(b"".join(records[1:5])) + b"".join(map(member, records[5:]))
    file = put(tmp_path, "mixed.warc.gz", data)
    spans = read(file)
    assert kept(spans) == numbers(range(9))
    made = reader(SourceConfig(path=file.name), file)
    for span in spans:
        assert next(iter(settled(made.read(file, Slice(span.offset, span.offset + 1))))) == span
        from_here = list(settled(made.read(file, Slice(span.offset, None))))
        assert from_here == spans[spans.index(span) :]


def test_a_large_member_of_many_records_is_not_held(tmp_path: Path) -> None:
    records = site(40, words=400)
    data = member(warcinfo()) + member(b"".join(records[1:]))
    spans = read(put(tmp_path, "mixed.warc.gz", data), max_record_bytes=20_000)
    assert kept(spans) == numbers(range(40))


@pytest.mark.parametrize("version", ["0.17", "0.18", "1.0", "1.1"])
@pytest.mark.parametrize("eol", ["\r\n", "\n"])
def test_versions_and_line_ends(tmp_path: Path, version: str, eol: str) -> None:
    for name, join in (("a.warc", b"".join), ("a.warc.gz", LAYOUTS["members.warc.gz"])):
        records = [response(n, version=version, eol=eol, closing=eol.encode() * 2) for n in range(3)]
        assert kept(read(put(tmp_path, name, join(records)))) == numbers(range(3))


@pytest.mark.parametrize("closing", [b"", b"\r\n", b"\n", b"\r\n\r\n\r\n", b"\n\n\n\n\n"])
def test_missing_and_surplus_blank_lines(tmp_path: Path, closing: bytes) -> None:
    for name, join in (("a.warc", b"".join), ("a.warc.gz", LAYOUTS["members.warc.gz"])):
        spans = read(put(tmp_path, name, join([response(n, closing=closing) for n in range(3)])))
        assert kept(spans) == numbers(range(3))
        assert [s.document.html for s in spans if s.document] == [page(n) for n in range(3)]


@pytest.mark.parametrize("wrong", [-400, -7, -2, -1, 1, 2, 3, 4, 7, 400, 100_000])
@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "one.warc.gz"])
@pytest.mark.parametrize("digest", [False, True])
def test_wrong_content_length_costs_no_page(tmp_path: Path, wrong: int, name: str, digest: bool) -> None:
    block = http(page(1))
    liar = record("response", block, "http://site.example/1", length=len(block) + wrong, digest=digest)
    records = [response(0, digest=digest), liar, response(2, digest=digest), response(3, digest=digest)]
    join = {"a.warc": b"".join, "a.warc.gz": LAYOUTS["members.warc.gz"], "one.warc.gz": LAYOUTS["one.warc.gz"]}[name]
    spans = read(put(tmp_path, name, join(records)))
    assert kept(spans) == numbers(range(4))
    documents = [span.document for span in spans if span.document]
    assert [d.html for d in documents if d.url.endswith("/2")] == [page(2)]
    html = documents[1].html or b""
    assert html.startswith(page(1)[: wrong or None] if wrong < 0 else page(1))
    if abs(wrong) > 4:
        assert html == page(1) and documents[1].attributes["length_mismatch"] is True


def test_a_wrong_content_length_in_the_last_record(tmp_path: Path) -> None:
    block = http(page(1))
    for wrong in (1, 3, 50):
        liar = record("response", block, "http://site.example/1", length=len(block) + wrong)
        for name, join in (("a.warc", b"".join), ("a.warc.gz", LAYOUTS["members.warc.gz"])):
            assert kept(read(put(tmp_path, name, join([response(0), liar])))) == ["0", "1"]


def test_angle_brackets_and_spaces_around_the_target_uri(tmp_path: Path) -> None:
    spans = read(put(tmp_path, "a.warc", record("response", http(page(1)), " <http://site.example/1> ")))
    assert [s.document.url for s in spans if s.document] == ["http://site.example/1"]


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://site.example/?q=<b>", "http://site.example/?q=<b>"),
        ("<http://site.example/?q=<b>>", "http://site.example/?q=<b>"),
        ("< http://site.example/1 >", "http://site.example/1"),
        ("<http://site.example/1", "http://site.example/1"),
    ],
)
def test_brackets_of_the_address_itself_stay(tmp_path: Path, written: str, url: str) -> None:
    spans = read(put(tmp_path, "a.warc", record("response", http(page(1)), written)))
    assert [s.document.url for s in spans if s.document] == [url]


def test_record_types(tmp_path: Path) -> None:
    plain = text(1).encode()
    records = [
        warcinfo(),
        record(
            "request", b"GET / HTTP/1.1\r\n\r\n", "http://a.example/", content_type="application/http; msgtype=request"
        ),
        response(1),
        record("metadata", b"fetchTimeMs: 12\r\n", "http://a.example/", content_type="application/warc-fields"),
        record("revisit", b"", "http://a.example/2"),
        record("revisit", http(b"", "Transfer-Encoding: chunked"), "http://a.example/3"),
        record("resource", page(4), "http://a.example/4", content_type="text/html; charset=utf-8"),
        record("conversion", plain, "http://a.example/5", content_type="text/plain"),
        record("selfie", b"?", "http://a.example/6", content_type="image/x"),
        record("response", b"a.example. 1 IN A 10.0.0.1", "dns:a.example", content_type="text/dns"),
        record(
            "resource", b"wget -i list", "metadata://gnu.org/software/wget/warc/MANIFEST.txt", content_type="text/plain"
        ),
    ]
    spans = read(put(tmp_path, "a.warc", b"".join(records)))
    types = "warcinfo request response metadata revisit revisit resource conversion other crawler crawler".split()
    assert [span.type for span in spans] == types
    assert kept(spans) == ["1", "4", "5"]
    assert spans[7].document is not None and spans[7].document.text == plain.decode()
    assert spans[7].document.html is None and spans[6].document is not None and spans[6].document.charset == "utf-8"


def test_wet_files_bring_text(tmp_path: Path) -> None:
    pages = [
        record("conversion", text(n).encode(), f"http://site.example/{n}", content_type="text/plain") for n in range(3)
    ]
    spans = read(put(tmp_path, "a.warc.wet.gz", b"".join(map(member, [warcinfo(), *pages]))))
    assert [s.document.text for s in spans if s.document] == [text(n) for n in range(3)]


def test_segmented_records_are_neither_lost_nor_taken_for_whole_pages(tmp_path: Path) -> None:
    block = http(page(1))
    first = record("response", block[:300], "http://site.example/1", extra=("WARC-Segment-Number: 1",))
    rest = record(
        "continuation",
        block[300:],
        "http://site.example/1",
        extra=("WARC-Segment-Number: 2", "WARC-Segment-Total-Length: 900"),
    )
    file = put(tmp_path, "a.warc", first + rest + response(2))
    spans = read(file)
    assert [span.type for span in spans] == ["response", "continuation", "response"]
    assert kept(spans) == ["2"] and reasons(spans) == ["truncated"]
    assert spans[0].drop is not None and spans[0].drop.cause == "segment 1 of a record in several parts"
    assert kept(read(file, keep_truncated=True)) == ["1", "2"]


def test_the_readers_verdicts_carry_the_facts(tmp_path: Path) -> None:
    records = [
        record("response", http(page(1), status="404 Not Found"), "http://site.example/1"),
        record("response", http(page(2)), "http://site.example/2", extra=("WARC-Truncated: length",)),
        record("response", http(b"%PDF-1.7 ...", "Content-Type: text/html"), "http://site.example/3"),
        record(
            "response",
            http(b"\x00\x01garbled", "Content-Encoding: br", "Content-Type: text/html"),
            "http://site.example/4",
        ),
        record("response", http(b'{"a": 1}', "Content-Type: application/json"), "http://site.example/5"),
    ]
    file = put(tmp_path, "a.warc.gz", b"".join(map(member, records)))
    spans = read(file)
    assert reasons(spans) == ["bad_status", "truncated", "not_text", "undecodable", "not_text"]
    drops = [span.drop for span in spans if span.drop]
    assert drops[0].value == 404 and drops[1].cause == "length" and drops[3].cause == "content encoding br"
    documents = [span.document for span in spans if span.document]
    assert [d.status for d in documents] == [404, 200, 200, 200, 200]
    assert all(d.date == "2024-05-06T07:08:09Z" and d.url for d in documents)
    assert kept(read(file, keep_truncated=True, status=(200, 404))) == ["1", "2"]
    assert kept(read(file, status=())) == ["1"]


def test_a_record_above_the_cap_is_dropped_and_reading_goes_on(tmp_path: Path) -> None:
    bomb = record("response", http(b"<html>" + b"a" * 3_000_000), "http://site.example/1")
    packed = gzip.compress(b"<html>" + b"b" * 3_000_000)
    inner = record(
        "response", http(packed, "Content-Type: text/html", "Content-Encoding: gzip"), "http://site.example/2"
    )
    for name in ("plain.warc", "members.warc.gz", "one.warc.gz", "frames.warc.zst"):
        data = LAYOUTS[name]([response(0), bomb, inner, response(3)])
        spans = read(put(tmp_path, name, data), max_record_bytes=1_000_000)
        assert kept(spans) == ["0", "3"] and reasons(spans) == ["too_large", "too_large"]
        assert spans[1].document is not None and spans[1].document.url == "http://site.example/1"
        assert spans[1].drop is not None and (spans[1].drop.value or 0) >= 3_000_000


@pytest.mark.parametrize(
    ("name", "data", "types"),
    [
        ("zero.warc.gz", b"", ["padding"]),
        ("zero.warc", b"", ["padding"]),
        ("nothing.warc.gz", member(b""), ["padding"]),
        ("blank.warc", b"\r\n\r\n\n", ["padding"]),
        ("info.warc.gz", member(warcinfo()), ["warcinfo"]),
        ("info.warc", warcinfo(), ["warcinfo"]),
        ("zeros.warc.gz", member(warcinfo()) + bytes(5000), ["warcinfo", "padding"]),
    ],
)
def test_empty_and_tiny_files(tmp_path: Path, name: str, data: bytes, types: list[str]) -> None:
    assert [span.type for span in read(put(tmp_path, name, data))] == types


@pytest.mark.parametrize("body", [b"", b"a", b"  \r\n ", b"\0", b"<p></p>"])
def test_tiny_bodies_are_documents_for_the_stages_to_judge(tmp_path: Path, body: bytes) -> None:
    spans = read(put(tmp_path, "a.warc", record("response", http(body), "http://site.example/1")))
    assert [span.type for span in spans] == ["response"]
    assert reasons(spans) in ([], ["not_text"])


def test_digests_are_checked_where_no_crc_vouches(tmp_path: Path) -> None:
    good = response(1, digest=True)
    bad = response(2, digest=True).replace(b"Page 2", b"Rage 2")
    none = response(3)
    for name, verdicts in (("plain.warc", [False, True, None]), ("members.warc.gz", [None, None, None])):
        spans = read(put(tmp_path, name, LAYOUTS[name]([good, bad, none])))
        found = [s.document.attributes["digest_mismatch"] for s in spans if s.document]
        assert found == verdicts and kept(spans) == ["1", "2", "3"]


def test_what_crawlers_store_for_themselves_is_no_page(tmp_path: Path) -> None:
    own = (
        "urn:text:http://a.example/",
        "urn:pageinfo:http://a.example/",
        "urn:X-wpull:log",
        "dns:a.example",
        "whois://a.example",
        "metadata://gnu.org/x",
        "screenshot:http://a.example/",
    )
    records = [record("resource", b"words of a log", url, content_type="text/plain") for url in own]
    spans = read(put(tmp_path, "a.warc", b"".join([*records, record("response", http(page(1)), "http://a.example/1")])))
    assert [span.type for span in spans] == ["crawler"] * len(own) + ["response"] and kept(spans) == ["1"]


def test_an_answer_without_a_status_is_none_that_was_asked_for(tmp_path: Path) -> None:
    file = put(tmp_path, "a.warc", record("response", page(1), "http://a.example/1", content_type="text/html"))
    (span,) = read(file)
    assert span.drop == Drop("bad_status", cause="no status line")
    assert kept(read(file, status=())) == ["1"]
    resource = record("resource", page(2), "http://a.example/2", content_type="text/html")
    assert kept(read(put(tmp_path, "b.warc", resource))) == ["2"]


CUT = {
    "gzip": (gzip.compress(page(1, 900))[:-200], "Content-Encoding: gzip"),
    "deflate": (zlib.compress(page(1, 900))[:-200], "Content-Encoding: deflate"),
    "br": (brotli.compress(page(1, 900))[:-200], "Content-Encoding: br"),
    "zstd": (zstandard.compress(page(1, 300) * 900)[:-9], "Content-Encoding: zstd"),
    "chunked": (b"400\r\n" + page(1, 900)[:700], "Transfer-Encoding: chunked"),
    "length": (page(1, 900), f"Content-Length: {len(page(1, 900)) + 1}"),
}


@pytest.mark.parametrize("how", CUT)
def test_a_body_that_is_known_to_be_cut_is_as_one_that_is_marked(how: str, tmp_path: Path) -> None:
    body, encoding = CUT[how]
    block = http(body, "Content-Type: text/html", encoding)
    file = put(tmp_path, "a.warc", record("response", block, "http://a.example/1"))
    (span,) = read(file)
    assert span.drop is not None and span.drop.reason == "truncated" and span.drop.cause
    (span,) = read(file, keep_truncated=True)
    assert span.drop is None and span.document is not None
    assert span.document.attributes["truncated"] and b"<h1>Page 1" in (span.document.html or b"")
    marked = record("response", http(page(1)), "http://a.example/1", extra=("WARC-Truncated: length",))
    whole = record("response", http(page(2)), "http://a.example/2")
    documents = [span.document for span in read(put(tmp_path, "b.warc", marked + whole), keep_truncated=True)]
    assert [doc and doc.attributes["truncated"] for doc in documents] == ["length", None]


def test_a_whole_body_is_not_taken_for_a_cut_one(tmp_path: Path) -> None:
    """A chunked body may lack its last chunk, and a crawler that decoded a body leaves the old length in its header."""
    whole = page(1, 900)
    for body, fields in (
        (gzip.compress(whole), ("Content-Encoding: gzip", f"Content-Length: {len(gzip.compress(whole))}")),
        (whole, ("Content-Encoding: gzip", "Content-Length: 99999")),
        (b"%x\r\n%s\r\n" % (len(whole), whole), ("Transfer-Encoding: chunked",)),
        (zstandard.compress(whole), ("Content-Encoding: zstd",)),
        (whole, (f"Content-Length: {len(whole)}",)),
    ):
        block = http(body, "Content-Type: text/html", *fields)
        assert kept(read(put(tmp_path, "a.warc", record("response", block, "http://a.example/1")))) == ["1"], fields


def test_the_date_as_it_was_given_is_kept_beside(tmp_path: Path) -> None:
    odd = record("response", http(page(1)), "http://a.example/1").replace(b"2024-05-06T", b"2009-03-65T")
    (span,) = read(put(tmp_path, "a.warc", odd), keep_date=True)
    assert span.document is not None and span.document.date == ""
    assert span.document.attributes["date_given"] == "2009-03-65T07:08:09Z"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("br", brotli.compress(page(1))[:20], "undecodable"),  # nothing came out of it, and it is no text as it is
        ("gzip", gzip.compress(page(1))[:14], "truncated"),
        ("br", page(1), None),
        ("gzip", "<p>이 문장은 압축되지 않았다.".encode("euc_kr") * 9, None),
    ],
)
def test_a_body_that_does_not_decode_is_a_page_only_where_it_is_text(
    name: str, data: bytes, reason: str | None, tmp_path: Path
) -> None:
    answer = http(data, "Content-Type: text/html", f"Content-Encoding: {name}")
    (span,) = read(put(tmp_path, "a.warc", record("response", answer, "http://a.example/1")))
    assert (span.drop.reason if span.drop else None) == reason
