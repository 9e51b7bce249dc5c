"""A page's blocks and elements: runs of text between tags that break a line, and the tree above them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stages.extraction.blocks.characters import KINDS, SPACE, count
from stages.extraction.blocks.stream import Ints, Stream, tags

Floats = NDArray[np.float64]
_LINK = tags("a")
LEVELS = 8  # ancestors that a block knows by name


@dataclass(frozen=True, slots=True)
class Elements:
    """The block elements of a page in document order. A last one, the page itself, stands for "no such element"."""

    place: Ints  # of the start tag in the stream
    end: Ints  # of the end tag
    tag: Ints
    first: Ints  # block that stands first in it
    last: Ints  # and the one after its last


@dataclass(frozen=True, slots=True)
class Page:
    """The blocks of a page: `count` of them, in reading order; arrays are as long where nothing else is said."""

    stream: Stream
    texts: Ints  # places in the stream that have text, block after block
    starts: Ints  # where each block's begin in `texts`
    place: Ints  # of a block's first text in the stream
    words: Floats
    linked: Floats  # words in links
    kinds: Floats  # (blocks, KINDS) characters
    elements: Elements
    above: Ints  # (blocks, LEVELS) elements around a block, the innermost first
    depth: Ints

    @property
    def count(self) -> int:
        return len(self.starts)


def page(stream: Stream) -> Page | None:
    """The blocks of a stream; None where there is no text."""
    counts, words = count(stream.texts)
    heard = ~stream.muted()
    texts = np.flatnonzero((counts.sum(1) > counts[:, SPACE]) & heard)
    if not len(texts):
        return None
    run = np.cumsum(~stream.inline & heard)[texts]  # a tag that is not inline begins another block
    starts = np.flatnonzero(np.concatenate(([True], run[1:] != run[:-1])))
    linked = np.where(stream.inside(_LINK)[texts] > 0, words[texts], 0)
    place = texts[starts]
    step = np.where(stream.inline, 0, stream.step)
    depth = np.cumsum(step)
    elements, above = _tree(stream, step, depth, place)
    return Page(
        stream=stream, texts=texts, starts=starts, place=place,
        words=np.add.reduceat(words[texts], starts).astype(np.float64),
        linked=np.add.reduceat(linked, starts).astype(np.float64),
        kinds=np.add.reduceat(counts[texts], starts, axis=0).astype(np.float64).reshape(-1, len(KINDS)),
        elements=elements, above=above, depth=depth[place],
    )  # fmt: skip


def _tree(stream: Stream, step: Ints, depth: Ints, place: Ints) -> tuple[Elements, Ints]:
    """The elements, and those around each place, by one search each.

    A start tag and the end tag that belongs to it stand on the same depth with none of that depth between them, so
    sorted by depth and place they follow one another.
    """
    total = len(step)
    opens, closes = np.flatnonzero(step == 1), np.flatnonzero(step == -1)
    low = min(int(depth.min()), 0)
    keys = (depth[opens] - low) * (total + 1) + opens
    ends = np.sort((depth[closes] + 1 - low) * (total + 1) + closes)
    follow = np.searchsorted(ends, keys)
    end = np.full(len(opens) + 1, total)
    if len(ends):
        key = ends[np.minimum(follow, len(ends) - 1)]
        closed = (follow < len(ends)) & (key // (total + 1) == depth[opens] - low)
        end[:-1] = np.where(closed, key % (total + 1), total)
    start = np.append(opens, -1)
    elements = Elements(
        place=start, end=end, tag=np.append(stream.tag[opens], 0),
        first=np.searchsorted(place, start), last=np.searchsorted(place, end),
    )  # fmt: skip
    order = np.argsort(keys)
    ordered = np.append(keys[order], 0)  # the last stands for "none", and has no depth

    def around(depth: Ints, place: Ints) -> Ints:
        """The element of that depth that is open at each place: the last one that began before it."""
        at = np.searchsorted(ordered[:-1], (depth - low) * (total + 1) + place, side="right") - 1
        there = (at >= 0) & (depth > 0) & (ordered[at] // (total + 1) == depth - low)
        return np.where(there, np.append(order, len(opens))[at], len(opens))

    above = np.empty((len(place), LEVELS), np.int64)
    above[:, 0] = around(depth[place], place)
    parent = np.append(around(depth[opens] - 1, opens), len(opens))
    for level in range(1, LEVELS):
        above[:, level] = parent[above[:, level - 1]]
    return elements, above
