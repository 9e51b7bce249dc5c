"""KenLM's binary files: the header, and which of its two layouts follows (Heafield 2011, sections 3 and 4).

The layout is KenLM's of version 5 (lm/binary_format.cc): a check of the machine's number formats, the parameters,
how many n-grams there are of each size, then the words, then the n-grams. The file is mapped into memory, so all
processes of a machine share it.
"""

import mmap
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MAGIC = b"mmap lm http://kheafield.com/code format version"
SANITY = struct.Struct("<56s3f3IQ")  # magic and version, then 0, 1, -0.5 as floats, 1, the largest and 0 as words, 1
SANE = (0.0, 1.0, -0.5, 1, (1 << 32) - 1, 0, 1)
PARAMETERS = struct.Struct("<B3xfIB3xI")  # order, probing multiplier, kind, whether words follow, version of the kind
VERSION = b"5"
MOST_WORDS_IN_A_GRAM = 32
PROBING, REST_PROBING, TRIE, QUANTIZED_TRIE, ARRAY_TRIE, QUANTIZED_ARRAY_TRIE = range(6)


@dataclass(frozen=True)
class Header:
    """What a file says of itself."""

    kind: int
    multiplier: float  # buckets per entry of the hash tables
    counts: tuple[int, ...]  # n-grams of 1, 2, ... words
    size: int  # bytes of the header


class MappedFile:
    """A mapped file, cut into arrays from its beginning on. Raises ValueError where it ends too early."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self.content, self.at = content, at

    def array(self, dtype: npt.DTypeLike, count: int) -> npt.NDArray[Any]:
        """The next `count` items."""
        start = self.at
        self.skip(count * np.dtype(dtype).itemsize)
        return np.frombuffer(self.content, dtype, count, start)

    def skip(self, size: int) -> None:
        if size < 0 or self.at + size > len(self.content):
            raise ValueError(f"it ends after {len(self.content):,} bytes, within what its header announces")
        self.at += size


def is_kenlm(path: str) -> bool:
    """Whether a file begins like one of KenLM's."""
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def opened(path: str) -> tuple[Header, MappedFile]:
    """The header of a file and the rest of it. Raises ValueError for one that can't be read here."""
    with Path(path).open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    header = _header(content)
    return header, MappedFile(content, header.size)


def _header(content: mmap.mmap) -> Header:
    if len(content) < SANITY.size + PARAMETERS.size:
        raise ValueError(f"it ends after {len(content)} bytes")
    magic, *numbers = SANITY.unpack_from(content)
    version = magic[len(MAGIC) :].split()[:1]
    if not magic.startswith(MAGIC) or version != [VERSION]:
        number = b" ".join(version).decode("ascii", "replace")
        raise ValueError(f"it is of version {number}, 5 is read here; build it anew from the ARPA file")
    if tuple(numbers) != SANE:
        raise ValueError("it was built on a machine with other number formats; build it anew from the ARPA file")
    order, multiplier, kind, _, _ = PARAMETERS.unpack_from(content, SANITY.size)
    at = SANITY.size + PARAMETERS.size
    if not 2 <= order <= MOST_WORDS_IN_A_GRAM or kind > QUANTIZED_ARRAY_TRIE or not 1 <= multiplier < 1e6:
        raise ValueError("its header contradicts itself")
    if at + 8 * order > len(content):
        raise ValueError(f"it ends after {len(content)} bytes")
    counts = struct.unpack_from(f"<{order}Q", content, at)
    end = at + 8 * order
    return Header(kind, multiplier, counts, end + -end % 8)


_MULTIPLIER, _MASK = 0xC6A4A7935BD1E995, (1 << 64) - 1


@lru_cache(maxsize=1 << 18)
def word_hash(word: str) -> int:
    """KenLM's hash of a word: MurmurHash64A of its UTF-8 with seed 0 (Appleby; public domain)."""
    data = word.encode("utf-8", "surrogatepass")
    found = len(data) * _MULTIPLIER & _MASK
    in_words = len(data) & ~7
    for (part,) in struct.iter_unpack("<Q", data[:in_words]):
        part = part * _MULTIPLIER & _MASK
        part ^= part >> 47
        found = ((found ^ (part * _MULTIPLIER & _MASK)) * _MULTIPLIER) & _MASK
    if in_words < len(data):
        found = ((found ^ int.from_bytes(data[in_words:], "little")) * _MULTIPLIER) & _MASK
    found ^= found >> 47
    found = found * _MULTIPLIER & _MASK
    return found ^ found >> 47
