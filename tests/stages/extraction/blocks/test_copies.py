"""What a page holds twice stands once in its text, and what it says twice stays."""

import numpy as np

from stages.extraction.blocks.copies import copies
from stages.extraction.blocks.layout import text
from stages.extraction.blocks.page import page
from stages.extraction.blocks.stream import stream

PARAGRAPHS = [" ".join(f"{name}{number}" for number in range(24)) for name in ("river", "meadow", "village", "mill")]


def found(*lines: str) -> set[int]:
    return copies(lines, [float(len(line.split())) for line in lines])


def test_a_long_line_that_comes_again_is_a_copy() -> None:
    first, second, *_ = PARAGRAPHS
    assert found(first, second, first, first) == {2, 3}
    assert found(first, second) == set()


def test_a_refrain_is_none() -> None:
    refrain = " ".join(PARAGRAPHS[0].split()[:19])
    assert found(refrain, PARAGRAPHS[1], refrain) == set()


def test_a_large_line_made_of_others_is_a_copy_on_either_side() -> None:
    large = " ".join(PARAGRAPHS)
    assert found(*PARAGRAPHS, large) == {4}
    assert found(large, *PARAGRAPHS) == {0}
    assert found(*PARAGRAPHS, large, large) == {4, 5}


def test_a_large_line_that_others_say_in_part_stays() -> None:
    assert found(*PARAGRAPHS[:2], " ".join(PARAGRAPHS)) == set()
    assert found(" ".join(PARAGRAPHS)) == set()


def test_the_text_of_a_page_is_without_them() -> None:
    first, second, *_ = PARAGRAPHS
    made = page(stream(f"<body><p>{first}<p>{second}<div>{first}</div><table><tr><td>{second}</table></body>".encode()))
    assert made is not None
    every = np.ones(made.count, bool)
    assert text(made, every) == f"{first}\n\n{second}"
    made = page(stream(f"<body><table><tr><td>{first}</table><p>{first}</body>".encode()))
    assert made is not None
    assert text(made, np.ones(made.count, bool), tables=False) == first  # a row left out takes no other along
