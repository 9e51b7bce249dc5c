"""Zstandard frames one by one (RFC 8878), with the dictionary frame that the IIPC's .warc.zst form allows."""

from collections.abc import Iterator

import zstandard

from curate.sources.members.gzip_members import Member, MemberData
from curate.sources.members.window import MemoryBytes, Window

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = range(0x184D2A50, 0x184D2A60)
DICTIONARY_MAGIC = b"\x5d\x2a\x4d\x18"
DICTIONARY_BYTES = 64 << 20
LARGEST_BLOCK = 1 << 17
CUT = "the file ends inside this frame"


def dictionary(window: Window) -> bytes | None:
    """The dictionary in the file's first frame (skippable, itself compressed or not), if it has one."""
    head = window.take(0, 8)
    length = int.from_bytes(head[4:8], "little")
    if not head.startswith(DICTIONARY_MAGIC) or len(head) < 8 or length > DICTIONARY_BYTES:
        return None
    data = window.take(8, length)
    if not data.startswith(MAGIC):
        return data
    try:
        return zstandard.ZstdDecompressor().stream_reader(data).read(DICTIONARY_BYTES)
    except zstandard.ZstdError:
        return None


class ZstdFrames:
    """The zstd side of a WARC file; a frame's own block sizes say where it ends."""

    magic = MAGIC
    name = "zstd"
    longest_stored = LARGEST_BLOCK
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
        inflated, end = MemberData(max_bytes), offset
        for data, end, fault in self.stream(offset):
            if fault:
                return self._broken(offset, end, inflated.size, fault)
            inflated.add(data)
        return inflated.member(offset, end)

    def _broken(self, offset: int, reached: int, size: int, fault: str) -> Member:
        """A frame that does not inflate; where its blocks lead to another frame, its end is known all the same."""
        frame = _Frame(self.window, offset)
        while frame.next_block():
            pass
        bounded = not frame.fault and (frame.end == self.window.size or self.starts(frame.end))
        return Member(offset, frame.end if bounded else reached, b"", size, fault, bounded=bounded)

    def stream(self, offset: int) -> Iterator[tuple[bytes, int, str]]:
        """Inflated stretches from the frame at `offset` to its end, as `GzipMembers.stream`."""
        frame = _Frame(self.window, offset)
        if self.window.take(offset, 4) == MAGIC:
            inflater = self._decompressor.decompressobj()
            try:
                while piece := frame.read():  # block by block: a call that fails gives nothing of what it inflated
                    if data := inflater.decompress(piece):
                        yield data, frame.position, ""
            except zstandard.ZstdError as error:
                fault = frame.fault or str(error).rpartition("error: ")[2]
                yield b"", frame.position, fault
                return
        while frame.next_block():
            pass
        yield b"", frame.end, frame.fault


def whole_frames(data: bytes) -> bool:
    """Whether bytes that begin with a frame end with the end of one."""
    window, position = Window(MemoryBytes(data)), 0
    while position < len(data) and data.startswith(MAGIC, position):
        frame = _Frame(window, position)
        while frame.next_block():
            pass
        if frame.fault:
            return False
        position = frame.end
    return True


class _Frame:
    """One frame, measured and read block by block."""

    def __init__(self, window: Window, start: int) -> None:
        self._window = window
        self.position = self.end = start  # [position, end) is measured but not read yet
        self.fault = ""
        self._last = False
        self._trailer = 0
        self._measure_head()

    def read(self) -> bytes:
        """The frame's head, then the next block each time; b"" at its end."""
        if self.position == self.end and not self.next_block():
            return b""
        data = self._window.take(self.position, self.end - self.position)
        self.position = self.end
        return data

    def _measure_head(self) -> None:
        head = self._window.take(self.end, 18)
        if len(head) < 8:
            self.fault, self._last = CUT, True
        elif head[:4] != MAGIC:
            self._last = True
            self._move(8 + int.from_bytes(head[4:8], "little"))
        elif head[4] & 0x08:
            self.fault, self._last = "reserved bit in the frame header", True
        else:
            single = head[4] >> 5 & 1
            content = (single, 2, 4, 8)[head[4] >> 6]
            self._trailer = 4 * (head[4] >> 2 & 1)
            self._move(5 + (not single) + (0, 1, 2, 4)[head[4] & 3] + content)

    def next_block(self) -> bool:
        """Measures one block more; False when there is none or the frame is broken."""
        if self._last:
            return False
        word = self._window.take(self.end, 3)
        block = int.from_bytes(word, "little")
        kind, length = block >> 1 & 3, block >> 3
        if len(word) < 3:
            self.fault, self._last = CUT, True
            return False
        if kind == 3 or length > LARGEST_BLOCK:
            self.fault, self._last = "invalid block in the frame", True
            return False
        self._last = block & 1 == 1
        self._move(3 + (1 if kind == 1 else length) + (self._trailer if self._last else 0))
        return True

    def _move(self, length: int) -> None:
        self.end += length
        if self.end > self._window.size:
            self.end, self.fault, self._last = self._window.size, CUT, True
