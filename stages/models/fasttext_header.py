"""What a fastText model file says of itself, held against its size before the library believes it.

The layout is that of fastText's `FastText::saveModel` (src/fasttext.cc, args.cc, dictionary.cc, densematrix.cc,
quantmatrix.cc, productquantizer.cc), version 12, little-endian.
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC, VERSIONS = 793712314, (11, 12)
HEADER = struct.Struct("<ii12idiiiqq")  # magic, version, 13 settings, entries, words, labels, tokens, kept n-grams
DENSE, QUANTIZED, PRODUCT = struct.Struct("<qq"), struct.Struct("<?qqi"), struct.Struct("<4i")
CENTROIDS = 256
LABEL = 1  # the type of an entry of the dictionary: 0 a word, 1 a label
MODELS = {1: "skip-gram", 2: "word vectors", 3: "supervised"}


@dataclass(frozen=True)
class FastTextHeader:
    """What stages ask of a model before it is loaded."""

    labels: tuple[str, ...]  # as the file has them, prefix and all


class _HeaderCursor:
    """A place in a file that moves on as parts are read; struct.error beyond the end."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content, self.at = content, 0

    def take(self, parts: struct.Struct) -> tuple[int, ...]:
        found = parts.unpack_from(self.content, self.at)
        self.at += parts.size
        return found

    def skip(self, size: int) -> None:
        if size < 0 or self.at + size > len(self.content):
            raise struct.error
        self.at += size


def read_header(path: str) -> FastTextHeader:
    """The header of a model file. Raises ValueError for a file that is no classifier or is not all there."""
    size = Path(path).stat().st_size
    if size < HEADER.size:
        raise ValueError(f"it ends after {size} bytes")
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        reader = _HeaderCursor(content)
        try:
            return _header(reader)
        except (struct.error, IndexError):
            raise ValueError(f"it ends after {size:,} bytes, within what its header announces") from None


def _header(reader: _HeaderCursor) -> FastTextHeader:
    fields = reader.take(HEADER)
    magic, version, model, dim, bucket = fields[0], fields[1], fields[9], fields[2], fields[10]
    entries, words, label_count, _, kept = fields[15:]
    if magic != MAGIC or version not in VERSIONS:
        raise ValueError("it does not begin like one")
    if MODELS.get(model) != "supervised":
        raise ValueError(f"it is one of {MODELS.get(model, 'another kind')}, not a classifier")
    if dim < 1 or words < 0 or label_count < 1 or entries != words + label_count or bucket < 0:
        raise ValueError("its header contradicts itself")
    labels = _labels(reader, entries)
    reader.skip(8 * max(kept, 0))
    _matrix(reader, dim, least=words)
    _matrix(reader, dim, least=label_count)
    return FastTextHeader(labels)


def _labels(reader: _HeaderCursor, entries: int) -> tuple[str, ...]:
    """Entries are a text that ends in NUL, its count (8 bytes) and its type (1 byte)."""
    found, start = [], reader.at
    content = reader.content
    for _ in range(entries):
        end = content.find(b"\0", start)
        if end < 0:
            raise struct.error
        if content[end + 9] == LABEL:
            found.append(content[start:end].decode("utf-8", "replace"))
        start = end + 10
    reader.at = start
    return tuple(found)


def _matrix(reader: _HeaderCursor, dim: int, least: int) -> None:
    """Skips a matrix of at least so many rows, dense or quantized."""
    quantized = reader.content[reader.at]
    reader.skip(1)
    if not quantized:
        rows, columns = reader.take(DENSE)
        size = 4 * rows * columns
    else:
        norms, rows, columns, size = reader.take(QUANTIZED)
    if rows < least or columns != dim:
        raise ValueError("a matrix of it has another size than its dictionary")
    reader.skip(size)
    if quantized:
        for codes in (0, rows)[: 1 + norms]:
            reader.skip(codes)
            reader.skip(4 * CENTROIDS * reader.take(PRODUCT)[0])
