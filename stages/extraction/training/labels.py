"""Which blocks of a page stand in its labelled text: the share of each block's words, by runs of words in order."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from stages.extraction.blocks.page import Floats

WORD = re.compile(r"\w+")
RUN = 4  # words of a run; a block with fewer must stand between its neighbours' places
SLACK = 5  # words by which such a place may be off
Index = dict[tuple[str, ...], list[int]]


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.lower())


def labels(blocks: Sequence[Sequence[str]], truth: Sequence[str]) -> Floats:
    """Of each block, given as words, the share that the truth holds."""
    index: Index = defaultdict(list)
    for at in range(len(truth)):
        for size in range(1, min(RUN, len(truth) - at) + 1):
            index[tuple(truth[at : at + size])].append(at)
    shares, places = np.zeros(len(blocks)), np.full(len(blocks), -1)
    for number, block in enumerate(blocks):
        if len(block) >= RUN:
            shares[number], places[number] = _covered(block, index)
    anchors = _rising([(int(places[number]), int(number)) for number in np.flatnonzero(places >= 0)])
    before, after = _bounds(places, anchors)
    for number, block in enumerate(blocks):
        if 0 < len(block) < RUN and tuple(block) in index:
            low, high = before[number], after[number]
            if not anchors:
                shares[number] = 0.5
            elif low < 0:
                shares[number] = any(place < high for place in index[tuple(block)])
            elif high == np.inf:
                shares[number] = any(place > low for place in index[tuple(block)])
            else:
                shares[number] = any(low - SLACK <= place <= high + SLACK for place in index[tuple(block)])
    return shares


def _covered(block: Sequence[str], index: Index) -> tuple[float, int]:
    """The share of a block's words in runs of the truth, and where in it, -1 where that is not clear."""
    covered = np.zeros(len(block), bool)
    places: list[int] = []
    for at in range(len(block) - RUN + 1):
        found = index.get(tuple(block[at : at + RUN]))
        if found:
            covered[at : at + RUN] = True
            places += found if len(found) <= 3 else []
    share = float(covered.mean())
    return share, int(np.median(places)) if places and share > 0.5 else -1


def _rising(places: list[tuple[int, int]]) -> set[int]:
    """Numbers of the longest chain of blocks whose places rise (patience sorting)."""
    tails: list[int] = []
    numbers: list[int] = []
    previous: dict[int, int | None] = {}
    for place, number in places:
        pile = bisect_right(tails, place)
        previous[number] = numbers[pile - 1] if pile else None
        tails[pile : pile + 1] = [place]
        numbers[pile : pile + 1] = [number]
    chain: set[int] = set()
    last = numbers[-1] if numbers else None
    while last is not None:
        chain.add(last)
        last = previous[last]
    return chain


def _bounds(places: np.ndarray, anchors: set[int]) -> tuple[list[float], list[float]]:
    """For each block the places of the nearest anchors before and after it; -1 and infinity where there are none."""
    before, after = [-1.0] * len(places), [float("inf")] * len(places)
    last = -1.0
    for number in range(len(places)):
        before[number] = last
        last = float(places[number]) if number in anchors else last
    following = float("inf")
    for number in reversed(range(len(places))):
        after[number] = following
        following = float(places[number]) if number in anchors else following
    return before, after
