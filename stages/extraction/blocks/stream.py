"""A parsed page as a stream: its tags in order, each with the text that follows it.

The tree is written out once by the parser, so that all tags are balanced and implied ones stand there; then one
pattern takes it apart and NumPy reads the columns. Nodes are never visited one by one.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stages.extraction.last import last
from stages.extraction.visible import parsed

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

VOID = "area base br col embed hr img input link meta param source track wbr".split()
# Elements that stand in a line of text. A button or an option is a block of its own.
INLINE = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output q rb rp rt"
    " ruby s samp small span strike strong sub sup time tt u var wbr link meta source track input picture area math mi"
    " mo mn mrow msup msub slot svg"
).split()
# Elements whose text is no part of the page's.
MUTE = "svg template textarea object canvas datalist head select".split()
BLOCK = (
    "html body div p ul ol li dl dt dd h1 h2 h3 h4 h5 h6 table tbody thead tfoot tr td th pre blockquote section"
    " article main nav header footer aside form fieldset figure figcaption button summary details address center br hr"
    " option caption legend dialog noscript iframe audio video"
).split()
TAGS = ("?", *dict.fromkeys([*BLOCK, *INLINE, *MUTE, *VOID]))
NUMBER = {name: number for number, name in enumerate(TAGS)}

# The parser escapes ">" in attribute values, so a tag ends at the first one.
TAG = re.compile(r"<(/?[a-z][^\s>/]*)([^>]*)>")
RAW = re.compile(r"<(?:!--|(script|style|iframe|noembed|noframes|xmp)\b)")


def tags(*names: str) -> Mask:
    """These tags, by number."""
    return np.array([name in names for name in TAGS])


_VOID, _INLINE, _MUTE = tags(*VOID), tags(*INLINE), tags(*MUTE)


class _Codes(dict[str, int]):
    """A code for each tag as written: twice the number of its name, one more for an end tag."""

    def __missing__(self, name: str) -> int:
        return int(name[0] == "/")


_CODES = _Codes({slash + name: 2 * NUMBER[name] + (slash == "/") for name in TAGS[1:] for slash in ("", "/")})


class Stream(NamedTuple):
    """The tags of a page in order; all columns are equally long."""

    attributes: Sequence[str]  # as written, "" for end tags
    texts: Sequence[str]  # what stands between the tag and the next
    tag: Ints  # number of the name in TAGS
    step: Ints  # 1 for a start tag, -1 for an end tag, 0 for an element without content
    inline: Mask

    def inside(self, tags: Mask) -> Ints:
        """How many elements of these tags (by number) are open after each tag of the stream."""
        return np.cumsum(np.where(tags[self.tag], self.step, 0))

    def muted(self) -> Mask:
        """Where text is no part of the page's."""
        return self.inside(_MUTE) > 0


@last
def stream(source: str) -> Stream | None:
    """The stream of a page; None where it has no tags. The last one is kept."""
    tree = parsed(source)
    body = tree.body
    # A flat list of texts: tuples for each tag would set off the collector of cycles, at a fifth of the whole cost.
    pieces = TAG.split(without_raw(str(tree) if body is None else body.html))
    names = pieces[1::3]
    if not names:
        return None
    codes = np.fromiter(map(_CODES.__getitem__, names), np.int64, len(names))
    tag = codes >> 1
    step = np.where(_VOID[tag], 0, 1 - 2 * (codes & 1))
    return Stream(pieces[2::3], pieces[3::3], tag, step, _INLINE[tag])


def without_raw(markup: str) -> str:
    """The markup without comments, scripts, styles and frames, whose content may look like tags."""
    parts: list[str] = []
    at = 0
    while (begin := RAW.search(markup, at)) is not None:
        parts.append(markup[at : begin.start()])
        close = f"</{begin[1]}>" if begin[1] else "-->"
        end = markup.find(close, begin.start() + 2)
        if end < 0:
            return "".join(parts)
        at = end + len(close)
    parts.append(markup[at:])
    return "".join(parts)
