"""Members of which nothing is used before they have proved whole: a codec around another one.

What a flipped bit makes of a deflate stream may look like text until the CRC at its end is met, so a member is inflated
to its end first. Small ones are held; larger ones are inflated again when they are used.

Where inflating fails on the way, the flip lies in the block that failed or the one before it: what was inflated longer
ago is sound. Where only the CRC is wrong, it can lie anywhere, and nothing of the member is used.
"""

from collections.abc import Iterator

from curate.sources.members.gzip_members import Member
from curate.sources.members.member_chain import Codec, next_start
from curate.sources.members.window import Window

HELD_BYTES = 8 << 20  # more than two deflate blocks hold: 32,767 symbols each, of some bytes
ANYWHERE = ("incorrect data check", "incorrect length check")  # what zlib says of CRC and length
CUT = "the file ends inside this "
# What BGZF (bgzip) ends a file with: an empty member. Its own length stands where a trailer's would.
EMPTY_MEMBER = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
NEAR = 1 << 20  # a wrongly read end of a member misses its true length by less
DENSEST = 1032  # bytes that one of deflate can stand for


class SoundMembers:
    """A codec whose `stream` gives nothing of a damaged member; of one that the end of the file cuts all before it."""

    def __init__(self, codec: Codec) -> None:
        self.plain = codec
        self.window: Window = codec.window
        self.magic, self.name = codec.magic, codec.name
        self.longest_stored, self.checked = codec.longest_stored, codec.checked
        self.starts, self.member = codec.starts, codec.member

    def stream(self, offset: int) -> Iterator[tuple[bytes, int, str]]:
        """As the codec's own, after the member at `offset` was inflated to its end."""
        member = self.plain.member(offset, HELD_BYTES)
        if member.too_large or (member.fault.startswith(CUT) and self._is_cut(member)):
            yield from self.plain.stream(offset)
        elif member.fault:
            yield from self._first(member, self._sound(member))
            yield b"", member.end, member.fault
        else:
            yield member.data, member.end, ""

    def _sound(self, member: Member) -> int:
        """How many of the bytes that a damaged member gave are sound."""
        if self.name == "zstd":  # fails in the very block, and gives nothing of it
            return 0 if "checksum" in member.fault else member.size
        if self.name == "xz" or member.fault in ANYWHERE:
            return 0
        return sum(len(data) for data, _, _ in self.plain.stream(member.start)) - HELD_BYTES

    def _first(self, member: Member, sound: int) -> Iterator[tuple[bytes, int, str]]:
        stream = self.plain.stream(member.start)
        while sound > 0:
            data, position, _ = next(stream)
            yield data[:sound], position, ""
            sound -= len(data)

    def after(self, start: int, base: int) -> tuple[int, int]:
        """Where the first sound member behind the damaged one at `start` lies, and the offset that its bytes get.

        `base` is the offset of the damaged one's bytes. A gzip trailer tells their number; else they count as they lie.
        """
        found = next_start(self.plain, start + 1, HELD_BYTES, any_content=True)
        length = int.from_bytes(self.window.take(found - 4, 4), "little") if self.name == "gzip" else 0
        lies = found - start
        return found, base + (length if 0 < length <= DENSEST * lies else lies)

    def _is_cut(self, member: Member) -> bool:
        """Whether the file truly ends early, and not the bit that says where the member ends is wrong."""
        if next_start(self.plain, member.start + 1, HELD_BYTES, any_content=True) < self.window.size:
            return False
        tail = self.window.take(max(0, self.window.size - 64), 64).removesuffix(EMPTY_MEMBER)
        if self.name == "gzip":
            missed = (int.from_bytes(tail[-4:], "little") - member.size) & 0xFFFFFFFF
            return min(missed, (1 << 32) - missed) > NEAR
        if self.name == "bz2":  # the mark of the end and a CRC, at any bit
            bits = int.from_bytes(tail[-12:], "big")
            return all(bits >> shift & 0xFFFFFFFFFFFF != 0x177245385090 for shift in range(32, 41))
        return not (self.name == "xz" and tail.endswith(b"YZ"))
