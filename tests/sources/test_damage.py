"""Damaged WARC files: what is hit is lost and entered, everything else comes out as it was."""

import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from curate.sources import SourceConfig, reader
from curate.sources.reader import InputFile, Slice, Span, settled
from tests.sources.reading import kept, numbers, put, read, real, reasons, sliced
from tests.sources.warc_bytes import frame, http, member, page, record, response, site, stored_member, text

Pack = Callable[[bytes], bytes]
PACKED: dict[str, Pack] = {"a.warc.gz": member, "b.warc.gz": stored_member, "a.warc.zst": frame}


def starts(parts: list[bytes]) -> list[int]:
    """Where each part begins when they are joined."""
    return [sum(map(len, parts[:number])) for number in range(len(parts))]


def flipped(data: bytes, at: int, bit: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :]


def intact(spans: list[Span]) -> bool:
    """Whether every page that was kept is the page that was written."""
    documents = [s.document for s in spans if s.document and not s.drop]
    return all(d.html == page(int(d.url.rpartition("/")[2]), 40) for d in documents)


@pytest.mark.parametrize("name", PACKED)
def test_one_flipped_byte_anywhere_costs_one_record(tmp_path: Path, name: str) -> None:
    parts = [PACKED[name](part) for part in site(7, words=40)]
    data = b"".join(parts)
    begin = [*starts(parts), len(data)]
    chance = random.Random(name)
    for at in sorted(chance.sample(range(len(data)), 400)):
        broken = put(tmp_path, name, flipped(data, at, chance.randrange(8)))
        spans = read(broken)
        hit = max(number for number, start in enumerate(begin) if start <= at) - 1  # -1 is the warcinfo
        found = kept(spans)
        assert intact(spans)
        assert set(numbers(range(7))) - set(found) <= {str(hit)}
        if str(hit) not in found and hit >= 0:
            assert [s.offset for s in spans if s.drop][:1] == [begin[hit + 1]]
            assert sum(s.length for s in spans if s.drop or s.type == "padding") == len(parts[hit + 1])


@pytest.mark.parametrize("name", PACKED)
def test_a_cut_file_of_one_member_loses_one_record_and_says_so_once(tmp_path: Path, name: str) -> None:
    parts = site(7, words=40)
    data = PACKED[name](b"".join(parts))
    for cut in random.Random(name).sample(range(1, len(data) - 40), 60):
        spans = read(put(tmp_path, name, data[:-cut]))
        found = kept(spans)
        assert intact(spans) and found == numbers(range(len(found)))
        assert [s.type for s in spans].count("damaged") == 1


def test_one_of_two_thousand(tmp_path: Path) -> None:
    parts = [member(part) for part in site(2000, words=20)]
    data = b"".join(parts)
    at = starts(parts)[1000] + len(parts[1000]) // 2
    spans = read(put(tmp_path, "a.warc.gz", flipped(data, at)))
    assert kept(spans) == numbers(range(999), range(1000, 2000))
    damaged = [span for span in spans if span.drop]
    assert [(s.offset, s.length, s.type) for s in damaged] == [(starts(parts)[1000], len(parts[1000]), "damaged")]
    assert damaged[0].drop is not None and damaged[0].drop.cause


@pytest.mark.parametrize("digest", [False, True])
def test_one_flipped_byte_in_an_uncompressed_file(tmp_path: Path, digest: bool) -> None:
    parts = [response(number, 40, digest=digest) for number in range(6)]
    data = b"".join(parts)
    begin = starts(parts)
    chance = random.Random(digest)
    for at in sorted(chance.sample(range(len(data)), 600)):
        spans = read(put(tmp_path, "a.warc", flipped(data, at, chance.randrange(8))))
        hit = max(number for number, start in enumerate(begin) if start <= at)
        whole = [s for s in spans if s.document and not s.drop and f"/{hit}" not in s.document.url]
        others = [s for s in whole if s.document and s.document.html in [page(n, 40) for n in range(6) if n != hit]]
        assert len(others) == 5, at
        body_starts = begin[hit] + parts[hit].index(b"<!DOCTYPE")
        body_ends = begin[hit] + parts[hit].rindex(b"</html>") + 7
        if digest and body_starts <= at < body_ends:
            flagged = [s.document.attributes["digest_mismatch"] for s in spans if s.document]
            assert flagged.count(True) == 1


@pytest.mark.parametrize("name", [*PACKED, "a.warc"])
def test_cut_anywhere_keeps_what_is_whole(tmp_path: Path, name: str) -> None:
    parts = [PACKED[name](part) if name in PACKED else part for part in site(4, words=40)]
    data = b"".join(parts)
    begin = [*starts(parts), len(data)]
    for cut in range(0, len(data), 7):
        spans = read(put(tmp_path, name, data[:cut]))
        whole = sum(end <= cut for end in begin[2:])
        assert kept(spans)[:whole] == numbers(range(whole)) and intact(spans)
        if name != "a.warc":
            assert kept(spans) == numbers(range(whole))
            assert reasons(spans) == ([] if cut in begin else ["damaged"])


@pytest.mark.parametrize("name", [*PACKED, "a.warc"])
@pytest.mark.parametrize(
    "junk", [b"\0" * 600, b"some words that were never part of a crawl\n" * 9, b"\x1f\x8b\x08\0" * 40]
)
def test_junk_between_records_is_entered_and_costs_none(tmp_path: Path, name: str, junk: bytes) -> None:
    parts = [PACKED[name](part) if name in PACKED else part for part in site(6, words=40)]
    for place in range(len(parts) + 1):
        spans = read(put(tmp_path, name, b"".join([*parts[:place], junk, *parts[place:]])))
        assert kept(spans) == numbers(range(6)) and intact(spans)
        entered = [s for s in spans if s.drop or s.type == "padding"]
        assert sum(s.length for s in entered) == len(junk) and (junk[0] == 0) != ("damaged" in reasons(spans))


@pytest.mark.parametrize("name", PACKED)
def test_damage_in_neighbours_and_in_every_second_record(tmp_path: Path, name: str) -> None:
    parts = [PACKED[name](part) for part in site(8, words=40)]
    for broken in ({2, 3}, {1, 3, 5, 7}, {0, 8}, {1, 2, 3, 4, 5, 6, 7}):
        data = b"".join(flipped(p, len(p) // 2) if n in broken else p for n, p in enumerate(parts))
        spans = read(put(tmp_path, name, data))
        assert kept(spans) == numbers(range(0)) + [str(n - 1) for n in range(1, 9) if n not in broken]
        assert intact(spans)


def crawl_in_a_body(level: int) -> tuple[list[bytes], bytes]:
    """A crawl file, and a record whose body is that file as it is."""
    inner = b"".join(member(response(1000 + n, 90)) for n in range(400))
    fields = ("Content-Type: application/octet-stream",)
    outer = record("response", http(inner, *fields), "http://site.example/files/crawl.warc.gz")
    return [outer], member(outer, level) if level >= 0 else stored_member(outer, 65_535)


@pytest.mark.parametrize("level", [-1, 0, 6])
@pytest.mark.parametrize("broken", [False, True])
def test_a_crawl_file_inside_a_page_is_never_taken_for_the_crawl(tmp_path: Path, level: int, broken: bool) -> None:
    _, outer = crawl_in_a_body(level)
    before = [member(response(n, 40)) for n in range(3)]
    after = [member(response(n, 40)) for n in range(3, 60)]
    data = b"".join([*before, flipped(outer, 200) if broken else outer, *after])
    file = put(tmp_path, "a.warc.gz", data)
    spans = read(file)
    assert kept(spans) == numbers(range(60)) and intact(spans)
    assert reasons(spans) == (["damaged"] if broken else ["not_text"])
    made = reader(SourceConfig(path=file.name), file)
    for slice_bytes in (3000, 20_000, 77_777):
        assert real(sliced(made, file, slice_bytes)) == spans


@pytest.mark.parametrize("name", PACKED)
def test_slices_of_damaged_files_agree_with_reading_them_whole(tmp_path: Path, name: str) -> None:
    parts = [PACKED[name](part) for part in site(12, words=40)]
    data = b"".join(parts)
    chance = random.Random(7)
    for _ in range(40):
        broken = data
        for _ in range(chance.randrange(1, 4)):
            broken = flipped(broken, chance.randrange(len(data)), chance.randrange(8))
        file = put(tmp_path, name, broken)
        made = reader(SourceConfig(path=file.name), file)
        whole = read(file)
        for slice_bytes in (150, 1000, 4000):
            assert real(sliced(made, file, slice_bytes)) == real(whole)


@pytest.mark.parametrize("at", [0.3, 0.6, 0.99])
@pytest.mark.parametrize("pack", [member, frame])
def test_a_file_in_one_member_gives_what_lies_before_the_damage(tmp_path: Path, at: float, pack: Pack) -> None:
    data = pack(b"".join(site(2000, words=40)))  # a zstd block is 128 KiB, or 180 pages
    name = "a.warc.gz" if pack is member else "a.warc.zst"
    spans = read(put(tmp_path, name, data[: int(len(data) * at)]))
    found = kept(spans)
    assert found == numbers(range(len(found))) and 2000 * at - 300 < len(found) < 2000 and intact(spans)
    assert reasons(spans)[-1] == "damaged"


@pytest.mark.parametrize("at", [0.3, 0.6, 0.99])
def test_a_small_file_in_one_member_gives_what_lies_before_a_broken_byte(tmp_path: Path, at: float) -> None:
    pages = [(text(n).encode(), f"http://site.example/{n}") for n in range(60)]
    data = member(b"".join(record("conversion", *page, content_type="text/plain") for page in pages))
    broken = int(len(data) * at)
    sound = zlib.decompressobj(31).decompress(data[:broken]).count(b"WARC/1.0") - 1
    spans = read(put(tmp_path, "a.warc.wet.gz", data[:broken] + bytes(8) + data[broken + 8 :]))
    assert kept(spans)[:sound] == numbers(range(sound)) and sound > 10
    last = spans[-1]
    assert last.drop is not None and last.drop.reason == "damaged" and last.drop.cause and last.length > 0


def test_after_a_broken_member_of_many_records_the_next_one_is_read(tmp_path: Path) -> None:
    records = site(60, words=40)
    first, second = member(b"".join(records[:31])), member(b"".join(records[31:]))
    spans = read(put(tmp_path, "a.warc.gz", first[:-300] + second))
    assert kept(spans)[-30:] == numbers(range(30, 60)) and intact(spans)
    assert "damaged" in reasons(spans)


@pytest.mark.parametrize(
    "data", [b"this is no crawl file at all " * 99, b"\x1f\x8b\x08\0no", b"PK\x03\x04" + bytes(99), b"W"]
)
@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc", "a.warc.zst"])
def test_a_file_that_is_no_warc_is_one_damaged_span(tmp_path: Path, data: bytes, name: str) -> None:
    spans = read(put(tmp_path, name, data))
    assert reasons(spans) == ["damaged"] and kept(spans) == []


def test_a_file_that_vanishes_is_one_damaged_span(tmp_path: Path) -> None:
    file = InputFile("web", str(tmp_path / "gone.warc.gz"), 700, "")
    made = reader(SourceConfig(path=file.name), file)
    assert made.slices(file, 100) == [Slice()] and made.size(file) == 700
    spans = list(settled(made.read(file, Slice())))
    assert [(s.offset, s.length, s.type) for s in spans] == [(0, 700, "damaged")]
    assert spans[0].drop is not None and "No such file" in spans[0].drop.cause
    assert [(s.offset, s.length) for s in settled(made.read(file, Slice(300, 500, exact=False)))] == [(300, 200)]


def test_damage_that_follows_padding_and_the_other_way_round(tmp_path: Path) -> None:
    good = [member(response(n, 40)) for n in range(2)]
    spans = read(put(tmp_path, "a.warc.gz", good[0] + bytes(50) + b"junk" + bytes(50) + good[1]))
    assert [span.type for span in spans] == ["response", "padding", "damaged", "response"]
    assert kept(spans) == ["0", "1"]
