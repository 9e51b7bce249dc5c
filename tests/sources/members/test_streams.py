"""What records that follow each other cost whose lengths lie: bytes copied, in proportion to the file."""

import pytest

from curate.sources.members.arc_stream import arc_records
from curate.sources.members.warc_stream import stream_records
from curate.sources.members.window import MemoryBytes, Window


class Counted(Window):
    """A window that counts the bytes it hands out."""

    copied = 0

    def take(self, offset: int, length: int) -> bytes:
        data = super().take(offset, length)
        self.copied += len(data)
        return data


LIE = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: x\r\nWARC-Block-Digest: sha1:A\r\nContent-Length: %d\r\n\r\n"


@pytest.mark.parametrize("unit", [LIE % 50_000_000, LIE % 100_000, b"WARC/1.0\nx", b"WARC/1.0\r\n\r\n"])
def test_lengths_that_lie_and_marks_without_end_cost_no_more_than_they_are_many(unit: bytes) -> None:
    costs = []
    for times in (4_000, 16_000):
        window = Counted(MemoryBytes(unit * times))
        list(stream_records(window, 0, 64 << 20))
        costs.append(window.copied)
    assert costs[1] < 5 * costs[0]


@pytest.mark.parametrize("length", [5_000_000, 20_000])
def test_an_arc_whose_lengths_lie_costs_no_more_than_it_is_long(length: int) -> None:
    costs = []
    for times in (4_000, 16_000):
        window = Counted(MemoryBytes(b"http://a/ 1.1.1.1 20050101000000 text/html %d\n" % length * times))
        list(arc_records(window, 0, 64 << 20))
        costs.append(window.copied)
    assert costs[1] < 5 * costs[0]
