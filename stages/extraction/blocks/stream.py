"""A page as a stream: its tags in order, each with the text that follows it.

NumPy reads the bytes as they are, all tags at once. No parser builds a tree of them: which elements are open where is
decided by `nesting`, and what the standard says of other things is followed as far as pages need it:

- comments, scripts and other elements without text are cut out first, each up to its end; where there is none,
  comments and scripts hide the rest of the page and the others nothing;
- what stands before `<body>` is cut out as well;
- a tag ends at the first ">" that is not in a quoted value; a "<" before a letter, "/", "!" or "?" begins one, and any
  other is text;
- a tag that never ends is left out with all after it.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from stages.extraction.blocks import tags as t
from stages.extraction.blocks.tags import Ints, Mask, Words
from stages.extraction.last import last

HEAD, GRAPH = 100_000, 60  # bytes at the start in which og:type stands, and around it in which its content does
SVG = 1_000  # bytes in which a tag that ends itself does so
# In front of a page and behind it, so that all text follows a tag, and eight bytes can be read at any place.
FRONT, BACK = b"\0\0<body>", bytes(8)
PAD = len(FRONT)
LESS, MORE, DOUBLE, SINGLE, EQUALS = b"<>\"'="
_SPECIAL = bytes(int(byte in (LESS, MORE, DOUBLE, SINGLE, EQUALS)) for byte in range(256))
_BEGINS = np.array([chr(byte) in "/!?" or (byte < 128 and chr(byte).isalpha()) for byte in range(256)])
_QUOTES = np.zeros(256, np.int64)  # both kinds are counted in one number
_QUOTES[DOUBLE], _QUOTES[SINGLE] = 1, 1 << 32
_ODD = 1 | 1 << 32
_MARK = np.array([chr(byte) in "!?" for byte in range(256)])  # of tags that begin no element
_VOID, _INLINE, _RAW = t.tags(*t.VOID), t.tags(*t.INLINE), t.tags(*t.RAW)
# A whole tag, of which a quoted value is one that follows "=" and is closed.
_TAG = re.compile(rb"<[^>=]*+(?:=\s*+(?:\"[^\"]*+\"|'[^']*+'|)[^>=]*+)*+>")


class Specials(NamedTuple):
    """The places of all brackets, quotes and equals signs of a page, and which each is."""

    at: Ints
    kind: np.ndarray


class Said(NamedTuple):
    """What a page says of itself to machines."""

    graph: bytes  # what stands around its og:type
    scripts: list[bytes]  # its JSON-LD


class Stream(NamedTuple):
    """The tags of a page in order; the columns of `Ints` and `Mask` are equally long."""

    source: bytes  # what is left of the page, with zero bytes around it
    words: Words  # the eight bytes from each place of the source on
    specials: Specials
    opening: Ints  # of each tag the numbers of its brackets among the specials
    closing: Ints
    begin: Ints  # places of each tag's "<" in the source,
    end: Ints  # of what follows its ">",
    next: Ints  # and of the next tag or the end
    tag: Ints  # number of the name in TAGS
    step: Ints  # 1 for a start tag, -1 for an end tag, 0 for an element without content
    inline: Mask
    said: Said

    def attributes(self, place: int) -> bytes:
        """A tag as written."""
        return self.source[self.begin[place] : self.end[place]]


@last
def stream(page: bytes) -> Stream:
    """The stream of a page in UTF-8. The last one is kept."""
    source = b"".join((FRONT, page, BACK))
    less = np.flatnonzero(np.frombuffer(source, np.uint8) == LESS)
    words, raw = _words(source), np.frombuffer(source, np.uint8)
    name, closing = words[less + 1], raw[less + 1] == ord("/")
    number = t.numbered(words[less + 1 + closing])
    cuts, body = _cuts(source, less, name, number, closing)
    said = _said(source, cuts, body)
    if body == PAD:
        heads = number == t.NUMBER["head"]
        body = _after_open_head(source, less[heads & ~closing], less[heads & closing], cuts)
    source, kept = _without(source, less, [(PAD, body), *(cut for cut in cuts if cut[0] >= body)])
    number, closing, first = number[kept], closing[kept], (name[kept] & np.uint64(0xFF)).astype(np.uint8)
    at = np.flatnonzero(np.frombuffer(source.translate(_SPECIAL), np.bool_))
    specials = Specials(at, np.frombuffer(source, np.uint8)[at])
    tag, opening, last, rest = _brackets(source, _BEGINS[first], specials)
    number, closing, mark = number[tag], closing[tag], _MARK[first[tag]]
    begin, end = at[opening], at[last] + 1
    step = np.where(_VOID[number] | mark, 0, 1 - 2 * closing)
    following, inline = np.append(begin[1:], rest), _INLINE[number] | mark
    return Stream(source, _words(source), specials, opening, last, begin, end, following, number, step, inline, said)


def _words(source: bytes) -> Words:
    return np.ndarray(len(source) - 7, np.uint64, source, strides=(1,))


def _cuts(source: bytes, less: Ints, name: Words, number: Ints, closing: Mask) -> tuple[list[tuple[int, int]], int]:
    """What no reader sees, from where to where, and the place of the first `<body>` that stands in none of it."""
    comment = (name & np.uint64(0xFFFFFF)) == int.from_bytes(b"!--", "little")
    is_body = number == t.NUMBER["body"]
    opens = np.flatnonzero(comment | (_RAW[number] | is_body) & ~closing)
    ends: dict[int, list[int]] = {}
    cuts: list[tuple[int, int]] = []
    reached = body = PAD
    for place, what, is_comment in zip(less[opens].tolist(), number[opens].tolist(), comment[opens].tolist()):
        if place < reached:
            continue
        if is_comment:
            end = source.find(b"-->", place + 2) + 3
            reached = end if end > 2 else len(source)
        elif what == t.NUMBER["body"]:
            body = place if body == PAD else body
            continue
        else:
            if what not in ends:
                ends[what] = less[closing & (number == what)].tolist()
            reached = _close(source, place, what, ends[what])
        if reached > place:
            cuts.append((place, reached))
    return cuts, body


def _after_open_head(source: bytes, opens: Ints, closes: Ints, cuts: list[tuple[int, int]]) -> int:
    """Where a head that is never closed is left, for whose text the page's would be taken; else the page's start."""
    if not len(opens) or len(closes) or any(begin <= opens[0] < end for begin, end in cuts):
        return PAD
    return max(source.find(b">", int(opens[0])) + 1, PAD)


def _close(source: bytes, place: int, what: int, ends: list[int]) -> int:
    """Where the element that begins at a place ends; the place itself where nothing ends it."""
    if what == t.NUMBER["svg"]:
        mine = source.find(b">", place, place + SVG)
        if source[mine - 1] == ord("/"):
            return mine + 1
    following = bisect_right(ends, place)
    if following < len(ends):
        return source.find(b">", ends[following]) + 1 or len(source)
    return len(source) if t.TAGS[what] in t.RUNS_ON else place


def _said(source: bytes, cuts: list[tuple[int, int]], body: int) -> Said:
    """What is cut out, but says what the page is."""
    at = source.find(b"og:type", 0, body if PAD < body < HEAD else HEAD)
    after = source[at : at + GRAPH]
    graph = after if b"content" in after else source[max(at - GRAPH, 0) : at]
    tags = [(place, source.find(b">", place, end), end) for place, end in cuts]
    scripts = [
        source[tag + 1 : end] for place, tag, end in tags if source.find(b"ld+json", place, max(tag, place)) >= 0
    ]
    return Said(graph if at >= 0 else b"", [script[: script.rfind(b"<")] for script in scripts])


def _without(source: bytes, less: Ints, cuts: list[tuple[int, int]]) -> tuple[bytes, Mask]:
    """The source without the cuts, and which of its brackets, given by their places, are left."""
    borders = np.array(cuts)
    begin, after = np.searchsorted(less, borders).T
    change = np.bincount(begin, minlength=len(less) + 1) - np.bincount(after, minlength=len(less) + 1)
    parts, at = [], 0
    for first, end in cuts:
        parts.append(source[at:first])
        at = end
    parts.append(source[at:] if at < len(source) else BACK)
    return b"".join(parts), np.cumsum(change[:-1]) == 0


def _brackets(source: bytes, begins: Mask, specials: Specials) -> tuple[Ints, Ints, Ints, int]:
    """The numbers of the "<" that begin a tag, among all "<" and among the specials, those of the ">" that end it, and
    the place of the first tag that never ends, or of the page's end.

    A ">" with an odd number of quotes before it may stand in a value: there the tag is read letter by letter.
    """
    at, kind = specials
    more = kind == MORE
    first, last = np.flatnonzero(kind == LESS), np.append(np.flatnonzero(more), len(kind))
    last = last[np.cumsum(more)[first]]
    quotes = np.append(np.cumsum(_QUOTES[kind]), 0)  # after the last ">" it does not matter
    odd = ((quotes[last] - quotes[first]) & _ODD) > 0
    reached = -1
    for number in np.flatnonzero(odd & begins).tolist():
        if first[number] > reached:
            found = _TAG.match(source, at[first[number]])
            reached = int(np.searchsorted(at, found.end() - 1)) if found else len(kind)
            last[number] = reached
        else:
            begins[number] = False
    last[~begins] = -1
    begins[1:] &= np.maximum.accumulate(last)[:-1] < first[1:]
    ended = last < len(kind)
    rest = np.append(at[first[begins & ~ended]], len(source) - len(BACK))[0]
    begins &= ended
    return np.flatnonzero(begins), first[begins], last[begins], int(rest)
