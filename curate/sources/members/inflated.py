"""The inflated form of members as bytes by offset, forward only and in bounded memory."""

from collections.abc import Iterator

from curate.sources.members.member_chain import Codec

TRIM_BYTES = 4 << 20


class Inflated:
    """What the member at `position` of a file inflates to, and (unless `single`) all members that follow it.

    Offsets count from `base`. Ends at the end of the file, or with `fault` set where inflating fails.
    """

    def __init__(self, codec: Codec, position: int, base: int = 0, single: bool = False) -> None:
        self._codec = codec
        self._single = single
        self._chunks: Iterator[tuple[bytes, int, str]] = codec.stream(position)
        self._buffer = bytearray()
        self._over = False
        self.member = position  # where the member that is being inflated starts
        self.position = position  # how far the file has been read
        self.first = base
        self._kept = base
        self.fault = ""

    def take(self, offset: int, length: int) -> bytes:
        """The bytes at [offset, offset + length), cut at the end; `offset` must not have been released."""
        while self._kept + len(self._buffer) < offset + length and not self._over:
            self._pull()
            if self.first > self._kept and self.first - self._kept > TRIM_BYTES:
                self._trim()
        at = offset - self._kept
        return bytes(self._buffer[at : at + length]) if at >= 0 else b""

    @property
    def end(self) -> int:
        """How far inflating has come."""
        return self._kept + len(self._buffer)

    def release(self, offset: int) -> None:
        """Says that bytes before `offset` are no longer needed."""
        self.first = max(self.first, offset)
        if self.first - self._kept > TRIM_BYTES:
            self._trim()

    def _trim(self) -> None:
        gone = min(self.first - self._kept, len(self._buffer))
        del self._buffer[:gone]
        self._kept += gone

    def _pull(self) -> None:
        for data, position, fault in self._chunks:
            self.position = position
            if fault:
                self.fault, self._over = fault, True
            elif not data:
                continue
            self._buffer += data
            return
        self._next_member()

    def _next_member(self) -> None:
        """Goes on with the member that follows; bytes that are none end the stream, zeros to the end in silence."""
        window = self._codec.window
        if self._single or self.position >= window.size:
            self._over = True
        elif self._codec.starts(self.position):
            self.member = self.position
            self._chunks = self._codec.stream(self.position)
        else:
            self._over = True
            if window.take(self.position, TRIM_BYTES).strip(b"\0"):
                self.member = self.position
                self.fault = f"no {self._codec.name} member here"
