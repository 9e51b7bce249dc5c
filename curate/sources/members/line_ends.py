r"""Crawl files whose line ends something converted: FTP in text mode, a version control, an editor.

Where every LF got a CR before it, a compressed file too can be restored byte for byte. Where CRLF became LF, or LF
alone became CRLF, what was lost can't be told; a record's Content-Length and digest say whether a guess is right.
"""

import re
import tempfile
import zlib

import zstandard

from curate.sources.members.window import Bytes

HEAD_BYTES = 1 << 16
STEP = 1 << 20
LEAST_ENDS = 6  # that all of so many LF of compressed bytes have a CR before them is a chance of 2**-48
DOUBLED = re.compile(rb"(?:WARC/\d+\.\d+[ \t]*|filedesc:[^\r\n]*)\r\r\n")
COMPRESSED = (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd")


def is_doubled(head: bytes) -> bool:
    """Whether the first bytes of a file show that each LF got a CR before it."""
    if head.startswith(COMPRESSED):
        ends = head.count(b"\n")
        if ends < LEAST_ENDS or ends != head.count(b"\r\n"):
            return False
        return not _inflates(head) and _inflates(head.replace(b"\r\n", b"\n"))  # stored blocks show their CRLF
    return DOUBLED.match(head) is not None


def _inflates(head: bytes) -> bool:
    """Whether the first bytes of a compressed file are sound as far as they go."""
    gzip = head.startswith(COMPRESSED[0])
    try:
        (zlib.decompressobj(31) if gzip else zstandard.ZstdDecompressor().decompressobj()).decompress(head)
    except (zlib.error, zstandard.ZstdError):
        return False
    return True


class RestoredBytes:
    """A file without the CR that was put before each LF, as a temporary file."""

    def __init__(self, source: Bytes) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        position, held = 0, b""
        while data := source.read_at(position, STEP):
            position += len(data)
            data = held + data
            held = b"\r" if data.endswith(b"\r") else b""
            self._file.write(data[: len(data) - len(held)].replace(b"\r\n", b"\n"))
        self._file.write(held)
        self.size = self._file.tell()

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes at `offset`."""
        self._file.seek(offset)
        return self._file.read(length)

    def close(self) -> None:
        """Gives back the temporary file."""
        self._file.close()


def converted(block: bytes, length: int, bare: bool) -> list[bytes]:
    """What a block of `length` bytes may have been whose line ends were converted, the likeliest first.

    `bare` says that the record's header has lines that end in LF alone. Empty where no conversion explains the length.
    """
    short = length - len(block)
    head, blank, body = block.partition(b"\n\n" if bare else b"\r\n\r\n")
    if bare and 0 < short <= block.count(b"\n") and b"\r\n" not in block:
        crlf = block.replace(b"\n", b"\r\n")
        return [(head + blank).replace(b"\n", b"\r\n") + body, crlf]
    if not bare and 0 < -short <= block.count(b"\r\n") == block.count(b"\n"):
        return [head + blank + body.replace(b"\r\n", b"\n"), block.replace(b"\r\n", b"\n")]
    return []
