"""ARC files, of both versions, in all packings and under any name; and what damage costs them."""

from pathlib import Path

import pytest

from curate.sources import SourceConfig, reader
from curate.sources.reader import Slice, settled
from tests.sources.reading import kept, numbers, put, read, real, reasons, sliced
from tests.sources.warc_bytes import arc, frame, member, page

PACKED = {
    "a.arc": b"".join,
    "a.arc.gz": lambda records: b"".join(map(member, records)),
    "one.arc.gz": lambda records: member(b"".join(records)),
    "a.arc.zst": lambda records: b"".join(map(frame, records)),
    "a.warc": b"".join,
    "a.warc.gz": lambda records: b"".join(map(member, records)),
}


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", PACKED)
def test_every_packing_brings_the_same_pages(tmp_path: Path, name: str, version: int) -> None:
    file = put(tmp_path, name, PACKED[name](arc(6, version)))
    spans = read(file)
    assert kept(spans) == numbers(range(6)) and reasons(spans) == []
    found = [span.document for span in spans if span.document]
    assert [document.html for document in found] == [page(number) for number in range(6)]
    assert found[1].url == "http://site.example/a b/1"
    assert {(document.date, document.status) for document in found} == {("2005-06-07T08:09:10Z", 200)}
    assert [span.type for span in spans if span.type not in ("response", "padding")] == ["warcinfo"]
    made = reader(SourceConfig(path=file.name), file)
    assert real(sliced(made, file, 700)) == real(spans)
    for span in spans:
        assert next(iter(settled(made.read(file, Slice(span.offset, span.offset + 1))))) == span


def test_addresses_that_are_no_pages_and_answers_without_a_status(tmp_path: Path) -> None:
    records = [
        *arc(1),
        b"dns:site.example 10.0.0.1 20050607080910 text/dns 5\nwords\n",
        b"http://site.example/old 10.0.0.1 20050607080910 text/html 16\n<html><p>words.\n\n",
    ]
    spans = real(read(put(tmp_path, "a.arc", b"".join(records))))
    assert [span.type for span in spans] == ["warcinfo", "response", "crawler", "response"]
    assert reasons(spans) == ["bad_status"]


def test_a_length_that_does_not_fit_and_a_cut_tail_cost_one_record(tmp_path: Path) -> None:
    records = arc(6)
    wrong = [*records[:3], records[3].replace(b"text/html ", b"text/html 9"), *records[4:]]
    spans = read(put(tmp_path, "a.arc", b"".join(wrong)))
    assert kept(spans) == ["0", "1", "3", "4", "5"] and reasons(spans) == ["damaged"]
    spans = read(put(tmp_path, "b.arc", b"".join(records)[:-50]))
    assert kept(spans) == numbers(range(5)) and reasons(spans) == ["damaged"]


def test_a_damaged_member_costs_its_record(tmp_path: Path) -> None:
    members = list(map(member, arc(6)))
    members[3] = members[3][:40] + bytes([members[3][40] ^ 0x10]) + members[3][41:]
    spans = read(put(tmp_path, "a.arc.gz", b"".join(members)))
    assert set(kept(spans)) >= {"0", "1", "3", "4", "5"} and "damaged" in reasons(spans)


def test_a_record_that_is_too_large_is_passed_over(tmp_path: Path) -> None:
    spans = read(put(tmp_path, "a.arc", b"".join(arc(3))), max_record_bytes=300)
    assert reasons(spans) == ["too_large"] * 3 and not kept(spans)


@pytest.mark.parametrize("name", ["a.arc", "a.arc.gz"])
def test_one_flipped_bit_costs_no_more_than_one_page(tmp_path: Path, name: str) -> None:
    data = PACKED[name](arc(8))
    pages = {page(number) for number in range(8)}
    for place in range(3, len(data), 41):
        hurt = data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]
        found = {span.document.html for span in read(put(tmp_path, name, hurt)) if span.document}
        assert len(pages - found) <= 1, place
