"""The longest row of repeats in a text: `ha ha ha`, `buy now buy now buy now`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LONGEST_PERIOD = 13  # words; as OLMo 2 looks for them (OLMo et al. 2024, section 3.1), in tokens


def repeats_in_a_row(words: Sequence[str], longest_period: int = LONGEST_PERIOD) -> int:
    """How often some run of 1 to 13 words stands directly behind itself, the first counted; 0 of no words."""
    total = len(words)
    number = dict(zip(words, range(total)))
    if len(number) == total:
        return min(total, 1)
    ids = np.fromiter(map(number.__getitem__, words), np.int64, total)
    most = 1
    for period in range(1, _longest_period(ids, min(longest_period, total - 1)) + 1):
        breaks = np.flatnonzero(ids[period:] != ids[:-period])
        equal = np.diff(breaks, prepend=-1, append=total - period).max() - 1  # words that repeat those before them
        most = max(most, int(equal) // period + 1)
    return most


def _longest_period(ids: NDArray[np.int64], most: int) -> int:
    """A bound on the periods to look at: as many words in a row as have stood before no further back than `most`."""
    order = ids.argsort(kind="stable")
    again = ids[order[1:]] == ids[order[:-1]]
    near = np.zeros(len(ids) + 2, np.int8)
    near[order[1:][again & (order[1:] - order[:-1] <= most)] + 1] = 1
    edges = np.flatnonzero(np.diff(near))
    return min(most, int((edges[1::2] - edges[::2]).max(initial=0)))
