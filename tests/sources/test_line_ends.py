"""WARC files whose line ends something converted bring the right pages all the same."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from curate.sources import SourceConfig, reader
from tests.sources.reading import kept, numbers, put, read, real, reasons, sliced
from tests.sources.warc_bytes import frame, http, member, page, record, stored_member, text, warcinfo

Conversion = Callable[[bytes], bytes]


def to_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def each_lf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def lone_lf(data: bytes) -> bytes:
    return re.sub(rb"(?<!\r)\n", b"\r\n", data)


def lines(number: int) -> bytes:
    """A page of many lines, the ends of which are LF."""
    return page(number).replace(b"<p>", b"<p>" + "\n".join(text(number, 9) for _ in range(20)).encode() + b"\n")


def crawl(digest: bool) -> list[bytes]:
    return [
        warcinfo(),
        *(
            record("response", http(lines(number)), f"http://site.example/{number}", digest=digest)
            for number in range(8)
        ),
    ]


@pytest.mark.parametrize("digest", [False, True])
@pytest.mark.parametrize("conversion", [to_lf, each_lf, lone_lf])
def test_a_plain_file_brings_the_pages_as_they_were(tmp_path: Path, conversion: Conversion, digest: bool) -> None:
    spans = read(put(tmp_path, "a.warc", conversion(b"".join(crawl(digest)))))
    assert kept(spans) == numbers(range(8)) and reasons(spans) == []
    found = [span.document for span in spans if span.document]
    assert [document.html for document in found] == [lines(number) for number in range(8)]
    assert not any(document.attributes["length_mismatch"] for document in found)
    assert [document.attributes["digest_mismatch"] for document in found] == [False if digest else None] * 8


@pytest.mark.parametrize("conversion", [to_lf, lone_lf])
def test_a_page_of_both_ends_is_kept_and_marked(tmp_path: Path, conversion: Conversion) -> None:
    both = b"<html>\r\n<p>one\n<p>two\r\n<p>three\n</html>"
    data = conversion(record("response", http(both), "http://site.example/1", digest=True))
    (span,) = read(put(tmp_path, "a.warc", data))
    assert span.document and span.drop is None and to_lf(span.document.html or b"") == to_lf(both)
    assert span.document.attributes["length_mismatch"] and span.document.attributes["digest_mismatch"]


@pytest.mark.parametrize(("name", "packed"), [("a.warc.gz", member), ("a.warc.zst", frame)])
def test_a_compressed_file_with_a_cr_before_each_lf_is_restored(
    tmp_path: Path, name: str, packed: Callable[[bytes], bytes]
) -> None:
    file = put(tmp_path, name, each_lf(b"".join(map(packed, crawl(False) * 4))))
    spans = read(file)
    assert kept(spans) == numbers(*[range(8)] * 4) and reasons(spans) == []
    assert real(sliced(reader(SourceConfig(path=file.name), file), file, 700)) == real(spans)


def test_stored_blocks_that_show_their_line_ends_are_no_conversion(tmp_path: Path) -> None:
    records = [record("response", http(page(number)), f"http://site.example/{number}") for number in range(8)]
    members = list(map(stored_member, records))
    assert all(data.count(b"\n") == data.count(b"\r\n") for data in members)
    file = put(tmp_path, "a.warc.gz", b"".join(members))
    assert kept(read(file)) == numbers(range(8))
    assert len(reader(SourceConfig(path=file.name), file).slices(file, 700)) > 1


def test_a_record_whose_header_was_destroyed_is_not_taken_for_converted_lines(tmp_path: Path) -> None:
    records = crawl(True)
    records[3] = records[3].replace(b"WARC/1.0", b"WARC/x.0")
    spans = read(put(tmp_path, "a.warc", b"".join(records)))
    assert kept(spans) == ["0", "1", "3", "4", "5", "6", "7"] and reasons(spans) == ["damaged"]
