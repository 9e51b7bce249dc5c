"""ZIP archives by their directory: what stands in them, and a cause for each that contradicts itself."""

import io
import struct
import zipfile
from collections.abc import Callable

import pytest

from curate.sources.members import zip_entries as archives
from curate.sources.members.window import MemoryBytes
from curate.sources.members.zip_entries import BadArchive, EntryBytes, zip_entries

DATA = bytes(range(256)) * 900
# The record at the end and a row of the directory: PKWARE's APPNOTE 6.3.10, sections 4.3.16 and 4.3.12.
END, ROW = struct.Struct("<4s4H2LH"), struct.Struct("<4s6H3L5H2L")


def archive(method: int = zipfile.ZIP_STORED, comment: bytes = b"", data: bytes = DATA) -> bytes:
    """Two files, with a comment behind."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as opened:
        opened.writestr("archive/a.warc.gz", data)
        opened.writestr("ä.txt", b"words")
        opened.comment = comment
    return held.getvalue()


def read(data: bytes, name: str = "archive/a.warc.gz") -> bytes:
    source = MemoryBytes(data)
    entry = next(entry for entry in zip_entries(source) if entry.name == name)
    opened = EntryBytes(source, entry)
    try:
        return opened.read_at(0, opened.size)
    finally:
        opened.close()


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("comment", [b"", b"a comment of some length" * 40])
def test_stored_and_deflated_entries_are_read_at_any_place(method: int, comment: bytes) -> None:
    source = MemoryBytes(archive(method, comment))
    first, second = zip_entries(source)
    assert (first.name, second.name, first.size) == ("archive/a.warc.gz", "ä.txt", len(DATA))
    opened = EntryBytes(source, first)
    for offset, length in ((200_000, 99), (5, 7), (0, 1 << 30), (len(DATA), 4)):
        assert opened.read_at(offset, length) == DATA[offset : offset + length]
    opened.close()


def test_a_zip64_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    assert read(archive()) == DATA


def cut(data: bytes) -> bytes:
    return data[:-30]


def changed(layout: struct.Struct, mark: bytes, number: int, value: int) -> Callable[[bytes], bytes]:
    """The archive with another number in the record that begins with a mark."""

    def harmed(data: bytes) -> bytes:
        at = data.index(mark)
        row = list(layout.unpack_from(data, at))
        row[number] = value
        return data[:at] + layout.pack(*row) + data[at + layout.size :]

    return harmed


def with_row(number: int, value: int) -> Callable[[bytes], bytes]:
    """In the directory's first row: 3 flags, 4 method, 8 stored, 9 size, 16 place."""
    return changed(ROW, b"PK\x01\x02", number, value)


def with_end(number: int, value: int) -> Callable[[bytes], bytes]:
    """In the record at its end: 5 length and 6 place of the directory."""
    return changed(END, b"PK\x05\x06", number, value)


@pytest.mark.parametrize(
    ("harm", "cause"),
    [
        (cut, "its directory is missing or damaged"),
        (lambda data: b"", "its directory is missing or damaged"),
        (lambda data: data.replace(b"PK\x01\x02", b"PK\x01\x03"), "its directory is missing or damaged"),
        (lambda data: data.replace(b"PK\x03\x04", b"PK\x03\x05"), "is not where the directory of the archive says"),
        (with_row(8, 1 << 30), "reaches into what follows it"),
        (with_row(16, 1 << 30), "reaches into what follows it"),
        (with_row(4, 8), "packed otherwise than it says"),
        (with_row(4, 12), "packed by method 12"),
        (with_row(3, 1), "is encrypted"),
        (with_row(9, 3 << 30), "unfolds from 230,400 bytes"),
        (with_end(5, 1 << 30), "its directory is missing or damaged"),
        (with_end(6, 0xFFFFFFFF), "reaches into what follows it"),
    ],
)
def test_each_contradiction_is_a_cause(harm: Callable[[bytes], bytes], cause: str) -> None:
    with pytest.raises(BadArchive, match=cause):
        read(harm(archive()))


def test_a_damaged_deflated_entry_and_one_that_is_longer_or_shorter_than_row() -> None:
    packed = archive(zipfile.ZIP_DEFLATED)
    with pytest.raises(BadArchive, match="is damaged"):
        read(packed[:60] + b"\xff" * 40 + packed[100:])
    with pytest.raises(BadArchive, match="has 230,400 bytes of 230,401"):
        read(with_row(9, len(DATA) + 1)(packed))
    assert read(with_row(9, 1000)(packed)) == DATA[:1000]


def test_a_bomb_is_never_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "ALWAYS_UNFOLDED", 1 << 16)
    bomb = archive(zipfile.ZIP_DEFLATED, data=b"\0" * (1 << 24))
    with pytest.raises(BadArchive, match="to 16,777,216, which no crawl does"):
        read(bomb)


def test_a_directory_too_large_to_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_DIRECTORY_BYTES", 10_000)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as opened:
        for number in range(200):
            opened.writestr(f"{number:030}", b"")
    with pytest.raises(BadArchive, match="directory of 15,200 bytes is larger than 10,000"):
        zip_entries(MemoryBytes(held.getvalue()))


def test_two_entries_over_the_same_bytes_are_refused() -> None:
    packed = archive(zipfile.ZIP_DEFLATED)
    rows = packed.index(b"PK\x01\x02")
    row = packed[rows : packed.index(b"PK\x01\x02", rows + 1)]
    at = packed.rindex(b"PK\x05\x06")
    end = list(END.unpack_from(packed, at))
    end[3], end[4], end[5] = end[3] + 1, end[4] + 1, end[5] + len(row)
    with pytest.raises(BadArchive, match="reaches into what follows it"):
        zip_entries(MemoryBytes(packed[:rows] + row + packed[rows:at] + END.pack(*end)))
