"""Files that are one compressed stream: .xz and .bz2. Nothing inside can be found without all before it."""

import bz2
import lzma
from collections.abc import Iterator
from typing import Any

from curate.sources.members.gzip_members import KEPT_OF_TOO_LARGE, Member
from curate.sources.members.window import Window

STEP = 1 << 16
OUT = 1 << 20
CUT = "the file ends inside this stream"


class WholeStream:
    """One .xz or .bz2 stream as a codec; several of them may follow each other."""

    longest_stored = 0
    checked = False

    def __init__(self, window: Window, name: str, magic: bytes) -> None:
        self.window, self.name, self.magic = window, name, magic

    @classmethod
    def at_start(cls, window: Window) -> "WholeStream | None":
        """The codec of a file by its first bytes."""
        for name, magic in (("xz", b"\xfd7zXZ\x00"), ("bz2", b"BZh")):
            if window.take(0, len(magic)) == magic:
                return cls(window, name, magic)
        return None

    def starts(self, offset: int) -> bool:
        """Whether a stream begins at `offset`."""
        return self.window.take(offset, len(self.magic)) == self.magic

    def _inflater(self) -> Any:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ) if self.name == "xz" else bz2.BZ2Decompressor()

    def stream(self, offset: int) -> Iterator[tuple[bytes, int, str]]:
        """Inflated stretches from the stream at `offset` to its end, as `GzipMembers.stream`."""
        inflater, position = self._inflater(), offset
        while not inflater.eof:
            data = b""
            if inflater.needs_input:
                data = self.window.take(position, STEP)
                position += len(data)
                if not data:
                    yield b"", position, CUT
                    return
            try:
                inflated = inflater.decompress(data, OUT)
            except (lzma.LZMAError, OSError, EOFError, ValueError) as error:
                yield b"", position, str(error)
                return
            yield inflated, position - len(inflater.unused_data), ""

    def member(self, offset: int, max_bytes: int) -> Member:
        """The stream at `offset`; above `max_bytes` it is not held."""
        parts: list[bytes] = []
        size, end = 0, offset
        for data, end, fault in self.stream(offset):
            if fault:
                return Member(offset, end, b"", size, fault)
            size += len(data)
            if size <= max_bytes:
                parts.append(data)
        held = b"".join(parts)
        if size > max_bytes:
            return Member(offset, end, held[:KEPT_OF_TOO_LARGE], size, too_large=True)
        return Member(offset, end, held, size)
