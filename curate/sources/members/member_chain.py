"""Where the next record truly starts: to cut a file into slices, and to go on after damage.

Bytes that look like a member are not enough: a crawled .warc.gz that lies inside a body looks the same.
A candidate must inflate whole with its CRC, begin with WARC/ and hold what its Content-Length says; then the
chain from it must run without a gap for longer than anything a deflate block (64 KiB) or zstd block (128 KiB)
can store as it is, or to the end of the file. A chain that breaks earlier is believed too (there may be a second
damage close by), unless the stored blocks around it can be seen.
"""

import struct
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from curate.sources.members.gzip_members import Member
from curate.sources.members.warc_record import BLANK, VERSION, BadRecord, parse_header
from curate.sources.members.window import Window


class Codec(Protocol):
    """Gzip members or zstd frames."""

    magic: bytes
    name: str
    longest_stored: int
    checked: bool
    window: Window

    def starts(self, offset: int) -> bool: ...
    def member(self, offset: int, max_bytes: int) -> Member: ...
    def stream(self, offset: int) -> Iterator[tuple[bytes, int, str]]: ...


def next_start(codec: Codec, offset: int, max_bytes: int, any_content: bool = False) -> int:
    """The first true start at or after `offset`; the file's size when there is none.

    With `any_content` a member need not begin with a record (files whose members cut records anywhere).
    """
    size = codec.window.size
    while offset < size:
        offset = codec.window.find(codec.magic, offset)
        if offset < 0:
            return size
        if codec.starts(offset):
            member = codec.member(offset, max_bytes)
            if holds_record(member) or (any_content and not member.fault and member.size):
                end = 0 if _runs_on(codec, member, max_bytes) else _stored_until(codec, offset)
                if end <= offset:
                    return offset
                offset = end - 1
        offset += 1
    return size


def holds_record(member: Member) -> bool:
    """Whether a member is whole, begins with a WARC header, and its Content-Length fits."""
    if member.fault:
        return False
    try:
        header = parse_header(member.data)
    except BadRecord:
        return False
    end = header.size + header.length
    if member.too_large:
        return end <= member.size
    rest = member.data[end : end + 64].lstrip(BLANK)
    return end <= member.size and (not rest or VERSION.match(rest + b"\n") is not None or rest[:5] == b"WARC/")


def _runs_on(codec: Codec, member: Member, max_bytes: int) -> bool:
    """Whether the chain of members from this one is longer than a block can store, or reaches the file's end."""
    start = member.start
    while member.end - start <= codec.longest_stored:
        if member.end >= codec.window.size or not codec.window.take(member.end, 1 << 16).strip(b"\0"):
            return True
        if not codec.starts(member.end):
            return False
        member = codec.member(member.end, max_bytes)
        if member.fault:
            return False
    return True


def _stored_until(codec: Codec, offset: int) -> int:
    """Where the stored deflate block ends that covers `offset`; 0 when none does.

    Such a block is LEN and its complement, LEN bytes as they are, and then another block or the trailer.
    """
    if codec.name != "gzip":
        return 0
    first = max(0, offset - codec.longest_stored - 4)
    before = np.frombuffer(codec.window.take(first, offset - first), np.uint8).astype(np.int32)
    if len(before) < 4:
        return 0
    length = before[:-3] | before[1:-2] << 8
    complement = before[2:-1] | before[3:] << 8
    ends = np.arange(4, len(before) + 1) + length
    for at in np.flatnonzero((length ^ complement == 0xFFFF) & (ends > len(before))):
        end = first + int(ends[at])
        if _block_or_trailer(codec.window.take(end, 14)):
            return end
    return 0


def _block_or_trailer(behind: bytes) -> bool:
    """Another stored block's head, or (after the last block) CRC, length, and the next member or the end."""
    if len(behind) >= 5 and behind[0] <= 1:
        length, complement = struct.unpack_from("<HH", behind, 1)
        if length ^ complement == 0xFFFF:
            return True
    return len(behind) == 8 or behind[8:11] == b"\x1f\x8b\x08"
