"""Which occurrences of repeated units (lines, windows of words) go: all but the first, or all.

An occurrence is a 64-bit key, the document that holds it and a carried value: 32 bits that confirm the key above 32
bits that tell its place in the document. Two units are one where all 96 bits agree: among 10^12 units some two differ
and agree with a chance of 6 in a million.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

PLACE_BITS = np.uint64(32)
PLACES = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class MaxCount:
    """Units that occur more than `max_count` times go, every copy; the others stay, every copy."""

    max_count: int

    def __post_init__(self) -> None:
        if self.max_count < 1:
            raise ValueError(f"max_count must be at least 1, not {self.max_count}")


Keep = Literal["first", "none"] | MaxCount


class Repeats(NamedTuple):
    """Occurrences to cut: document, place in it, and a document that holds the same."""

    documents: I64
    places: I64
    matched: I64


def carried(checks: U64, places: npt.NDArray[Any]) -> U64:
    """The low 32 bits of `checks` above those of `places`."""
    packed: U64 = (checks << PLACE_BITS) | (places.astype(np.uint64) & PLACES)
    return packed


def repeats(keys: U64, documents: npt.NDArray[Any], values: U64, keep: Keep) -> Repeats:
    """The occurrences to cut among some, which must hold every occurrence of their keys.

    Occurrences come in the order of documents, and within a document of places; the first one is the smallest. The
    match of a cut one is the first, that of the first the second.
    """
    order = np.argsort(keys, kind="stable")
    keys, checks = keys[order], values[order] >> PLACE_BITS
    if (mixed := (keys[1:] == keys[:-1]) & (checks[1:] != checks[:-1])).any():
        again = np.lexsort((checks, keys))  # stable, too
        order, keys, checks = order[again], keys[again], checks[again]
        mixed = (keys[1:] == keys[:-1]) & (checks[1:] != checks[:-1])
    new = np.ones(len(keys), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | mixed
    starts = np.flatnonzero(new)
    sizes = np.diff(np.append(starts, len(keys)))
    first = np.repeat(starts, sizes)
    rest = np.arange(len(keys)) != first
    if isinstance(keep, MaxCount):
        cut = np.repeat(sizes > keep.max_count, sizes)
    else:
        cut = rest if keep == "first" else np.repeat(sizes > 1, sizes)
    places = np.flatnonzero(cut)
    twin = np.where(rest[places], first[places], np.minimum(places + 1, len(keys) - 1))
    holders = documents[order].astype(np.int64)
    return Repeats(holders[places], (values[order][places] & PLACES).astype(np.int64), holders[twin])
