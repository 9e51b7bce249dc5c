"""How a WARC file is laid out, by its bytes and not by its name: compressed record by record, as one, or not."""

from dataclasses import dataclass
from typing import Literal

from curate.sources.gzip_members import GzipMembers
from curate.sources.inflated import Inflated
from curate.sources.member_chain import Codec, next_start
from curate.sources.warc_record import BLANK, BadRecord
from curate.sources.warc_stream import header_at
from curate.sources.window import Window
from curate.sources.zstd_frames import MAGIC, ZstdFrames

PROBED_MEMBERS = 16


@dataclass(frozen=True, slots=True)
class Layout:
    """`members`: a row of members, one record each; `stream`: records across or inside members; `plain`: neither."""

    kind: Literal["members", "stream", "plain"]
    codec: Codec | None = None


def layout(window: Window, name: str, max_bytes: int) -> Layout:
    """Decides by the first record: does its member hold it, no more and no less?"""
    codec = _codec(window, name)
    if codec is None:
        return Layout("plain")
    position = 0
    for _ in range(PROBED_MEMBERS):
        if not codec.starts(position):
            break
        kind, position = _first_member(codec, position, max_bytes)
        if kind:
            return Layout(kind, codec)
    return Layout("members", codec)


def _codec(window: Window, name: str) -> Codec | None:
    head = window.take(0, 4)
    if head.startswith(GzipMembers.magic):
        return GzipMembers(window)
    if head == MAGIC or (len(head) == 4 and head[1:] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
        return ZstdFrames(window)
    if head.startswith(b"WARC") or not name.endswith((".gz", ".zst")):
        return None
    return ZstdFrames(window) if name.endswith(".zst") else GzipMembers(window)


def _first_member(
    codec: Codec, position: int, max_bytes: int
) -> tuple[Literal["members", "stream"] | None, int]:
    """What the member at `position` says of the file, or (of an empty member) nothing and where it ends."""
    inflated = Inflated(codec, position, single=True)
    try:
        header = header_at(inflated, 0)
    except BadRecord:
        if inflated.take(0, 1) or inflated.fault:
            return "members", position  # damaged or foreign; a true member may follow
        return None, inflated.position
    end = header.size + header.length
    if end > max_bytes:
        return "members", position
    behind = inflated.take(end, 256)
    if behind.lstrip(BLANK).startswith(b"WARC/"):
        return "stream", position
    if inflated.fault or inflated.take(end - 1, 1):
        return "members", position
    return ("members" if _aligned(codec, inflated.position, max_bytes) else "stream"), position


def _aligned(codec: Codec, position: int, max_bytes: int) -> bool:
    """Whether what follows a member that is shorter than its record is a record again, not the rest of that one."""
    if not codec.starts(position):
        return True
    if Inflated(codec, position, single=True).take(0, 5) == b"WARC/":
        return True
    return next_start(codec, position, max_bytes) < codec.window.size
