"""The second look: what the first model said of a block's surroundings, and which blocks are taken."""

import numpy as np
from numpy.typing import NDArray

from stages.extraction.blocks.features import running, shift, window
from stages.extraction.blocks.page import Floats, Page
from stages.extraction.blocks.tags import Ints, Mask

HALF_WORD = 0.5  # so that blocks without a word count a little
# Of the F-measure (van Rijsbergen 1979, chapter 7). Blocks err together, so that the same F1 comes of asking for a
# little more precision than the probabilities would.
BETA = {"precision": 0.5, "none": 0.7, "recall": 1.6}
BESIDE, NEAR, BOXES = (-3, -2, -1, 1, 2, 3), (2, 6, 20), 6  # blocks, blocks, elements around
NAMES = [
    "first",
    "first_before",
    "first_share",
    "first_alike",
    "first_alike_share",
    *(f"first_box{level}" for level in range(BOXES)),
    *(f"first_box_share{level}" for level in range(BOXES)),
    *(f"first_near{radius}" for radius in NEAR),
    "first_page",
    "first_total",
    "first_most",
    "first_f",
    *(f"first{by:+d}" for by in BESIDE),
]


def surroundings(page: Page, group: Ints, first: Floats) -> NDArray[np.float32]:
    """Features made of the first probabilities, (NAMES, blocks); `group` numbers the blocks that look alike."""
    weight = page.words + HALF_WORD
    sums = running(np.array([first * weight, weight]))
    likely, weights = sums
    total = max(float(likely[-1]), 1e-6)
    inside, held = sums[:, page.elements.last] - sums[:, page.elements.first]
    boxes = page.above[:BOXES]
    together, alike = np.bincount(group, first * weight), np.bincount(group, weight)
    matrix = np.empty((len(NAMES), page.count), np.float32)
    matrix[: -len(BESIDE)] = [
        first,
        likely[:-1] / total,
        first * weight / total,
        (together / alike)[group],
        together[group] / total,
        *(inside / np.maximum(held, HALF_WORD))[boxes],
        *(inside / total)[boxes],
        *(np.divide(*window(sums, radius)) for radius in NEAR),
        *(
            np.full(page.count, value)
            for value in (
                likely[-1] / weights[-1],
                likely[-1],
                first.max(),
                choose(first, page.words)[1],
            )
        ),
    ]
    shift(matrix[-len(BESIDE) :], first, BESIDE, -0.1)
    return matrix


def choose(probability: Floats, words: Floats, beta: float = 1.0) -> tuple[Mask, float]:
    """The blocks whose text is expected to score the highest F-measure, and that score.

    Sorted by probability the best choice is a beginning (Lewis 1995, "Evaluating and optimizing autonomous text
    classification systems", section 5), so each beginning is tried at once.
    """
    order = np.argsort(-probability, kind="stable")
    hits, taken = np.cumsum((probability * words)[order]), np.cumsum(words[order])
    square = beta * beta
    score = (1 + square) * hits / (taken + square * hits[-1] + 1e-9)
    best = int(np.argmax(score))
    chosen = np.zeros(len(order), bool)
    chosen[order[: best + 1]] = True
    return chosen, float(score[best])
