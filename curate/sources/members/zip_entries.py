"""The entries of a ZIP archive, stored or deflated, as bytes of their own: the WARC files of a WACZ.

The directory is read by zipfile, the entries are not: it checks the sum of an entry at its end, where damage is looked
for page by page, and can't begin in the middle of one. An archive that contradicts itself is refused as a whole.
"""

import struct
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

from curate.sources.members.window import Bytes, BytesFile

LOCAL = struct.Struct("<4s5H3L2H")  # PKWARE's APPNOTE 6.3.10, section 4.3.7
ENCRYPTED = 0x1
MOST_DIRECTORY_BYTES = 64 << 20  # a crawl of a million files has less
# What a page is deflated to is a tenth of it, zeros a thousandth; a WARC file is nothing that unfolds beyond this.
MOST_UNFOLDED = 100
ALWAYS_UNFOLDED = 64 << 20
STEP = 1 << 18
# What zipfile raises for an archive that is damaged or was made by hand.
DAMAGE = (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, EOFError, struct.error)


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


class _Directory(BytesFile):
    """An archive as zipfile reads it, which asks for the directory in one piece, as long as the archive says it is."""

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes. Raises BadArchive for a directory that is too large to be held."""
        if size > MOST_DIRECTORY_BYTES:
            raise BadArchive(f"its directory of {size:,} bytes is larger than {MOST_DIRECTORY_BYTES:,}")
        return super().read(size) or b""

    def close(self) -> None:
        """The archive stays open: its entries are read from it."""


def zip_entries(source: Bytes) -> list[ZipEntry]:
    """The entries that the directory of an archive names, by their place. Raises BadArchive."""
    try:
        with zipfile.ZipFile(_Directory(source)) as archive:
            held, start = archive.infolist(), archive.start_dir
    except DAMAGE as error:
        raise BadArchive(f"its directory is missing or damaged ({str(error).lower()})") from None
    entries = sorted((_entry(info) for info in held), key=lambda entry: entry.header)
    ends = [entry.header for entry in entries[1:]] + [start]
    for entry, end in zip(entries, ends, strict=False):
        if entry.header < 0 or entry.header + LOCAL.size + entry.stored > end:
            raise BadArchive(f"its directory is damaged: '{entry.name}' reaches into what follows it")
    return entries


def _entry(info: zipfile.ZipInfo) -> ZipEntry:
    sizes = info.compress_size, info.file_size
    return ZipEntry(info.filename, info.header_offset, *sizes, info.compress_type, info.flag_bits, info.CRC)


class EntryBytes:
    """One entry as a file of its own; closes the archive with itself.

    A stored one is a stretch of the archive. A deflated one is inflated as far as it is asked for, into a temporary
    file, since a reader may go back. Raises BadArchive for one that can't be read.
    """

    def __init__(self, archive: Bytes, entry: ZipEntry) -> None:
        self._archive, self._entry = archive, entry
        self.size = entry.size
        self.is_cheap = entry.method == zipfile.ZIP_STORED  # to begin in the middle of
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
    if entry.method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadArchive(f"'{entry.name}' in the archive is packed by method {entry.method}, which is not read")
    if entry.size > max(ALWAYS_UNFOLDED, MOST_UNFOLDED * entry.stored):
        raise BadArchive(
            f"'{entry.name}' in the archive unfolds from {entry.stored:,} bytes to {entry.size:,}, which no crawl does"
        )
    head = archive.read_at(entry.header, LOCAL.size)
    if len(head) < LOCAL.size or not head.startswith(b"PK\x03\x04"):
        raise BadArchive(f"'{entry.name}' is not where the directory of the archive says")
    *_, method, _, _, _, _, _, name, extra = LOCAL.unpack(head)
    if method != entry.method or (entry.method == zipfile.ZIP_STORED and entry.stored != entry.size):
        raise BadArchive(f"its directory is damaged: '{entry.name}' is packed otherwise than it says")
    return int(entry.header + LOCAL.size + name + extra)
