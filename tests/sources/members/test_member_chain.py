"""The finder of true starts, against files whose starts are known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.sources.members.gzip_members import GzipMembers
from curate.sources.members.member_chain import Codec, next_start
from curate.sources.members.window import MemoryBytes, Window
from curate.sources.members.zstd_frames import ZstdFrames
from tests.sources.warc_bytes import frame, http, member, record, response, stored_member

CAP = 1 << 24
JUNK = st.one_of(
    st.binary(max_size=80),
    st.just(b"\x1f\x8b\x08\0\0\0\0\0"),
    st.just(b"\x28\xb5\x2f\xfd\0\0"),
    st.just(member(b"a member that holds no record")),
    st.just(member(b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99\r\n\r\nshort")),
    st.just(response(7)),
    st.just(bytes(50)),
)
PACKS = {"gzip": (member, GzipMembers), "stored": (stored_member, GzipMembers), "zstd": (frame, ZstdFrames)}


def codec_on(data: bytes, kind: type, block_bytes: int = 1 << 20) -> Codec:
    found: Codec = kind(Window(MemoryBytes(data), block_bytes))
    return found


@pytest.mark.parametrize("name", PACKS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_next_start_is_found_from_everywhere(name: str, data: st.DataObject) -> None:
    pack, kind = PACKS[name]
    junk = data.draw(st.lists(JUNK, min_size=2, max_size=5))
    starts: list[int] = []
    whole = b""
    for number, piece in enumerate(junk):
        whole += piece
        starts.append(len(whole))
        whole += pack(response(number, 30))
    codec = codec_on(whole, kind, data.draw(st.sampled_from([64, 1000, 1 << 20])))
    offset = data.draw(st.integers(0, len(whole)))
    expected = min((start for start in starts if start >= offset), default=len(whole))
    assert next_start(codec, offset, CAP) == expected


@pytest.mark.parametrize("kind", [GzipMembers, ZstdFrames])
@settings(max_examples=100, deadline=None)
@given(data=st.binary(max_size=300))
def test_no_bytes_break_the_finder(kind: type, data: bytes) -> None:
    data = data.replace(b"\0\1", GzipMembers.magic).replace(b"\1\0", ZstdFrames.magic)
    assert next_start(codec_on(data, kind), 0, CAP) == len(data)


@pytest.mark.parametrize("name", PACKS)
def test_members_are_what_was_packed(name: str) -> None:
    pack, kind = PACKS[name]
    for size in (0, 1, 1000, 70_000, 400_000):
        data = bytes(n * n % 251 for n in range(size))
        packed = pack(data)
        found = codec_on(b"xx" + packed + b"yy", kind, 500).member(2, CAP)
        assert (found.start, found.end, found.data, found.size, found.fault) == (2, 2 + len(packed), data, size, "")
        if size > 1000:
            large = codec_on(packed, kind).member(0, 1000)
            assert large.too_large and large.size == size and large.end == len(packed)
            assert data.startswith(large.data) and len(large.data) <= 1 << 16


@pytest.mark.parametrize("block_bytes", [100, 16_383, 65_535])
def test_starts_inside_stored_blocks_are_passed_over(block_bytes: int) -> None:
    inner = b"".join(member(response(1000 + number, 30)) for number in range(60))
    outer = stored_member(record("response", http(inner), "http://a.example/x.warc.gz"), block_bytes)
    true = b"".join(member(response(number, 30)) for number in range(3))
    codec = codec_on(outer + true, GzipMembers)
    for offset in range(1, len(outer), 997):
        found = next_start(codec, offset, CAP)
        assert found == len(outer)
