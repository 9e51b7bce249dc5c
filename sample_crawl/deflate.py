"""Compressed formats written out by hand, so that the same input gives the same bytes on every machine.

zlib and its replacements choose other matches from version to version; a crawl that is built twice and
compared byte for byte can't depend on that. DEFLATE here uses fixed Huffman codes (RFC 1951, section 3.2.6);
Brotli and Zstandard bodies are stored, not compressed (RFC 7932, section 9.2; RFC 8878, section 3.1.1.2.2).
"""

import struct
import zlib

_MIN_MATCH, _MAX_MATCH, _WINDOW, _CHAIN = 4, 258, 32768, 16


def _length_code(length: int) -> tuple[int, int, int]:
    """Symbol, extra bits and their value for a match length of 3 to 258."""
    if length == _MAX_MATCH:
        return 285, 0, 0
    if length < 11:
        return 254 + length, 0, 0
    extra = (length - 3).bit_length() - 3
    group = (length - 3) >> extra
    return 257 + 4 * extra + group, extra, (length - 3) & ((1 << extra) - 1)


def _distance_code(distance: int) -> tuple[int, int, int]:
    """Symbol, extra bits and their value for a distance of 1 to 32,768."""
    if distance < 5:
        return distance - 1, 0, 0
    extra = (distance - 1).bit_length() - 2
    group = (distance - 1) >> extra
    return 2 * extra + group, extra, (distance - 1) & ((1 << extra) - 1)


def _huffman(symbol: int) -> tuple[int, int]:
    """The fixed code of a literal or length symbol, most significant bit first, and its width in bits."""
    if symbol < 144:
        return 0x30 + symbol, 8
    if symbol < 256:
        return 0x190 + symbol - 144, 9
    if symbol < 280:
        return symbol - 256, 7
    return 0xC0 + symbol - 280, 8


def _reversed(code: int, width: int) -> int:
    return int(format(code, f"0{width}b")[::-1], 2)


_LITERALS = [(_reversed(*_huffman(symbol)), _huffman(symbol)[1]) for symbol in range(288)]
_DISTANCES = [_reversed(symbol, 5) for symbol in range(30)]


class _Bits:
    """Collects bits, least significant first."""

    def __init__(self) -> None:
        self.value, self.width, self.out = 0, 0, bytearray()

    def add(self, value: int, width: int) -> None:
        self.value |= value << self.width
        self.width += width
        while self.width >= 8:
            self.out.append(self.value & 255)
            self.value >>= 8
            self.width -= 8

    def whole(self) -> bytes:
        if self.width:
            self.add(0, 8 - self.width)
        return bytes(self.out)


def _longest_match(data: bytes, at: int, candidates: list[int]) -> tuple[int, int]:
    """Length and distance of the best earlier occurrence; the nearest wins a tie."""
    best, distance = 0, 0
    limit = min(_MAX_MATCH, len(data) - at)
    for start in reversed(candidates):
        if at - start > _WINDOW:
            break
        length = 0
        while length < limit and data[start + length] == data[at + length]:
            length += 1
        if length > best:
            best, distance = length, at - start
    return best, distance


def deflate(data: bytes) -> bytes:
    """One final DEFLATE block with fixed Huffman codes and greedy matches."""
    bits, seen, at = _Bits(), dict[bytes, list[int]](), 0
    bits.add(0b011, 3)  # BFINAL = 1, BTYPE = 01
    while at < len(data):
        candidates = seen.get(data[at : at + _MIN_MATCH], [])
        length, distance = _longest_match(data, at, candidates)
        if length < _MIN_MATCH:
            length = 1
            bits.add(*_LITERALS[data[at]])
        else:
            symbol, extra, value = _length_code(length)
            bits.add(*_LITERALS[symbol])
            bits.add(value, extra)
            symbol, extra, value = _distance_code(distance)
            bits.add(_DISTANCES[symbol], 5)
            bits.add(value, extra)
        for position in range(at, at + length):
            chain = seen.setdefault(data[position : position + _MIN_MATCH], [])
            chain.append(position)
            del chain[:-_CHAIN]
        at += length
    bits.add(*_LITERALS[256])
    return bits.whole()


def gzip_member(data: bytes) -> bytes:
    """One gzip member (RFC 1952): no name, modification time 0, system unknown."""
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    return head + deflate(data) + struct.pack("<II", zlib.crc32(data), len(data))


def zlib_stream(data: bytes) -> bytes:
    """What `Content-Encoding: deflate` should mean (RFC 1950)."""
    return b"\x78\x01" + deflate(data) + struct.pack(">I", zlib.adler32(data))


def brotli_stored(data: bytes) -> bytes:
    """A Brotli stream with uncompressed meta-blocks and a 64 KiB window."""
    bits = _Bits()
    bits.add(0, 1)  # WBITS = 16
    for start in range(0, len(data), 65536):
        block = data[start : start + 65536]
        bits.add(0, 1)  # not the last
        bits.add(0, 2)  # length in four nibbles
        bits.add(len(block) - 1, 16)
        bits.add(1, 1)  # uncompressed
        bits.whole()
        bits.out += block
    bits.add(0b11, 2)  # last, and empty
    return bits.whole()


def zstd_stored(data: bytes) -> bytes:
    """A Zstandard frame of one raw block; `data` below 128 KiB."""
    frame = b"\x28\xb5\x2f\xfd" + b"\xa0" + struct.pack("<I", len(data))  # single segment, size in four bytes
    return frame + (len(data) << 3 | 1).to_bytes(3, "little") + data
