"""Labels of blocks by the true text of a page."""

import pytest

from stages.extraction.training.labels import labels, words_of

TRUTH = "A title of the page. The first long paragraph says a thing. Yes. The second long paragraph says another thing."


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (["Home", "A title of the page", "The first long paragraph says a thing"], [0, 1, 1]),
        (["The first long paragraph says a thing", "Yes", "The second long paragraph says another thing"], [1, 1, 1]),
        (["The second long paragraph says another thing", "Yes"], [1, 0]),  # the short one stands elsewhere
        (["Nothing of this is in the truth at all", "Share"], [0, 0]),
        (["The first long paragraph and here it goes on otherwise"], [0.4]),
        (["", "Yes"], [0, 0.5]),  # no place to hold on to
    ],
)
def test_labels(blocks: list[str], expected: list[float]) -> None:
    found = labels([words_of(block) for block in blocks], words_of(TRUTH))
    assert found.tolist() == pytest.approx(expected)


def test_no_truth_no_labels() -> None:
    assert labels([["a"], []], []).tolist() == [0, 0]
