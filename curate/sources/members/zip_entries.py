"""The entries of a ZIP archive, stored or deflated, as bytes of their own: the WARC files of a WACZ.

After PKWARE's APPNOTE 6.3.10, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 to 4.3.16 (its end) and 4.5.3
(Zip64). An archive that contradicts itself is refused as a whole: what two readers may read in two ways is no archive.
"""

import struct
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from curate.sources.members.window import Bytes

END, LOCATOR, END64 = struct.Struct("<4s4H2LH"), struct.Struct("<4sLQL"), struct.Struct("<4sQ2H2L4Q")
ROW, LOCAL = struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s5H3L2H")
STORED, DEFLATED = 0, 8
ENCRYPTED, IN_UTF8 = 0x1, 0x800
MASKED, MASKED_COUNT = 0xFFFFFFFF, 0xFFFF  # the value stands in a Zip64 field
LONGEST_COMMENT = 65_535
MOST_DIRECTORY_BYTES = 64 << 20  # a crawl of a million files has less
# What a page is deflated to is a tenth of it, zeros a thousandth; a WARC file is nothing that unfolds beyond this.
MOST_UNFOLDED = 100
ALWAYS_UNFOLDED = 64 << 20
STEP = 1 << 18


class BadArchive(OSError):
    """An archive that can't be read; the message is the cause in plain words."""


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """One file of an archive: where its local header stands, and what the directory says of it."""

    name: str
    header: int
    stored: int  # bytes in the archive
    size: int  # bytes unpacked
    method: int
    flags: int
    crc: int


def zip_entries(source: Bytes) -> list[ZipEntry]:
    """The entries that the directory of an archive names, by their place. Raises BadArchive."""
    start, size, count = _directory(source)
    data = source.read_at(start, size)
    entries = sorted(_rows(data), key=lambda entry: entry.header)
    if len(entries) != count:
        raise BadArchive(f"its directory counts {count} files and names {len(entries)}")
    ends = [entry.header for entry in entries[1:]] + [start]
    for entry, end in zip(entries, ends, strict=True):
        if entry.header + LOCAL.size + entry.stored > end:
            raise BadArchive(f"its directory is damaged: '{entry.name}' reaches into what follows it")
    return entries


def _directory(source: Bytes) -> tuple[int, int, int]:
    """Where the directory starts, its length in bytes, and how many files it counts."""
    first = max(0, source.size - END.size - LONGEST_COMMENT)
    tail = source.read_at(first, source.size - first)
    at = tail.rfind(b"PK\x05\x06")
    while at >= 0 and not _is_end(tail, at):
        at = tail.rfind(b"PK\x05\x06", 0, at)
    if at < 0:
        raise BadArchive("it has no directory at its end: it is cut, or no ZIP archive")
    _, disk, _, _, count, size, start, _ = END.unpack_from(tail, at)
    if disk not in (0, MASKED_COUNT):
        raise BadArchive("it is one part of an archive in several")
    if MASKED in (size, start) or count == MASKED_COUNT:
        count, size, start = _wide(source, first + at - LOCATOR.size)
    if start + size > first + at:
        raise BadArchive("its directory is damaged: it lies beyond the archive")
    if size > MOST_DIRECTORY_BYTES:
        raise BadArchive(f"its directory of {size:,} bytes is larger than {MOST_DIRECTORY_BYTES:,}")
    return start, size, count


def _is_end(tail: bytes, at: int) -> bool:
    """Whether the record that closes an archive stands here: only its comment follows, of any content."""
    return len(tail) - at >= END.size and at + END.size + END.unpack_from(tail, at)[-1] == len(tail)


def _wide(source: Bytes, place: int) -> tuple[int, int, int]:
    """Count, length and start of the directory of a Zip64 archive."""
    try:
        mark, _, at, _ = LOCATOR.unpack(source.read_at(max(0, place), LOCATOR.size))
        sign, *_, count, size, start = END64.unpack(source.read_at(at, END64.size))
    except (struct.error, OverflowError):
        mark = sign = b""
    if mark != b"PK\x06\x07" or sign != b"PK\x06\x06":
        raise BadArchive("its directory is damaged: the Zip64 record is not where it should be")
    return count, size, start


def _rows(data: bytes) -> Iterator[ZipEntry]:
    at = 0
    while at < len(data):
        if len(data) - at < ROW.size or data[at : at + 4] != b"PK\x01\x02":
            raise BadArchive("its directory is damaged: a row does not begin as one")
        row = ROW.unpack_from(data, at)
        flags, method, crc, stored, size = row[3], row[4], row[7], row[8], row[9]
        name_end = at + ROW.size + row[10]
        extra_end = name_end + row[11]
        name, extra = data[at + ROW.size : name_end], data[name_end:extra_end]
        size, stored, header = _wide_sizes(extra, [size, stored, row[16]])
        yield ZipEntry(_decoded(name, flags), header, stored, size, method, flags, crc)
        at = extra_end + row[12]


def _wide_sizes(extra: bytes, values: list[int]) -> list[int]:
    """Size, stored size and place, each taken from the Zip64 field where it is masked."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + length]
            for number, value in enumerate(values):
                if value == MASKED and len(field) >= 8:
                    values[number], field = struct.unpack_from("<Q", field)[0], field[8:]
            break
        at += 4 + length
    return values


def _decoded(name: bytes, flags: int) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        return name.decode("utf-8" if flags & IN_UTF8 else "cp437", "replace")


class EntryBytes:
    """One entry as a file of its own; closes the archive with itself.

    A stored one is a stretch of the archive. A deflated one is inflated as far as it is asked for, into a temporary
    file, since a reader may go back. Raises BadArchive for one that can't be read.
    """

    def __init__(self, archive: Bytes, entry: ZipEntry) -> None:
        self._archive, self._entry = archive, entry
        self.size = entry.size
        self.is_cheap = entry.method == STORED  # to begin in the middle of
        self._start = _data_start(archive, entry)
        self._position = self._start  # how far the archive was inflated
        self._inflater = zlib.decompressobj(-15)
        self._unpacked: Any = None
        self._length = 0

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset` of the unpacked entry. Raises BadArchive."""
        length = max(0, min(length, self.size - offset))
        if self.is_cheap:
            return self._archive.read_at(self._start + offset, length)
        if self._unpacked is None:
            self._unpacked = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        while self._length < offset + length:
            self._inflate()
        self._unpacked.seek(offset)
        return bytes(self._unpacked.read(length))

    def _inflate(self) -> None:
        """The next stretch, to the end of the temporary file."""
        end = self._start + self._entry.stored
        data = self._inflater.unconsumed_tail
        if not data:
            data = self._archive.read_at(self._position, min(STEP, end - self._position))
            self._position += len(data)
        try:
            more = self._inflater.decompress(data, STEP)
        except zlib.error as error:
            raise BadArchive(
                f"'{self._entry.name}' in the archive is damaged: {str(error).rpartition(': ')[2]}"
            ) from None
        if not more and (self._inflater.eof or not data):
            raise BadArchive(f"'{self._entry.name}' in the archive has {self._length:,} bytes of {self.size:,}")
        self._unpacked.seek(self._length)
        self._unpacked.write(more[: self.size - self._length])
        self._length = min(self.size, self._length + len(more))

    def close(self) -> None:
        """Closes the archive, and gives back the temporary file if there is one."""
        self._archive.close()
        if self._unpacked is not None:
            self._unpacked.close()


def _data_start(archive: Bytes, entry: ZipEntry) -> int:
    """Where the data of an entry begin, behind its local header."""
    if entry.flags & ENCRYPTED:
        raise BadArchive(f"'{entry.name}' in the archive is encrypted")
    if entry.method not in (STORED, DEFLATED):
        raise BadArchive(f"'{entry.name}' in the archive is packed by method {entry.method}, which is not read")
    if entry.size > max(ALWAYS_UNFOLDED, MOST_UNFOLDED * entry.stored):
        raise BadArchive(
            f"'{entry.name}' in the archive unfolds from {entry.stored:,} bytes to {entry.size:,}, which no crawl does"
        )
    head = archive.read_at(entry.header, LOCAL.size)
    if len(head) < LOCAL.size or not head.startswith(b"PK\x03\x04"):
        raise BadArchive(f"'{entry.name}' is not where the directory of the archive says")
    *_, method, _, _, _, _, _, name, extra = LOCAL.unpack(head)
    if method != entry.method or (entry.method == STORED and entry.stored != entry.size):
        raise BadArchive(f"its directory is damaged: '{entry.name}' is packed otherwise than it says")
    return int(entry.header + LOCAL.size + name + extra)
