"""A page's blocks and elements: runs of text between tags that break a line, and the tree above them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stages.extraction.blocks.characters import SPACE, count
from stages.extraction.blocks.nesting import Nesting, nest
from stages.extraction.blocks.stream import Stream
from stages.extraction.blocks.tags import MUTE, NUMBER, Ints, Mask, tags

Floats = NDArray[np.float64]
_MUTE = tags(*MUTE)
LEVELS = 8  # ancestors that a block knows by name


@dataclass(frozen=True, slots=True)
class Elements:
    """The block elements of a page in document order. A last one, the page itself, stands for "no such element"."""

    place: Ints  # of the start tag in the stream
    tag: Ints
    first: Ints  # block that stands first in it
    last: Ints  # and the one after its last


@dataclass(frozen=True, slots=True)
class Page:
    """The blocks of a page: `count` of them, in reading order; arrays are as long where nothing else is said."""

    stream: Stream
    heard: Mask  # where in the stream text is the page's
    text: bytes  # of the whole page, block after block, references not resolved
    begin: Ints  # where each block begins in it,
    end: Ints  # and where it ends
    pieces: Ints  # pieces of text between tags, of each block
    place: Ints  # of a block's first text in the stream
    last: Ints  # and of its last
    words: Floats
    linked: Floats  # words in links
    kinds: Floats  # (KINDS, blocks) characters
    elements: Elements
    above: Ints  # (LEVELS, blocks) elements around a block, the innermost first
    depth: Floats  # elements around a block, the page among them

    @property
    def count(self) -> int:
        return len(self.place)


def page(stream: Stream) -> Page | None:
    """The blocks of a stream; None where there is no text."""
    solid = np.flatnonzero(~stream.inline & (stream.step != 0))
    nesting = nest(np.where(stream.step[solid] > 0, stream.tag[solid], ~stream.tag[solid]))
    solid = np.append(solid, len(stream.tag))
    heard = ~_muted(stream, nesting, solid)
    lengths = np.where(heard, stream.next - stream.end, 0)
    text, ends = _joined(stream, lengths), np.cumsum(lengths)
    counts, words = count(text, lengths)
    texts = np.flatnonzero(counts.sum(0) > counts[SPACE])
    if not len(texts):
        return None
    breaks = ~stream.inline & ~_MUTE[stream.tag] & heard  # before these another block begins
    run = np.cumsum(breaks)[texts]
    starts = np.flatnonzero(np.concatenate(([True], run[1:] != run[:-1])))
    linked = np.where(_in_links(stream)[texts], words[texts], 0)
    place, last = texts[starts], texts[np.append(starts[1:], len(texts)) - 1]
    elements, above, depth = _tree(stream, nesting, solid, place)
    return Page(
        stream=stream,
        heard=heard,
        text=text,
        begin=ends[place] - lengths[place],
        end=ends[last],
        pieces=np.diff(np.append(starts, len(texts))),
        place=place,
        last=last,
        words=np.add.reduceat(words[texts], starts).astype(np.float64),
        linked=np.add.reduceat(linked, starts).astype(np.float64),
        kinds=np.add.reduceat(counts[:, texts], starts, axis=1).astype(np.float64),
        elements=elements,
        above=above,
        depth=depth,
    )


def _muted(stream: Stream, nesting: Nesting, solid: Ints) -> Mask:
    """Where text is no part of the page's; `solid` are the places of the tags that `nesting` speaks of."""
    mute = np.flatnonzero(_MUTE[stream.tag[solid[nesting.start]]])
    size = len(stream.tag) + 1
    begin = np.bincount(solid[nesting.start[mute]], minlength=size)
    end = np.bincount(solid[nesting.end[mute]], minlength=size)
    return np.asarray(np.cumsum(begin - end)[:-1] > 0)


def _joined(stream: Stream, lengths: Ints) -> bytes:
    """The texts after the tags, one after another."""
    ends = np.cumsum(lengths)
    place = np.repeat(stream.end - (ends - lengths), lengths) + np.arange(ends[-1])
    return bytes(np.frombuffer(stream.source, np.uint8)[place])


def _in_links(stream: Stream) -> Mask:
    """Whether the last tag of a link began one: links do not nest, and what follows an unclosed one is of it."""
    links = np.flatnonzero(stream.tag == NUMBER["a"])
    inside = np.append(False, stream.step[links] > 0)
    known = np.zeros(len(stream.tag), np.int64)
    known[links] = 1
    return np.asarray(inside[np.cumsum(known)])


def _tree(stream: Stream, nesting: Nesting, solid: Ints, place: Ints) -> tuple[Elements, Ints, Floats]:
    """The elements, those around each place, and how many those are."""
    none = len(nesting.start)
    start, end = np.append(solid[nesting.start], -1), np.append(solid[nesting.end], len(stream.tag))
    elements = Elements(
        place=start,
        tag=np.append(stream.tag[start[:-1]], 0),
        first=np.searchsorted(place, start),
        last=np.searchsorted(place, end),
    )
    before = np.searchsorted(solid[:-1], place, side="right")
    parent = np.append(nesting.parent, none)
    above = np.empty((LEVELS, len(place)), np.int64)
    above[0] = np.append(none, nesting.inner)[before]
    for level in range(1, LEVELS):
        above[level] = parent[above[level - 1]]
    return elements, above, around(elements, np.ones(none + 1), len(place))


def around(elements: Elements, weight: Floats, count: int) -> Floats:
    """Of each of so many blocks the sum of the weights of the elements that it stands in."""
    begin = np.bincount(elements.first, weight, count + 1)
    end = np.bincount(elements.last, weight, count + 1)
    return np.asarray(np.cumsum(begin - end)[:-1])
