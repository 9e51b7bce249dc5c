"""WARC records that follow each other in uncompressed bytes: a .warc file, or the inflated form of one member.

Nothing but Content-Length says where such a record ends, so it is believed only when what follows fits: a blank
line, the next record, or the end. Where it does not fit, a digest or the next true header decides.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

from curate.sources.members.digest import block_matches
from curate.sources.members.line_ends import converted
from curate.sources.members.warc_record import (
    BLANK,
    HEADER_END,
    LENGTH,
    MARKS,
    MAX_HEADER_BYTES,
    VERSION,
    BadRecord,
    WarcHeader,
    parse_header,
)

HEAD_BYTES = 1 << 13
LONGEST_VERSION = 32
STEP = 1 << 20
# A length that lies must not cost more than what it stands in: larger blocks are copied only when what follows fits.
SMALL_BLOCK = 1 << 16


@dataclass(slots=True)
class Record:
    """One stretch of a WARC: a record (`header`), damage (`fault`; perhaps with the header), or padding."""

    offset: int
    length: int
    header: WarcHeader | None = None
    block: bytes = b""
    fault: str = ""
    too_large: int = 0  # bytes of a block that is not held
    length_mismatch: bool = False  # Content-Length was wrong; the block was found by other evidence
    checked: bool = False  # a CRC vouches for the bytes


class Stretches(Protocol):
    """Bytes by offset, from `first` on (what was released may be gone), to the end or to a fault."""

    first: int
    fault: str

    def take(self, offset: int, length: int) -> bytes: ...
    def release(self, offset: int) -> None: ...


def tiled(
    window: Stretches, offset: int, max_bytes: int, record_at: Callable[[Stretches, int, int], Record]
) -> Iterator[Record]:
    """Records, damage and padding from `offset` to the end of the bytes; they tile without a gap."""
    while True:
        window.release(offset)
        head = window.take(offset, HEAD_BYTES)
        if not head:
            return
        rest = head.lstrip(b"\0\r\n \t")
        if len(rest) < len(head):
            yield Record(offset, len(head) - len(rest))
            offset += len(head) - len(rest)
            continue
        record = record_at(window, offset, max_bytes)
        yield record
        offset += record.length


def stream_records(window: Stretches, offset: int, max_bytes: int) -> Iterator[Record]:
    """The records of a WARC stream, as `tiled` yields them."""
    return tiled(window, offset, max_bytes, _record)


def _record(window: Stretches, offset: int, max_bytes: int) -> Record:
    try:
        header = header_at(window, offset)
    except BadRecord as bad:
        end = _lenient_end(window, offset) or next_header(window, offset + 1)
        return Record(offset, end - offset, fault=str(bad))
    start = offset + header.size
    end = start + header.length
    after = _after(window, start, end, max_bytes)
    if after is None:
        return _misfit(window, offset, header, max_bytes)
    if header.length > max_bytes:
        return Record(offset, after - offset, header, too_large=header.length)
    return Record(offset, after - offset, header, window.take(start, header.length))


def header_at(window: Stretches, offset: int) -> WarcHeader:
    """The header at `offset`, however long. Raises BadRecord."""
    data = window.take(offset, HEAD_BYTES)
    if not HEADER_END.search(data):
        if data.find(b"\nWARC/") >= 0:
            raise BadRecord("the WARC header does not end")
        data = window.take(offset, MAX_HEADER_BYTES)
    return parse_header(data)


def _after(window: Stretches, start: int, end: int, max_bytes: int) -> int | None:
    """Where the next record starts if a block [start, end) fits into its surroundings; else None.

    It fits when line breaks, then a record or the end of the bytes follow it; or a blank line, whatever follows.
    """
    if end - start > max_bytes:
        window.release(end - 1)  # can't be held, so it can't be looked through for another end either
    elif end - start <= SMALL_BLOCK and len(window.take(start, end - start)) < end - start:
        return None
    behind = window.take(end, 64)
    if not behind and end > start and not window.take(end - 1, 1):
        return None
    rest = behind.lstrip(BLANK)
    if not rest or rest.startswith(b"WARC/") or behind.startswith((b"\r\n\r\n", b"\n\n")):
        return end + len(behind) - len(rest)
    return None


def _lenient_end(window: Stretches, offset: int) -> int | None:
    """Where a record with a broken header ends, if its Content-Length still leads to a record or the end."""
    data = window.take(offset, HEAD_BYTES)
    end = HEADER_END.search(data)
    length = LENGTH.search(data, 0, end.end()) if end else None
    if not end or not length:
        return None
    within = data.find(b"WARC/", 1, end.end())
    if within >= 0 and _is_header(window, offset + within):
        return None  # junk before a sound record
    after = offset + end.end() + int(length[1])
    if not window.take(after - 1, 1):
        return None
    behind = window.take(after, 64)
    rest = behind.lstrip(BLANK)
    return after + len(behind) - len(rest) if not rest or VERSION.match(rest[:16]) else None


def next_header(window: Stretches, offset: int) -> int:
    """The next place at or after `offset` where a record's header is whole and names what every record must."""
    step = HEAD_BYTES  # small at first: the next header may be near, and a copy costs
    while True:
        block = window.take(offset, step)
        marks = [mark.start() for mark in VERSION.finditer(block)]
        for at, following in zip_longest(marks, marks[1:]):
            # One that another follows before a blank line is no header: no look as far as a header may reach.
            ends = following is None or HEADER_END.search(block, at, following)
            if ends and _is_header(window, offset + at):
                return offset + at
        if len(block) < step:
            return offset + len(block)
        offset += len(block) - LONGEST_VERSION
        step = min(4 * step, STEP)


def _is_header(window: Stretches, offset: int) -> bool:
    try:
        header = header_at(window, offset)
    except BadRecord:
        return False
    return "warc-record-id" in header.fields or "warc-date" in header.fields


def _misfit(window: Stretches, offset: int, header: WarcHeader, max_bytes: int) -> Record:
    """A record whose Content-Length is contradicted by what follows it.

    Its block as declared is kept when its digest matches. Else the block reaches to the next header, unless that
    stretch holds traces of another, broken record: then nothing can be said of where this one ends.
    """
    start = offset + header.size
    end = next_header(window, max(start, window.first))
    worth = header.length <= min(max_bytes, SMALL_BLOCK + 4 * (end - start))
    declared = window.take(start, header.length) if worth else b""
    match = block_matches(header, declared) if len(declared) == header.length else False
    if match:
        return Record(offset, header.size + header.length, header, declared)
    cause = f"Content-Length {header.length} does not fit: {end - start} bytes lie before the next record"
    if end - start > max_bytes:
        return Record(offset, end - offset, header, fault=cause)
    found = window.take(start, end - start)
    mark = MARKS.search(found)
    if mark and match is None and header.length <= mark.start():
        return Record(offset, header.size + header.length, header, declared)
    at_end = not window.take(end, 1)
    block = _without_blank_line(found)
    cut = at_end and header.length > len(found) and (len(block) == len(found) or window.fault != "")
    match = block_matches(header, block)
    if not (match or mark or cut):
        guesses = converted(block, header.length, b"\r\n" not in window.take(offset, header.size))
        for guess in guesses:
            if len(guess) == header.length and block_matches(header, guess) is not False:
                return Record(offset, end - offset, header, guess)
        match = None if guesses else match  # a digest of other line ends says nothing
    if match or (match is None and not mark and not cut):
        return Record(offset, end - offset, header, block, length_mismatch=True)
    if cut:
        cause = window.fault or f"the file ends {header.length - len(found)} bytes before this record does"
    return Record(offset, end - offset, header, fault=cause)


def _without_blank_line(data: bytes) -> bytes:
    """The bytes without the two line breaks that close a record, if they are there."""
    for closing in (b"\r\n\r\n", b"\n\n"):
        if data.endswith(closing):
            return data[: -len(closing)]
    return data
