"""Names of tags are read from eight bytes."""

import numpy as np
import pytest

from stages.extraction.blocks.tags import NUMBER, TAGS, numbered


def number(written: bytes) -> int:
    return int(numbered(np.frombuffer(written.ljust(8, b"\0")[:8], "<u8"))[0])


@pytest.mark.parametrize("end", [b" ", b">", b"/", b"\n", b"\t", b"\r"])
def test_each_of_ours(end: bytes) -> None:
    for name in TAGS[1:]:
        for written in (name, name.upper()):
            assert number(written.encode() + end) == NUMBER[name]


@pytest.mark.parametrize("name", [b"x", b"", b"3", b"h0", b"ab", b"p-x", b"article-x"])
def test_others(name: bytes) -> None:
    assert number(name + b" ") == 0
