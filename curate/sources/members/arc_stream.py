"""ARC records, which crawlers wrote before WARC (Internet Archive, "ARC File Format Version 1.0", and version 2).

A record is one line (`URL IP date type length`, in version 2 with more fields before the length) and so many bytes.
Each is given the header that it would have as a WARC record, so that what comes after need not know.
"""

import re
from collections.abc import Iterator

from curate.sources.members.warc_record import WarcHeader
from curate.sources.members.warc_stream import HEAD_BYTES, SMALL_BLOCK, STEP, Record, Stretches, tiled

MAGIC = b"filedesc:"
# Addresses may hold spaces, as they were typed; the IP address and the date behind them are what can be trusted.
SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
ADDRESS = re.compile(rb" ([0-9.]{7,15}|[0-9A-Fa-f:]{2,39}|-) (\d{14}|\d{12}) ")
HEAD = re.compile(rb"\n[A-Za-z][A-Za-z0-9+.-]*:[^\r\n]* (?:[0-9.]{7,15}|[0-9A-Fa-f:]{2,39}|-) \d{12,14} ")
LONGEST_LINE = 1 << 16
CAUSE = "no ARC header, or its length does not fit"


def arc_records(window: Stretches, offset: int, max_bytes: int) -> Iterator[Record]:
    """The records of an ARC stream, as `tiled` yields them."""
    return tiled(window, offset, max_bytes, _record)


def _record(window: Stretches, offset: int, max_bytes: int) -> Record:
    header = _header(window, offset)
    if header is None:
        return Record(offset, _next(window, offset + 1) - offset, fault=window.fault or CAUSE)
    start, end = offset + header.size, offset + header.size + header.length
    if header.length > max_bytes:
        window.release(end - 1)
    if header.length > SMALL_BLOCK:
        behind = window.take(end, HEAD_BYTES)
    else:
        behind = window.take(start, header.length + HEAD_BYTES)[header.length :]
    cut = not behind and header.length > 0 and not window.take(end - 1, 1)
    fits = not behind.strip(b"\r\n\0") or behind.startswith((b"\n", b"\r\n")) or _parsed(behind) is not None
    if cut or not fits:
        following = _next(window, max(start, window.first))
        missing = f"the file ends {end - following} bytes before this record does" if cut else ""
        return Record(offset, following - offset, header, fault=window.fault or missing or CAUSE)
    blank = len(behind[:2]) - len(behind[:2].lstrip(b"\r\n"))
    if header.length > max_bytes:
        return Record(offset, end + blank - offset, header, too_large=header.length)
    return Record(offset, end + blank - offset, header, window.take(start, header.length))


def _header(window: Stretches, offset: int) -> WarcHeader | None:
    head = window.take(offset, HEAD_BYTES)
    return _parsed(head if b"\n" in head else window.take(offset, LONGEST_LINE))


def _parsed(head: bytes) -> WarcHeader | None:
    """The header in the first line, looked through once."""
    end = head.find(b"\n")
    line = head[: max(end, 0)].rstrip(b"\r")
    found = ADDRESS.search(line)
    if found is None or not SCHEME.match(line):
        return None
    kind, _, length = line[found.end() :].rpartition(b" ")
    if not length.isdigit() or len(length) > 15:
        return None
    url, date = line[: found.start()].decode("utf-8", "replace"), found[2].decode().ljust(14, "0")
    fields = {
        "warc-type": "warcinfo" if url.startswith("filedesc:") else "response",
        "warc-target-uri": url,
        "warc-date": f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:]}Z",
        "warc-ip-address": found[1].decode(),
        "content-type": kind.partition(b" ")[0].decode("utf-8", "replace"),
        "content-length": length.decode(),
    }
    return WarcHeader(fields, int(length), end + 1)


def _next(window: Stretches, offset: int) -> int:
    """Where the next header line stands, or the end of the bytes."""
    step = HEAD_BYTES
    while True:
        block = window.take(offset, step)
        found = HEAD.search(block)
        if found:
            return offset + found.start() + 1
        if len(block) < step:
            return offset + len(block)
        offset += max(1, len(block) - LONGEST_LINE) if step > LONGEST_LINE else 0
        step = min(4 * step, STEP)
