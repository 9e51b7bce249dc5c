"""Lines by their offsets, in a plain file or in the inflated form of a .gz or .zst file."""

from collections.abc import Iterator
from dataclasses import dataclass

from curate.sources.members.gzip_members import GzipMembers
from curate.sources.members.inflated import Inflated
from curate.sources.members.sound_members import SoundMembers
from curate.sources.members.warc_stream import Stretches
from curate.sources.members.whole_streams import WholeStream
from curate.sources.members.window import Window
from curate.sources.members.zstd_frames import ZstdFrames

STEP = 1 << 18


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its line break at [offset, offset + length)."""

    offset: int
    length: int
    data: bytes = b""
    fault: str = ""  # why the bytes here can't be had
    too_large: bool = False


def text_layout(window: Window) -> SoundMembers | None:
    """The codec of a compressed file, by its first bytes."""
    head = window.take(0, 3)
    gzip = zip(head, GzipMembers.magic)
    if head[:1] == GzipMembers.magic[:1] or sum(one == other for one, other in gzip) == 2:  # one may be damaged
        return SoundMembers(GzipMembers(window))
    frames = ZstdFrames(window)
    if frames.starts(0):  # pzstd begins with a skippable frame
        return SoundMembers(frames)
    stream = WholeStream.at_start(window)
    return SoundMembers(stream) if stream else None


def next_line(window: Window, offset: int) -> int:
    """Where the first line starts at or after `offset`."""
    if offset == 0:
        return 0
    at = window.find(b"\n", offset - 1)
    return window.size if at < 0 else at + 1


def lines(window: Window, codec: SoundMembers | None, start: int, max_bytes: int) -> Iterator[Line]:
    """The lines from `start` on (of compressed files: those that start there or later), and the faults between them.

    A damaged member of a compressed file is one fault, with the unfinished line before it; the lines of the next sound
    one follow, the first of which may be the end of a line that began in the damage (no JSON object, then). Where there
    is none, the rest counts with its compressed length.
    """
    if codec is None:
        yield from _lines(window, start, max_bytes)
        return
    member = base = 0
    while member < window.size:
        inflated = Inflated(codec, member, base)
        end = base
        for line in _lines(inflated, base, max_bytes):
            if inflated.fault and not line.data.endswith(b"\n"):
                break  # cut in the middle by the fault
            end = line.offset + line.length
            if line.offset >= start:
                yield line
        if not inflated.fault:
            return
        member, base = codec.after(inflated.member, inflated.end)
        if member >= window.size:
            base = inflated.end + max(1, window.size - inflated.position)
        if end >= start:
            yield Line(end, base - end, fault=inflated.fault)


def _lines(window: Stretches, offset: int, max_bytes: int) -> Iterator[Line]:
    while True:
        window.release(offset)
        block = window.take(offset, STEP)
        if not block:
            return
        complete = block.rfind(b"\n") + 1
        if complete:
            for data in block[:complete].split(b"\n")[:-1]:
                yield Line(offset, len(data) + 1, data + b"\n")
                offset += len(data) + 1
            continue
        line = _long_line(window, offset, max_bytes)
        yield line
        offset += line.length


def _long_line(window: Stretches, start: int, max_bytes: int) -> Line:
    """A line longer than one step, or the last one of a file without a line break."""
    offset = start
    while True:
        block = window.take(offset, STEP)
        at = block.find(b"\n")
        offset += at + 1 if at >= 0 else len(block)
        if offset - start > max_bytes:
            window.release(offset)
        if at >= 0 or not block:
            length = offset - start
            if length > max_bytes:
                return Line(start, length, too_large=True)
            return Line(start, length, window.take(start, length))
