"""Zstandard frames one by one (RFC 8878), with the dictionary frame that the IIPC's .warc.zst form allows."""

from collections.abc import Iterator
from typing import IO, cast

import zstandard

from curate.sources.gzip_members import KEPT_OF_TOO_LARGE, Member
from curate.sources.window import Window

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
DICTIONARY_BYTES = 64 << 20
CHUNK = 1 << 18


def dictionary(window: Window) -> bytes | None:
    """The dictionary in the file's first frame (skippable, itself compressed or not), if it has one."""
    head = window.take(0, 8)
    if not head.startswith(DICTIONARY_MAGIC) or len(head) < 8:
        return None
    length = int.from_bytes(head[4:8], "little")
    if length > DICTIONARY_BYTES:
        return None
    data = window.take(8, length)
    if not data.startswith(MAGIC):
        return data
    try:
        return zstandard.ZstdDecompressor().stream_reader(data).read(DICTIONARY_BYTES)
    except zstandard.ZstdError:
        return None


class ZstdFrames:
    """The zstd side of a WARC file; frames are measured block by block before they are inflated."""

    magic = MAGIC
    name = "zstd"
    longest_stored = 1 << 17  # largest block
    checked = False  # the checksum of a frame is optional

    def __init__(self, window: Window) -> None:
        self.window = window
        words = dictionary(window)
        trained = None if words is None else zstandard.ZstdCompressionDict(words)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=trained)

    def starts(self, offset: int) -> bool:
        """Whether a frame, data or skippable, can start at `offset`."""
        head = self.window.take(offset, 4)
        return head == MAGIC or (len(head) == 4 and int.from_bytes(head, "little") in SKIPPABLE)

    def member(self, offset: int, max_bytes: int) -> Member:
        """The frame at `offset`; above `max_bytes` it is inflated to its end but not held."""
        end, fault = self._end(offset)
        if fault:
            return Member(offset, end, b"", 0, fault)
        if self.window.take(offset, 4) != MAGIC:
            return Member(offset, end, b"", 0)
        parts: list[bytes] = []
        size = 0
        head = b""
        for data, _, fault in self._inflate(offset, end):
            if fault:
                return Member(
                    offset, end, b"", size, fault, bounded=end == self.window.size or self.starts(end)
                )
            size += len(data)
            if size <= max_bytes:
                parts.append(data)
            elif not head:
                head = b"".join([*parts, data])[:KEPT_OF_TOO_LARGE]
                parts = []
        if size > max_bytes:
            return Member(offset, end, head, size, too_large=True)
        return Member(offset, end, b"".join(parts), size)

    def stream(self, offset: int) -> Iterator[tuple[bytes, int, str]]:
        """Inflated stretches from the frame at `offset` to its end, as `GzipMembers.stream`."""
        end, fault = self._end(offset)
        if self.window.take(offset, 4) == MAGIC:
            for data, position, broken in self._inflate(offset, end):
                if broken:
                    yield data, position, fault or broken
                    return
                yield data, position, ""
        yield b"", end, fault

    def _inflate(self, offset: int, end: int) -> Iterator[tuple[bytes, int, str]]:
        source = _Stretch(self.window, offset, end)
        # The decompressor asks nothing but read() of its source.
        reader = self._decompressor.stream_reader(cast("IO[bytes]", source), read_size=CHUNK, read_across_frames=False)
        while True:
            try:
                data = reader.read(CHUNK * 4)
            except zstandard.ZstdError as error:
                yield b"", source.position, str(error).removeprefix("zstd decompress error: ")
                return
            if not data:
                return
            yield data, source.position, ""

    def _end(self, offset: int) -> tuple[int, str]:
        """Where the frame ends by its own block sizes, and why it does not when it does not."""
        take = self.window.take
        head = take(offset, 18)
        if len(head) < 8:
            return offset + len(head), "the file ends inside this frame"
        if head[:4] != MAGIC:
            end = offset + 8 + int.from_bytes(head[4:8], "little")
            return end, "" if end <= self.window.size else "the file ends inside this frame"
        descriptor = head[4]
        if descriptor & 0x08:
            return offset + 5, "reserved bit in the frame header"
        single = descriptor >> 5 & 1
        content_bytes = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
        position = offset + 5 + (not single) + (0, 1, 2, 4)[descriptor & 3] + content_bytes
        while True:
            word = take(position, 3)
            if len(word) < 3:
                return position, "the file ends inside this frame"
            block = int.from_bytes(word, "little")
            kind, length = block >> 1 & 3, block >> 3
            if kind == 3 or length > self.longest_stored:
                return position, "invalid block in the frame"
            position += 3 + (1 if kind == 1 else length)
            if block & 1:
                break
        position += 4 * (descriptor >> 2 & 1)
        return position, "" if position <= self.window.size else "the file ends inside this frame"


class _Stretch:
    """A file-like view of [start, end) for the decompressor."""

    def __init__(self, window: Window, start: int, end: int) -> None:
        self._window, self.position, self._end = window, start, end

    def read(self, length: int) -> bytes:
        """The next bytes of the stretch."""
        data = self._window.take(self.position, min(length, self._end - self.position))
        self.position += len(data)
        return data
