"""The window: any stretch at any time, and no more read than the reading asks for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.sources.members.window import Bytes, LocalBytes, MemoryBytes, Window

DATA = bytes(n * n % 251 for n in range(300_000))


class Counted(MemoryBytes):
    """Remembers what was asked for."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.asked: list[tuple[int, int]] = []

    def read_at(self, offset: int, length: int) -> bytes:
        self.asked.append((offset, length))
        return super().read_at(offset, length)


@given(
    st.lists(st.tuples(st.integers(0, 310_000), st.integers(0, 90_000)), max_size=8),
    st.sampled_from([10, 999, 1 << 20]),
)
def test_any_stretches_in_any_order(stretches: list[tuple[int, int]], block_bytes: int) -> None:
    window = Window(MemoryBytes(DATA), block_bytes)
    for offset, length in stretches:
        assert window.take(offset, length) == DATA[offset : offset + length]


@given(st.binary(min_size=1, max_size=4), st.integers(0, 3000), st.sampled_from([5, 64, 1 << 20]))
def test_find_is_find(pattern: bytes, offset: int, block_bytes: int) -> None:
    data = DATA[:2000]
    assert Window(MemoryBytes(data), block_bytes).find(pattern, offset) == data.find(pattern, offset)


def test_a_look_costs_little_and_a_long_reading_few_requests() -> None:
    source = Counted(bytes(50 << 20))
    window = Window(source, 8 << 20)
    window.take(0, 100)
    assert source.asked == [(0, 1 << 16)]
    for offset in range(0, 50 << 20, 1 << 14):
        window.take(offset, 1 << 14)
    assert len(source.asked) < 20 and max(length for _, length in source.asked) == 8 << 20
    source.asked.clear()
    window.take(7, 100)
    assert source.asked == [(7, 1 << 16)]


@pytest.mark.parametrize("kind", ["disk", "memory"])
def test_sources_end_where_the_file_ends(tmp_path: Path, kind: str) -> None:
    (tmp_path / "f").write_bytes(DATA)
    source: Bytes = LocalBytes(str(tmp_path / "f")) if kind == "disk" else MemoryBytes(DATA)
    assert source.size == len(DATA)
    assert source.read_at(len(DATA) - 5, 99) == DATA[-5:] and source.read_at(len(DATA) + 5, 9) == b""
    source.close()
