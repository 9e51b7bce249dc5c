"""The second look: what the first model said of a block's surroundings, and which blocks are taken."""

import numpy as np

from stages.extraction.blocks.features import Features, running, shifted, window
from stages.extraction.blocks.page import Floats, Page
from stages.extraction.blocks.stream import Ints, Mask

HALF_WORD = 0.5  # so that blocks without a word count a little
# Of the F-measure (van Rijsbergen 1979, chapter 7). Blocks err together, so that the same F1 comes of asking for a
# little more precision than the probabilities would.
BETA = {"precision": 0.5, "none": 0.8, "recall": 1.6}


def surroundings(page: Page, group: Ints, first: Floats) -> Features:
    """Features made of the first probabilities; `group` numbers the blocks that look alike."""
    weight = page.words + HALF_WORD
    likely = running(first * weight)
    weights = running(weight)
    total = max(float(likely[-1]), 1e-6)
    told: Features = {"first": first}
    told |= {f"first{by:+d}": shifted(first, by, -0.1) for by in (-3, -2, -1, 1, 2, 3)}
    told |= {f"first_near{radius}": window(likely, radius) / window(weights, radius) for radius in (2, 6, 20)}
    told["first_before"], told["first_share"] = likely[:-1] / total, first * weight / total
    begin, end = page.elements.first, page.elements.last
    inside = likely[end] - likely[begin]
    density = inside / np.maximum(weights[end] - weights[begin], HALF_WORD)
    for level in range(6):
        told[f"first_box{level}"] = density[page.above[:, level]]
        told[f"first_box_share{level}"] = inside[page.above[:, level]] / total
    together = np.bincount(group, first * weight)
    told["first_alike"] = (together / np.bincount(group, weight))[group]
    told["first_alike_share"] = together[group] / total
    told["first_page"], told["first_total"] = float(likely[-1] / weights[-1]), float(likely[-1])
    told["first_most"], told["first_f"] = float(first.max()), choose(first, page.words)[1]
    return told


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
