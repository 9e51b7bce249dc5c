"""Caps: sizes over which a page is not parsed at all, because some parser needs minutes or gigabytes for it.
And the least that is written: some text.

They are sizes and never seconds, so the same page gets the same verdict on every machine. NumPy finds a bound
first (a fraction of a millisecond for a page of 150 KB); only a page over that bound is walked tag by tag.
"""

import builtins
import re
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from curate.document import Drop

REASONS = (
    "too_many_bytes",
    "too_many_tags",
    "too_many_attributes",
    "too_deep",
    "text_node_too_long",
    "too_much_text",
    "no_text",
)

# Elements that never have content, and those that need no end tag: unclosed ones do not nest in one another
# (HTML standard, 13.1.2 and 13.1.2.4).
VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
IMPLIED_END = frozenset(
    b"p li td th tr dt dd option optgroup tbody thead tfoot colgroup caption rt rp html head body".split()
)
RAW_TEXT = frozenset(b"script style textarea title iframe noembed noframes xmp".split())

TAG = re.compile(
    rb"<(?:!--.*?(?:--!?>|\Z)|[!?]|(/?)([a-zA-Z][^\s/>]*)(?:\"[^\"]*\"|'[^']*'|[^>\"'])*+(?:>|\Z)?)",
    re.DOTALL,
)
OPENED = re.compile(rb"<[a-zA-Z]")
# A value that holds a bracket: its tag is longer than the stretch up to that bracket.
QUOTED = re.compile(rb"""=\s*+(?:"[^"<>]*+[<>]|'[^'<>]*+[<>])""")
ATTRIBUTE = re.compile(rb"""[^\s/>="'][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]++))?+""")
SHORTEST_ATTRIBUTE = 2  # bytes, with the space before it: so a short tag can't hold many, and is not looked into

# Codes of a tag name's first three letters, five bits each: a page's names are told apart without cutting a string
# out, and sorted as 16-bit numbers, which NumPy does by radix. 0 is what ends a name, 31 what else may stand in one;
# digits share codes, which can only join h1 with h6 and make a bound larger.
_LETTER = np.full(256, 31, np.uint16)
_LETTER[list(b" \t\n\f\r/>")] = 0
for _index, _byte in enumerate(b"abcdefghijklmnopqrstuvwxyz"):
    _LETTER[_byte] = _LETTER[_byte - 32] = _index + 1
for _index, _byte in enumerate(b"0123456789"):
    _LETTER[_byte] = 27 + _index % 4


def _code(name: bytes) -> int:
    first, second, third = (int(_LETTER[byte]) for byte in name[:3].ljust(3))
    return first << 10 | second << 5 | third


_FLAT = np.array(sorted(VOID | IMPLIED_END))
_WIDTH = _FLAT.dtype.itemsize + 1  # a name that is cut here is none of them
_MAY_BE_FLAT = np.zeros(1 << 15, np.bool_)
_MAY_BE_FLAT[[_code(name) for name in VOID | IMPLIED_END]] = True


Limit = Annotated[int, Field(ge=0)] | None


@dataclass(frozen=True, kw_only=True)
class Caps:
    """Limits on one page; null turns one off."""

    bytes: Limit = 5 * 1024 * 1024
    """bytes of a body after content decoding (Common Crawl's own cut is 1 MiB, since 2025 5 MiB)"""
    tags: Limit = 100_000
    """start and end tags"""
    attributes: Limit = 1_000
    """attributes of one tag, since parsers compare each with all before it"""
    depth: Limit = 1_000
    """elements open at once (Chromium stops at 512)"""
    text_node: Limit = 4_000_000
    """bytes of text between two tags"""
    output_text: Limit = 4_000_000
    """characters that a stage may return"""

    def check_html(self, html: "builtins.bytes") -> Drop | None:
        """The first cap that a page's body breaks, or None."""
        if self.bytes is not None and len(html) > self.bytes:
            return Drop("too_many_bytes", len(html), self.bytes)
        starts = np.flatnonzero(np.frombuffer(html, np.uint8) == ord("<"))
        # Each cap first asks a number that is never too small and costs one pass in NumPy; hardly a page is over it, so
        # the exact count, tag by tag, is made for those alone.
        if self.tags is not None and len(starts) > self.tags and (tags := _count_tags(html)) > self.tags:
            return Drop("too_many_tags", tags, self.tags)
        if self.attributes is not None and (most := _most_attributes(html, starts, self.attributes)) > self.attributes:
            return Drop("too_many_attributes", most, self.attributes)
        may_be_deep = self.depth is not None and _depth_bound(html, starts) > self.depth
        may_be_long = self.text_node is not None and _longest_gap(html, starts) > self.text_node
        if not may_be_deep and not may_be_long:
            return None
        depth, text_node = _walk(html)
        if self.depth is not None and depth > self.depth:
            return Drop("too_deep", depth, self.depth)
        if self.text_node is not None and text_node > self.text_node:
            return Drop("text_node_too_long", text_node, self.text_node)
        return None

    def check_text(self, text: str) -> Drop | None:
        """`too_much_text` where an extracted text is over its cap, or None."""
        if self.output_text is not None and len(text) > self.output_text:
            return Drop("too_much_text", len(text), self.output_text)
        return None

    def check_end(self, text: str) -> Drop | None:
        """`no_text` where a document comes off the belt with nothing to write: an empty cell, a page not extracted."""
        return Drop("no_text", 0, 1) if not text or text.isspace() else None


def _count_tags(html: bytes) -> int:
    """Start and end tags; comments and comparisons in scripts are none."""
    return sum(1 for tag in re.finditer(rb"</?[a-zA-Z]", html))


def _most_attributes(html: bytes, starts: np.ndarray, limit: int) -> int:
    """The most attributes of one tag; 0 where no tag is long enough for more than `limit`."""
    shortest = limit * SHORTEST_ATTRIBUTE
    if len(html) <= shortest:
        return 0
    most = seen = 0
    for place in sorted([*_far_from_brackets(html, starts, shortest), *(q.start() for q in QUOTED.finditer(html))]):
        start = html.rfind(b"<", seen, place + 1)
        tag = TAG.match(html, start) if start >= 0 and OPENED.match(html, start) else None
        if tag is not None and tag[2] is not None:
            seen = tag.end()
            if seen - start > shortest:
                most = max(most, sum(1 for _ in ATTRIBUTE.finditer(html, tag.end(2), seen)))
        seen = max(seen, place)
    return most


def _far_from_brackets(html: bytes, starts: np.ndarray, shortest: int) -> list[int]:
    """Where a "<" stands that no other bracket follows within `shortest` bytes: a long tag, perhaps."""
    ends = np.flatnonzero(np.frombuffer(html, np.uint8) == ord(">"))
    brackets = np.sort(np.concatenate((starts, ends, [len(html)])))
    far: list[int] = starts[brackets[np.searchsorted(brackets, starts, "right")] - starts > shortest].tolist()
    return far


def _longest_gap(html: bytes, starts: np.ndarray) -> int:
    """The longest stretch without a "<": no text node is longer."""
    edges = np.concatenate(([0], starts, [len(html)]))
    return int(np.diff(edges).max())


def _depth_bound(html: bytes, starts: np.ndarray) -> int:
    """Twice, summed over names, the greatest rise of start tags over end tags: the true depth is hardly more.

    Taken by name, so that an end tag which ends nothing hides nothing. Elements without need of an end tag
    are left out: one nests in its like only with another element between them; hence twice.
    """
    if not len(starts):
        return 0
    data = np.frombuffer(html + b" " * (_WIDTH + 2), np.uint8)
    ends = data[starts + 1] == ord("/")
    names = starts + 1 + ends
    first, second, third = _LETTER[data[names]], _LETTER[data[names + 1]], _LETTER[data[names + 2]]
    codes = (first << 10) | (second << 5) | np.where(second > 0, third, 0).astype(np.uint16)
    flat = _MAY_BE_FLAT[codes]
    alike = np.flatnonzero(flat & (codes & 31 > 0))  # of three letters or more: they may be another name's beginning
    flat[alike] = _are_flat(data, names[alike])
    steps = np.where(ends, -1, 1) * ((first > 0) & (first < 27) & ~flat)
    order = np.argsort(codes, kind="stable")
    codes, steps = codes[order], steps[order]
    firsts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    group = np.zeros(len(codes), np.int64)
    group[firsts[1:]] = 1
    # Each name's sums lie far below those of the name before it, so one running minimum serves all.
    after = np.cumsum(steps) - np.cumsum(group) * (2 * len(codes) + 2)
    rises = after - np.minimum.accumulate(after - steps)
    return 2 * int(np.maximum(np.maximum.reduceat(rises, firsts), 0).sum())


def _are_flat(data: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Which tag names are of elements that do not nest in their like: <head> is one, and <header> begins as it does."""
    letters = data[starts[:, None] + np.arange(_WIDTH)]
    letters[np.logical_or.accumulate(_LETTER[letters] == 0, axis=1)] = 0
    return np.isin(np.char.lower(letters.view(f"S{_WIDTH}").ravel()), _FLAT)


def _walk(html: bytes) -> tuple[int, int]:
    """Greatest depth of open elements and longest text node in bytes, tag by tag."""
    deepest = longest = position = 0
    stack: list[bytes] = []
    open_names: dict[bytes, int] = {}
    while (tag := TAG.search(html, position)) is not None:
        longest = max(longest, tag.start() - position)
        position = tag.end()
        if (name := tag[2]) is None:
            continue
        name = name.lower()
        if tag[1]:
            _close(name, stack, open_names)
        elif name in RAW_TEXT:
            end = re.compile(rb"</" + re.escape(name), re.IGNORECASE).search(html, position)
            position = end.start() if end else len(html)
        elif name not in VOID and not tag[0].endswith(b"/>"):
            if name in IMPLIED_END and stack and stack[-1] == name:
                continue
            stack.append(name)
            open_names[name] = open_names.get(name, 0) + 1
            deepest = max(deepest, len(stack))
    return deepest, max(longest, len(html) - position)


def _close(name: bytes, stack: list[bytes], open_names: dict[bytes, int]) -> None:
    """Ends the innermost open element of that name and all within it; without one does nothing."""
    top = b""
    while open_names.get(name) and top != name:
        top = stack.pop()
        open_names[top] -= 1
