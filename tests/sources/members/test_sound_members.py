"""Lines of damaged compressed files: what a flipped bit makes of a member is never taken for a line of the file."""

import bz2
import gzip
import json
import lzma
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from curate.sources.members import sound_members
from curate.sources.reader import Span
from tests.engine import text
from tests.sources.test_jsonl import put, read

LINES = [json.dumps({"text": f"{number} {text(number, 60)}"}).encode() + b"\n" for number in range(120)]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def packed(name: str, each: int, cut_anywhere: bool = False) -> list[bytes]:
    """Members of `each` lines, or of as many bytes as those have on average."""
    data = b"".join(LINES)
    size = len(data) * each // len(LINES)
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    whole = [b"".join(LINES[at : at + each]) for at in range(0, len(LINES), each)]
    return [PACK[name](part) for part in (parts if cut_anywhere else whole)]


def came(spans: list[Span]) -> list[str]:
    return [span.document.text for span in spans if span.document and not span.drop]


@pytest.mark.parametrize("cut_anywhere", [False, True])
@pytest.mark.parametrize("name", PACK)
def test_a_flip_costs_its_member_and_nothing_comes_out_changed(name: str, cut_anywhere: bool, tmp_path: Path) -> None:
    members = packed(name, 10, cut_anywhere)
    data = b"".join(members)
    texts = [json.loads(line)["text"] for line in LINES]
    rng = random.Random(5)
    for _ in range(40):
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        flipped = bytearray(data)
        flipped[at] ^= 1 << bit
        spans = read(put(tmp_path, f"a.jsonl.{name}", bytes(flipped)))
        found = came(spans)
        assert set(found) <= set(texts) and found == sorted(found, key=texts.index), (at, bit)
        assert len(found) >= len(texts) - 12, (at, bit)
        assert len(found) == len(texts) or any(span.type == "damaged" for span in spans), (at, bit)
        position = 0
        for span in spans:
            assert span.offset == position
            position += span.length


def test_lines_behind_a_damaged_member_keep_their_addresses(tmp_path: Path) -> None:
    members = packed("gz", 10)
    whole = read(put(tmp_path, "a.jsonl.gz", b"".join(members)))
    middle = bytearray(members[3])
    middle[len(middle) // 2] ^= 4
    spans = read(put(tmp_path, "a.jsonl.gz", b"".join([*members[:3], bytes(middle), *members[4:]])))
    assert [span.offset for span in spans] == [span.offset for span in (*whole[:31], *whole[40:])]
    assert spans[30].type == "damaged" and spans[30].length == sum(map(len, LINES[30:40]))


def test_of_a_large_member_all_long_before_the_fault_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_members, "HELD_BYTES", 4000)
    data = zlib.compressobj(6, zlib.DEFLATED, 31)
    stream = b"".join(data.compress(line) + data.flush(zlib.Z_FULL_FLUSH) for line in LINES) + data.flush()
    texts = [json.loads(line)["text"] for line in LINES]
    for at in range(len(stream) // 2, len(stream) // 2 + 300, 7):
        flipped = bytearray(stream)
        flipped[at] ^= 0x10
        spans = read(put(tmp_path, "a.jsonl.gz", bytes(flipped)))
        found = came(spans)
        assert found == texts[: len(found)], at
        cause = spans[-1].drop.cause if spans[-1].drop else ""
        assert len(found) >= 45 or cause == "incorrect data check", (at, cause)


def test_a_cut_file_gives_all_that_came_before_the_cut(tmp_path: Path) -> None:
    data = packed("gz", len(LINES))[0]
    spans = read(put(tmp_path, "a.jsonl.gz", data[: len(data) // 2]))
    inflated = zlib.decompressobj(31).decompress(data[: len(data) // 2])
    assert came(spans) == [json.loads(line)["text"] for line in LINES[: inflated.count(b"\n")]]
