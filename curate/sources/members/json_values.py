"""JSON values by their offsets: one a line, the elements of one array, or values printed over several lines."""

import re
from collections.abc import Iterator

from curate.sources.members.inflated import Inflated
from curate.sources.members.lines import Line, lines
from curate.sources.members.sound_members import SoundMembers
from curate.sources.members.warc_stream import Stretches
from curate.sources.members.window import Window

STEP = 1 << 18
HEAD_BYTES = 1 << 12
ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\[\s*+[{\]]")  # one array of objects, in one line or many
PRINTED = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\{[ \t]*+\r?\n")  # an object that goes on in the next line
MARK = re.compile(rb'["\\{}\[\]]')
OPENING, CLOSING = b"{[", b"}]"


def are_lines(window: Window, codec: SoundMembers | None) -> bool:
    """Whether a file holds one value a line, by its first bytes."""
    head = (window if codec is None else Inflated(codec.plain, 0)).take(0, HEAD_BYTES)
    return not ARRAY.match(head) and not PRINTED.match(head)


def json_values(window: Window, codec: SoundMembers | None, start: int, max_bytes: int) -> Iterator[Line]:
    """As `lines`; of a file that is no JSON Lines one value at a time, with what stands before it.

    Such a file is one part: values before `start` are passed over.
    """
    if are_lines(window, codec):
        yield from lines(window, codec, start, max_bytes)
        return
    if codec is None:
        yield from (line for line in _values(window, max_bytes) if line.offset >= start)
        return
    inflated = Inflated(codec, 0)
    end = 0
    for line in _values(inflated, max_bytes):
        if inflated.fault and line.fault:
            break
        end = line.offset + line.length
        if line.offset >= start:
            yield line
    if inflated.fault:
        rest = inflated.end - end + max(1, codec.window.size - inflated.position)
        yield Line(end, rest, fault=inflated.fault)


def _values(window: Stretches, max_bytes: int) -> Iterator[Line]:
    start = position = depth = 0
    quoted = False
    outer = 1 if ARRAY.match(window.take(0, HEAD_BYTES)) else 0
    while block := window.take(position, STEP):
        at = 0
        while mark := MARK.search(block, at):
            at = mark.end()
            if mark[0] == b"\\":
                at += 1  # perhaps into the next block
            elif mark[0] == b'"':
                quoted = not quoted
            elif not quoted:
                depth += 1 if mark[0] in OPENING else -1
                if depth == outer and mark[0] in CLOSING:
                    yield _value(window, start, position + at, max_bytes)
                    start = position + at
        position += max(at, len(block))
        if position - start > max_bytes:
            window.release(position)
    rest = window.take(start, position - start) if position - start <= max_bytes else b"?"
    if rest.strip(b" \t\r\n,]"):
        yield Line(start, max(1, position - start), fault="the JSON ends inside a value")
    elif position > start:
        yield Line(start, position - start, b"\n")


def _value(window: Stretches, start: int, end: int, max_bytes: int) -> Line:
    if end - start > max_bytes:
        return Line(start, end - start, too_large=True)
    data = window.take(start, end - start)
    window.release(end)
    between = b" \t\r\n,[" if start == 0 else b" \t\r\n,"
    return Line(start, end - start, data.removeprefix(b"\xef\xbb\xbf").lstrip(between))
