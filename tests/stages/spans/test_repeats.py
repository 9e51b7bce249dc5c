"""Which occurrences go, held to a dictionary."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.spans.repeats import MaxCount, carried, repeats

Occurrence = tuple[int, int, int, int]  # document, place, key, check


def plain(found: list[Occurrence], keep: Any) -> list[tuple[int, int, int]]:
    """(document, place, match) of what goes: what `keep` says, one unit at a time."""
    holders: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for document, place, key, check in found:
        holders.setdefault((key, check), []).append((document, place))
    gone = []
    for same in holders.values():
        if isinstance(keep, MaxCount):
            cut = same if len(same) > keep.max_count else []
        else:
            cut = same[1:] if keep == "first" else same if len(same) > 1 else []
        gone += [(*one, (same[0] if one != same[0] else same[min(1, len(same) - 1)])[0]) for one in cut]
    return sorted(gone)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=40),
    st.sampled_from(["first", "none", MaxCount(1), MaxCount(3)]),
    st.integers(1, 5),
)
def test_what_goes_is_what_a_dictionary_says(units: list[tuple[int, int]], keep: Any, each: int) -> None:
    """Keys that collide while their checks differ are among them."""
    found = [(n // each, n % each, key, check) for n, (key, check) in enumerate(units)]
    documents, places, keys, checks = (np.array([row[i] for row in found], np.uint64) for i in range(4))
    got = repeats(keys, documents.astype(np.int64), carried(checks, places), keep)
    assert sorted(zip(*(part.tolist() for part in got))) == plain(found, keep)


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        MaxCount(0)
