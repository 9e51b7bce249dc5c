"""Gzip members one by one, each inflated whole and checked against its CRC before anything of it is used."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zlib_ng import zlib_ng as zlib  # zlib's interface and verdicts, twice as fast

from curate.sources.members.window import Window

InflateError: type[Exception] = zlib.error  # type: ignore[assignment]  # the stub takes the class for an instance
FIRST_CHUNK = 1 << 14
LARGEST_CHUNK = 1 << 18
KEPT_OF_TOO_LARGE = 1 << 16


@dataclass(slots=True)
class Member:
    """One compressed member (or zstd frame) at [start, end) of a file."""

    start: int
    end: int
    data: bytes  # inflated; of a member above the cap only the first 64 KiB
    size: int  # inflated length
    fault: str = ""  # why it can't be trusted; then `end` means nothing unless `bounded`
    too_large: bool = False
    bounded: bool = False  # broken inside, yet known to end at `end`


class MemberData:
    """What one member or frame inflates to: all of it up to `max_bytes`, above them the head alone."""

    def __init__(self, max_bytes: int) -> None:
        self.size = 0
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._head = b""

    def add(self, data: bytes) -> None:
        """Takes the next stretch."""
        self.size += len(data)
        if self.size <= self._max_bytes:
            self._parts.append(data)
        elif not self._head:
            self._head = b"".join([*self._parts, data])[:KEPT_OF_TOO_LARGE]
            self._parts = []

    def member(self, start: int, end: int) -> Member:
        """The member, once it came to its end."""
        if self.size > self._max_bytes:
            return Member(start, end, self._head, self.size, too_large=True)
        return Member(start, end, self._parts[0] if len(self._parts) == 1 else b"".join(self._parts), self.size)


def _cause(error: Exception) -> str:
    return str(error).rpartition(": ")[2]


def _until_fault(inflater: Any, data: bytes) -> tuple[bytes, int]:
    """What the bytes before the first bad one inflate to, and how many those are; found by halving steps."""
    parts: list[bytes] = []
    used, step = 0, 1 << len(data).bit_length()
    while step := step >> 1:
        trial = inflater.copy()
        try:
            parts.append(trial.decompress(data[used : used + step]))
        except InflateError:
            continue
        inflater = trial
        used += step
    return b"".join(parts), used


class GzipMembers:
    """The gzip side of a WARC file."""

    magic = b"\x1f\x8b\x08"
    name = "gzip"
    # A deflate block holds at most so many bytes as they are, so no unbroken run of inner members is longer.
    longest_stored = 65_535
    checked = True  # a member's CRC vouches for its bytes

    def __init__(self, window: Window) -> None:
        self.window = window

    def starts(self, offset: int) -> bool:
        """Whether the bytes at `offset` can be the start of a member (reserved flag bits are zero)."""
        head = self.window.take(offset, 4)
        return len(head) == 4 and head.startswith(self.magic) and head[3] < 0x20

    def member(self, offset: int, max_bytes: int) -> Member:
        """The member at `offset`; above `max_bytes` it is inflated to its end but not held."""
        inflater = zlib.decompressobj(31)
        take = self.window.take
        inflated = MemberData(max_bytes)
        position, chunk_bytes = offset, FIRST_CHUNK
        tail = b""
        try:
            while not inflater.eof:
                if not tail:
                    tail = take(position, chunk_bytes)
                    position += len(tail)
                    chunk_bytes = min(2 * chunk_bytes, LARGEST_CHUNK)
                    if not tail:
                        return Member(offset, position, b"", inflated.size, "the file ends inside this member")
                inflated.add(inflater.decompress(tail, LARGEST_CHUNK * 16))
                tail = inflater.unconsumed_tail
        except InflateError as error:
            return Member(offset, position, b"", inflated.size, _cause(error))
        return inflated.member(offset, position - len(inflater.unused_data))

    def stream(self, offset: int) -> Iterator[tuple[bytes, int, str]]:
        """Inflated stretches from the member at `offset` to its end, with the file position reached.

        The last one has either an empty fault (the member is whole) or the fault that ended it.
        """
        inflater: Any = zlib.decompressobj(31)  # its stub knows no copy()
        position = offset
        tail = b""
        while not inflater.eof:
            if not tail:
                tail = self.window.take(position, LARGEST_CHUNK)
                position += len(tail)
                if not tail:
                    yield b"", position, "the file ends inside this member"
                    return
            before = inflater.copy()  # a call that fails gives nothing of what it inflated
            try:
                data = inflater.decompress(tail, LARGEST_CHUNK * 4)
            except InflateError as error:
                data, used = _until_fault(before, tail)
                position -= len(tail) - used
                yield data, position, ""
                yield b"", position, _cause(error)
                return
            tail = inflater.unconsumed_tail
            yield data, position - len(inflater.unused_data) - len(tail), ""
