"""How a WARC file is laid out, by its bytes and not by its name: compressed record by record, as one, or not."""

import re
from dataclasses import dataclass
from typing import Literal

from curate.sources.members.arc_stream import MAGIC as ARC
from curate.sources.members.gzip_members import GzipMembers
from curate.sources.members.inflated import Inflated
from curate.sources.members.member_chain import Codec, next_start
from curate.sources.members.warc_record import BLANK, BadRecord
from curate.sources.members.warc_stream import header_at, next_header
from curate.sources.members.whole_streams import WholeStream
from curate.sources.members.window import Window
from curate.sources.members.zstd_frames import MAGIC, ZstdFrames

Kind = Literal["members", "stream", "plain"]
PROBED_MEMBERS = 16
ARC_NAME = re.compile(r"(?i)\.arc(?:\.\w+)?$")


@dataclass(frozen=True, slots=True)
class FileLayout:
    """`members`: a row of members, one record each; `stream`: records across or inside members; `plain`: neither."""

    kind: Kind
    codec: Codec | None = None
    arc: bool = False  # its records are those of an ARC file, whatever its name


def layout(window: Window, name: str, max_bytes: int) -> FileLayout:
    """Decides by the first record: does its member hold it, no more and no less?

    The first bytes say which codec it is; where nothing can be read with that, the name does.
    """
    stream = WholeStream.at_start(window)
    by_head, by_name = stream or _codec_of_bytes(window), _codec_of_name(window, name)
    head = (window if by_head is None else Inflated(by_head, 0)).take(0, len(ARC))
    if head == ARC or (ARC_NAME.search(name) and not head.startswith(b"WARC/")):  # its first bytes may be damaged
        codec = by_head or by_name
        return FileLayout("plain" if codec is None else "stream", codec, arc=True)
    if stream is not None:
        return FileLayout("stream", stream)
    if by_head and by_name and by_head.name == by_name.name:
        by_name = by_head
    if by_head is None and window.take(0, 4) == b"WARC":
        return FileLayout("plain")
    tried: set[str] = set()
    for codec in (by_head, by_name):
        if codec is not None and codec.name not in tried:
            tried.add(codec.name)
            kind = _kind(codec, max_bytes)
            if kind:
                return FileLayout(kind, codec)
    last = by_name or by_head
    if last is None or (by_name is not by_head and next_header(window, 0) < window.size):
        return FileLayout("plain")
    return FileLayout("members", last)


def _kind(codec: Codec, max_bytes: int) -> Kind | None:
    """The layout that a codec finds; None when it finds no record at all."""
    position = 0
    for _ in range(PROBED_MEMBERS):
        if position >= codec.window.size:
            return "members"
        if not codec.starts(position):
            break
        kind, position = _first_member(codec, position, max_bytes)
        if kind:
            return kind
    if next_start(codec, 0, max_bytes) < codec.window.size:
        return "members"
    cut_anywhere = next_start(codec, 0, max_bytes, any_content=True) < codec.window.size
    return "stream" if cut_anywhere else None


def _codec_of_bytes(window: Window) -> Codec | None:
    head = window.take(0, 4)
    if head.startswith(GzipMembers.magic):
        return GzipMembers(window)
    skippable = len(head) == 4 and head[1:] == b"\x2a\x4d\x18" and head[0] >> 4 == 5
    return ZstdFrames(window) if head == MAGIC or skippable else None


def _codec_of_name(window: Window, name: str) -> Codec | None:
    if name.endswith(".zst"):
        return ZstdFrames(window)
    return GzipMembers(window) if name.endswith(".gz") else None


def _first_member(codec: Codec, position: int, max_bytes: int) -> tuple[Kind | None, int]:
    """What the member at `position` says of the file, or (of an empty or broken one) nothing and where it ends."""
    inflated = Inflated(codec, position, single=True)
    try:
        header = header_at(inflated, 0)
    except BadRecord:
        broken = inflated.take(0, 1) or inflated.fault
        return None, position if broken else inflated.position
    end = header.size + header.length
    if end > max_bytes:
        return "members", position
    behind = inflated.take(end, 256)
    if behind.lstrip(BLANK).startswith(b"WARC/"):
        return "stream", position
    if inflated.fault:
        return None, position  # damaged; a true member may follow
    if inflated.take(end - 1, 1):
        return "members", position
    return ("members" if _aligned(codec, inflated.position, max_bytes) else "stream"), position


def _aligned(codec: Codec, position: int, max_bytes: int) -> bool:
    """Whether what follows a member that is shorter than its record is a record again, not the rest of that one."""
    if not codec.starts(position):
        return True
    if Inflated(codec, position, single=True).take(0, 5) == b"WARC/":
        return True
    return next_start(codec, position, max_bytes) < codec.window.size
