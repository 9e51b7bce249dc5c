"""Lines by their offsets, in a plain file or in the inflated form of a .gz or .zst file."""

from collections.abc import Iterator
from dataclasses import dataclass

from curate.sources.members.gzip_members import GzipMembers
from curate.sources.members.inflated import Inflated
from curate.sources.members.member_chain import Codec
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


def text_layout(window: Window) -> Codec | None:
    """The codec of a compressed file, by its first bytes."""
    if window.take(0, 3) == GzipMembers.magic:
        return GzipMembers(window)
    frames = ZstdFrames(window)
    if frames.starts(0):  # pzstd begins with a skippable frame
        return frames
    return WholeStream.at_start(window)


def next_line(window: Window, offset: int) -> int:
    """Where the first line starts at or after `offset`."""
    if offset == 0:
        return 0
    at = window.find(b"\n", offset - 1)
    return window.size if at < 0 else at + 1


def lines(window: Window, codec: Codec | None, start: int, max_bytes: int) -> Iterator[Line]:
    """The lines from `start` on (of compressed files: those that start there or later), then the fault if any.

    A broken .gz or .zst can't be read behind the fault: the rest counts with its compressed length.
    """
    if codec is None:
        yield from _lines(window, start, max_bytes)
        return
    inflated = Inflated(codec, 0)
    end = 0
    for line in _lines(inflated, 0, max_bytes):
        if inflated.fault and not line.data.endswith(b"\n"):
            break  # cut in the middle by the fault
        end = line.offset + line.length
        if line.offset >= start:
            yield line
    if inflated.fault:
        rest = inflated.end - end + max(1, codec.window.size - inflated.position)
        yield Line(end, rest, fault=inflated.fault)


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
