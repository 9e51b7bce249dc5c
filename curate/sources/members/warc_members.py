"""WARC records that are compressed one by one: a row of gzip members or zstd frames."""

from collections.abc import Iterator

from curate.sources.members.gzip_members import Member
from curate.sources.members.inflated import Inflated
from curate.sources.members.member_chain import Codec, next_start
from curate.sources.members.warc_record import BLANK, BadRecord, parse_header
from curate.sources.members.warc_stream import Record, Stretches, stream_records
from curate.sources.members.window import MemoryBytes, Window

LOOK_BACK = 1 << 16  # records in one member that can be found again by their offset
PADDING = b"\0\r\n \t"


def member_records(codec: Codec, start: int, end: int, max_bytes: int) -> Iterator[Record]:
    """Records, damage and padding that start in [start, end). `start` must be where one of them starts."""
    position = start
    if start and not codec.starts(start):
        owner = _owner(codec, start, max_bytes)
        if owner is not None:
            yield from (record for record in _records(codec, owner, max_bytes) if record.offset >= start)
            position = owner.end
    while position < end:
        if codec.starts(position):
            member = codec.member(position, max_bytes)
            if not member.fault:
                yield from _records(codec, member, max_bytes)
                position = member.end
                continue
            cause = member.fault
            following = member.end if member.bounded else next_start(codec, position + 1, max_bytes)
        else:
            zeros = _zeros(codec.window, position)
            if zeros:
                yield Record(position, zeros)
                position += zeros
                continue
            cause = f"no {codec.name} member here"
            following = next_start(codec, position + 1, max_bytes)
        yield Record(position, following - position, fault=cause)
        position = following


def _owner(codec: Codec, offset: int, max_bytes: int) -> Member | None:
    """The member of several records whose n-th byte stands at `offset` for one of them."""
    first = max(0, offset - LOOK_BACK)
    before = codec.window.take(first, offset - first + len(codec.magic) - 1)
    at = before.rfind(codec.magic)
    while at >= 0:
        member = codec.member(first + at, max_bytes) if codec.starts(first + at) else None
        if member and not member.fault:
            return member if member.end > offset else None
        at = before.rfind(codec.magic, 0, at)
    return None


def _zeros(window: Window, position: int) -> int:
    """How many zero bytes stand at `position`."""
    start = position
    while True:
        block = window.take(position, 1 << 16)
        rest = block.lstrip(b"\0")
        position += len(block) - len(rest)
        if rest or not block:
            return position - start


def _records(codec: Codec, member: Member, max_bytes: int) -> Iterator[Record]:
    """What a whole member holds: one record as a rule, else each of several."""
    start, length, data = member.start, member.end - member.start, member.data
    try:
        header = parse_header(data)
    except BadRecord as bad:
        blank = not data.strip(PADDING) and not member.too_large
        yield Record(start, length, fault="" if blank else str(bad))
        return
    end = header.size + header.length
    if end <= member.size <= end + 64 and (member.too_large or not data[end:].strip(BLANK)):
        block = b"" if member.too_large else data[header.size : end]
        too_large = header.length if member.too_large else 0
        yield Record(start, length, header, block, too_large=too_large, checked=codec.checked)
    elif member.too_large:
        yield from _several(codec, member, Inflated(codec, start, single=True), max_bytes)
    elif data.find(b"\nWARC/", header.size) >= 0:
        yield from _several(codec, member, Window(MemoryBytes(data)), max_bytes)
    else:
        block = data[header.size :]
        for closing in (b"\r\n\r\n", b"\n\n"):
            block = block.removesuffix(closing) if block.endswith(closing) else block
        yield Record(start, length, header, block, length_mismatch=True, checked=codec.checked)


def _several(codec: Codec, member: Member, inflated: Stretches, max_bytes: int) -> Iterator[Record]:
    """The records of a member that holds several: the n-th is given the n-th byte, the last one the rest."""
    count = 0
    last: Record | None = None
    for record in stream_records(inflated, 0, max_bytes):
        if record.header is None and not record.fault:
            continue
        if last is not None:
            last.offset, last.length = member.start + count, 1
            count += 1
            yield last
        last = record
        last.checked = codec.checked
    if last is None:
        last = Record(0, 0)
    last.offset, last.length = member.start + count, member.end - member.start - count
    yield last
