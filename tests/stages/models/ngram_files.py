"""Small n-gram models for tests: the same n-grams as an ARPA file and in each of KenLM's binary layouts."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from stages.models import kenlm_file
from stages.models.kenlm_file import word_hash

Grams = Mapping[tuple[str, ...], tuple[float, float]]  # n-gram -> log10 p, back-off; every ending of one is there, too
MASK = (1 << 64) - 1


def by_size(grams: Grams) -> list[list[tuple[str, ...]]]:
    order = max(map(len, grams))
    return [sorted(gram for gram in grams if len(gram) == size) for size in range(1, order + 1)]


def write_arpa(path: Path, grams: Grams) -> str:
    sizes = by_size(grams)
    lines = ["\\data\\", *(f"ngram {size}={len(some)}" for size, some in enumerate(sizes, 1)), ""]
    for size, some in enumerate(sizes, 1):
        lines.append(f"\\{size}-grams:")
        lines += ["\t".join([str(grams[gram][0]), " ".join(gram), str(grams[gram][1])]) for gram in some]
        lines.append("")
    path.write_text("\n".join([*lines, "\\end\\", ""]))
    return str(path)


def header(kind: int, counts: Sequence[int], multiplier: float = 1.5) -> bytes:
    magic = (kenlm_file.MAGIC + b" 5\n\0").ljust(56, b"\0")
    head = magic + struct.pack("<3f3IQ", 0, 1, -0.5, 1, (1 << 32) - 1, 0, 1)
    head += struct.pack("<B3xfIB3xI", len(counts), multiplier, kind, 0, 0 if kind < 2 else 1)
    head += struct.pack(f"<{len(counts)}Q", *counts)
    return head + bytes(-len(head) % 8)


def table(rows: Mapping[int, bytes], count: int, multiplier: float) -> bytes:
    """A hash table with linear probing and room for `count` rows; key 0 is an empty place."""
    size = max(count + 1, int(np.float32(multiplier) * np.float32(count)))
    places: list[bytes | None] = [None] * size
    for key, value in rows.items():
        place = key % size
        while places[place] is not None:
            place = (place + 1) % size
        places[place] = struct.pack("<Q", key) + value
    empty = bytes(8 + len(next(iter(rows.values()))))
    return b"".join(place or empty for place in places)


def write_probing(path: Path, grams: Grams, multiplier: float = 1.5, rest: bool = False) -> str:
    sizes = by_size(grams)
    words = ["<unk>", *(gram[0] for gram in sizes[0] if gram != ("<unk>",))]
    number = {word: index for index, word in enumerate(words)}
    vocabulary = {word_hash(word): struct.pack("<I", index) for word, index in number.items() if index}

    endings = {gram[1:] for gram in grams}

    def weights(gram: tuple[str, ...]) -> bytes:
        probability, backoff = grams[gram]
        if gram in endings:
            probability = -probability  # no minus: a longer n-gram ends in this one
        return struct.pack("<ff", probability, backoff) + (struct.pack("<f", -9.0) if rest else b"")

    def key(gram: tuple[str, ...]) -> int:
        node = number[gram[-1]]
        for word in gram[-2::-1]:
            node = (node * 8978948897894561157 & MASK) ^ ((1 + number[word]) * 17894857484156487943 & MASK)
        return node

    counts = [len(some) for some in sizes]
    body = struct.pack("<II", 0, len(words)) + table(vocabulary, counts[0], multiplier)
    body += b"".join(weights((word,)) for word in words) + bytes(12 if rest else 8)
    for some in sizes[1:-1]:
        body += table({key(gram): weights(gram) for gram in some}, len(some), multiplier)
    longest = {key(gram): struct.pack("<f", grams[gram][0]) for gram in sizes[-1]}
    body += table(longest, counts[-1], multiplier)
    path.write_bytes(header(1 if rest else 0, counts, multiplier) + body)
    return str(path)


class Bits:
    """Numbers one after the other, each in so many bits, the lowest first."""

    def __init__(self) -> None:
        self.value, self.length = 0, 0

    def add(self, number: int, bits: int) -> None:
        self.value |= number << self.length
        self.length += bits

    def padded(self, size: int) -> bytes:
        return self.value.to_bytes(size, "little")


def whole(value: float, bits: int) -> int:
    """The lowest bits of a single-precision number."""
    found: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return found & ((1 << bits) - 1)


def write_trie(path: Path, grams: Grams, quantized: int = 0, array: int | None = None) -> str:
    """A trie; `quantized` bits a weight (0: whole ones), at most `array` upper bits of pointers in an array."""
    sizes = by_size(grams)
    counts = [len(some) for some in sizes]
    words = sorted((gram[0] for gram in sizes[0] if gram != ("<unk>",)), key=word_hash)
    number = {"<unk>": 0, **{word: index for index, word in enumerate(words, 1)}}
    body = struct.pack("<Q", len(words)) + b"".join(struct.pack("<Q", word_hash(word)) for word in words) + bytes(8)

    def reverse(gram: tuple[str, ...]) -> list[int]:
        return [number[word] for word in reversed(gram)]

    levels = [sorted(some, key=reverse) for some in sizes]

    def first_longer(level: int, place: int) -> int:
        """Where the n-grams begin that are longer by a word than the one at this place."""
        if place == len(levels[level]):
            return counts[level + 1]
        mine = reverse(levels[level][place])
        return sum(reverse(gram)[: level + 1] < mine for gram in levels[level + 1])

    tables = [[sorted({grams[gram][kind] for gram in some}) for kind in (0, 1)] for some in levels]
    if quantized:
        body += struct.pack("<8B", 2, quantized, quantized, 0, 0, 0, 0, 0)
        for level in range(1, len(levels)):
            for kind in (0, 1) if level < len(levels) - 1 else (0,):
                values = [*tables[level][kind], *[0.0] * (1 << quantized)][: 1 << quantized]
                body += struct.pack(f"<{len(values)}f", *values)
    for place, gram in enumerate(sorted(sizes[0], key=reverse)):
        body += struct.pack("<ffQ", *grams[gram], first_longer(0, place))
    body += struct.pack("<ffQ", 0, 0, counts[1]) + bytes(16)
    start = len(header(0, counts))
    for level in range(1, len(levels)):
        body += _level(levels, level, grams, number, tables[level], quantized, array, first_longer, start + len(body))
    kind = 2 + (quantized > 0) + 2 * (array is not None)
    path.write_bytes(header(kind, counts) + body)
    return str(path)


def _level(levels, level, grams, number, tables, quantized, array, first_longer, at) -> bytes:  # type: ignore[no-untyped-def]
    entries, longest = len(levels[level]), level == len(levels) - 1
    pointer_bits, head = 0, b""
    if not longest:
        most = len(levels[level + 1])
        pointer_bits = most.bit_length()
        if array is not None:
            costs = [
                (most >> (pointer_bits - chop)) * 64 - (entries + 1) * chop
                for chop in range(min(pointer_bits, array) + 1)
            ]
            pointer_bits -= costs.index(min(costs))
            nexts = [first_longer(level, place) >> pointer_bits for place in range(entries + 1)]
            uppers = [next(i for i, upper in enumerate(nexts) if upper >= value) for value in range(nexts[-1] + 1)]
            assert len(uppers) == (most >> pointer_bits) + 1
            skipped = -at % 8  # the numbers lie at multiples of 8
            head = struct.pack("<BB6x", 0, array) + bytes(skipped) + struct.pack(f"<{len(uppers)}Q", *uppers)
            head += bytes(7 - skipped)
    bits = Bits()
    word_bits = len(levels[0]).bit_length()
    for place, gram in enumerate(levels[level]):
        bits.add(number[gram[0]], word_bits)
        probability, backoff = grams[gram]
        if quantized:
            if not longest:
                bits.add(tables[1].index(backoff), quantized)
            bits.add(tables[0].index(probability), quantized)
        else:
            bits.add(whole(probability, 31), 31)
            if not longest:
                bits.add(whole(backoff, 32), 32)
        if not longest:
            bits.add(first_longer(level, place) & ((1 << pointer_bits) - 1), pointer_bits)
    total = word_bits + (quantized or 31) + (0 if longest else (quantized or 32) + pointer_bits)
    if not longest:
        bits.add(0, total - pointer_bits)
        bits.add(first_longer(level, entries) & ((1 << pointer_bits) - 1), pointer_bits)
    return head + bits.padded(((1 + entries) * total + 7) // 8 + 8)
