"""A window over a file's bytes: readers ask for any stretch, and it keeps one block of them in memory."""

import io
from pathlib import Path
from typing import BinaryIO, Protocol

BLOCK_BYTES = 1 << 20
FIRST_AHEAD = 1 << 16
FIRST_STEP = 1 << 12


class Bytes(Protocol):
    """Random access to the bytes of one file, local or remote."""

    size: int

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset`; fewer only at the end of the file."""

    def close(self) -> None:
        """Gives back what the operating system lent."""


class LocalBytes:
    """A file on this machine's disk."""

    def __init__(self, path: str) -> None:
        self._file: BinaryIO = Path(path).open("rb")  # noqa: SIM115  closed by close()
        self.size = self._file.seek(0, 2)

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset`."""
        self._file.seek(offset)
        return self._file.read(length)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class MemoryBytes:
    """Bytes that are in memory already (tests, pages given by a caller)."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset`."""
        return self._data[offset : offset + length]

    def close(self) -> None:
        """Nothing to give back."""


class BytesFile(io.RawIOBase):
    """An input as a Python file, for libraries that want one."""

    def __init__(self, source: Bytes) -> None:
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves to an offset from the start, the position or the end."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._source.size}[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        """The position."""
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fills the buffer from the position on."""
        data = self._source.read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def close(self) -> None:
        """Closes the input too."""
        if not self.closed:
            self._source.close()
        super().close()


class Window:
    """Stretches of a file by offset, read ahead in blocks.

    Blocks are small after a jump and double while the file is read on, so that a look at a file's head or at one
    record costs little and a long reading takes few requests.
    """

    first = 0
    fault = ""

    def __init__(self, source: Bytes, block_bytes: int = BLOCK_BYTES) -> None:
        self._source = source
        self._block_bytes = block_bytes
        self._ahead = min(FIRST_AHEAD, block_bytes)
        self._start = 0
        self._block = b""
        self.size = source.size

    def take(self, offset: int, length: int) -> bytes:
        """The bytes at [offset, offset + length), cut at the end of the file."""
        at = offset - self._start
        if at < 0 or at + length > len(self._block):
            if offset >= self.size:
                return b""
            self._load(offset, length)
            at = offset - self._start
        return self._block[at : at + length]

    def _load(self, offset: int, length: int) -> None:
        kept = b""
        if self._start <= offset <= self._start + len(self._block):
            kept = self._block[offset - self._start :]
        else:
            self._ahead = min(FIRST_AHEAD, self._block_bytes)
        if len(kept) < length and offset + len(kept) < self.size:
            wanted = max(length - len(kept), self._ahead)
            kept += self._source.read_at(offset + len(kept), wanted)
            self._ahead = min(2 * self._ahead, self._block_bytes)
        self._start, self._block = offset, kept

    def find(self, pattern: bytes, offset: int) -> int:
        """Where `pattern` next stands at or after `offset`; -1 when it does not."""
        step = FIRST_STEP  # small at first: the next pattern may be near, and a copy costs
        while offset < self.size:
            block = self.take(offset, step)
            at = block.find(pattern)
            if at >= 0:
                return offset + at
            if len(block) < step:
                break
            offset += len(block) - len(pattern) + 1
            step = min(4 * step, max(self._block_bytes, FIRST_STEP))
        return -1

    def release(self, offset: int) -> None:
        """Bytes before `offset` are no longer needed (a file can be read again, so nothing is to do)."""
