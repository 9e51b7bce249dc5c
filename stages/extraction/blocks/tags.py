"""The tags that matter, by number, and the number of each name read from eight bytes of a page at once."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Words = NDArray[np.uint64]

VOID = "area base br col embed hr img input link meta param source track wbr body html".split()
# Elements that stand in a line of text. A button or an option is a block of its own.
INLINE = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output q rb rp rt"
    " ruby s samp small span strike strong sub sup time tt u var wbr link meta source track input picture area math mi"
    " mo mn mrow msup msub slot"
).split()
# Elements without markup inside or without text of the page: cut out before anything else is looked at.
RAW = "script style iframe noembed noframes xmp textarea title svg select canvas datalist".split()
RUNS_ON = "script style xmp".split()  # of these, the ones that hide the rest of a page where they are never closed
# Elements whose text is no part of the page's, although other elements may stand in them.
MUTE = "template object head audio video".split()
BLOCK = (
    "html body div p ul ol li dl dt dd h1 h2 h3 h4 h5 h6 table tbody thead tfoot tr td th pre blockquote section"
    " article main nav header footer aside form fieldset figure figcaption button summary details address center br hr"
    " option optgroup caption legend dialog noscript audio video"
).split()
TAGS = ("?", *dict.fromkeys([*BLOCK, *INLINE, *RAW, *MUTE, *VOID]))
NUMBER = {name: number for number, name in enumerate(TAGS)}

_LETTERS = np.uint64(0x4040_4040_4040_4040)  # bits that letters have, and white space, "/", ">" and digits have not
_SMALL = np.uint64(0x2020_2020_2020_2020)  # bits that make letters small
_SHIFT = np.uint64(64 - 11)


def tags(*names: str) -> Mask:
    """These tags, by number."""
    return np.array([name in names for name in TAGS])


def key(name: bytes) -> int:
    """The first eight letters of a name as one number, the first letter lowest."""
    return int.from_bytes(name[:8], "little")


def _spread() -> tuple[np.uint64, Words, Ints]:
    """A factor that sends each name's key to a place of its own, the keys by place, and the numbers of the tags."""
    keys = np.array([key(name.encode()) for name in TAGS], np.uint64)
    random = np.random.default_rng(1)
    while True:
        factor = random.integers(1, 1 << 63, dtype=np.uint64) | np.uint64(1)
        places = (keys * factor) >> _SHIFT
        if len(np.unique(places)) == len(TAGS):
            break
    table, numbers = np.zeros(1 << 11, np.uint64), np.zeros(1 << 11, np.int64)
    table[places], numbers[places] = keys, np.arange(len(TAGS))
    return factor, table, numbers


_FACTOR, _KEYS, _NUMBERS = _spread()


def numbered(words: Words) -> Ints:
    """The numbers of the tags whose names begin eight bytes each; 0 for names that are none of ours.

    Letters alone tell names apart, and the one digit of headings; longer names are known by eight letters.
    """
    small = words | _SMALL
    others = ~small & _LETTERS
    first = others & (~others + np.uint64(1))  # the lowest bit: of the first byte that is no letter
    inside = (first >> np.uint64(6)) - np.uint64(1)  # all bits below that byte
    name = small & inside
    heading = name == ord("h")
    if heading.any():
        name[heading] = small[heading] & np.uint64(0xFFFF)
    place = (name * _FACTOR) >> _SHIFT
    hyphen = words & (first >> np.uint64(6)) * np.uint64(0xFF) == (first >> np.uint64(6)) * np.uint64(ord("-"))
    return np.where((_KEYS[place] == name) & ~(hyphen & (first > 0)), _NUMBERS[place], 0)
