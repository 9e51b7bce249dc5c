"""Documents into sequences: as they are, cut from one stream, or fitted into rows so that few are cut."""

from bisect import bisect_left, insort
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


class Packed(NamedTuple):
    """Sequences, and where each piece of a document lies in them."""

    tokens: npt.NDArray[Any]
    ends: I64  # of the sequences
    document: I64  # of each piece, in the order of the pieces
    starts: I64  # of each piece in `tokens`
    stops: I64
    padded: int  # tokens that fill rows


def as_documents(tokens: npt.NDArray[Any], ends: I64) -> Packed:
    """Each document is a sequence."""
    starts = np.concatenate([[0], ends])[:-1]
    return Packed(tokens, ends, np.arange(len(ends)), starts, ends, 0)


def concatenated(tokens: npt.NDArray[Any], ends: I64, length: int, pad: int) -> Packed:
    """Rows of `length` cut from the stream of documents; the last is filled up."""
    rows = -(-len(tokens) // length)
    padded = rows * length - len(tokens)
    filled = np.concatenate([tokens, np.full(padded, pad, tokens.dtype)])
    return as_documents(tokens, ends)._replace(tokens=filled, ends=np.arange(1, rows + 1) * length, padded=padded)


def best_fit(tokens: npt.NDArray[Any], ends: I64, length: int, pad: int) -> Packed:
    """Rows of `length` that cut no document which fits into one: best-fit-decreasing bin packing.

    Longer documents are cut into rows and a rest first, as in Ding et al. 2024, "Fewer Truncations Improve Language
    Modeling", section 3.2. Rows are in the order of their first piece, so that a shuffle stays one.
    """
    document, starts, stops = _pieces(ends, length)
    row_of = _rows(stops - starts, length)
    order = np.argsort(row_of, kind="stable")
    document, starts, stops, row_of = document[order], starts[order], stops[order], row_of[order]
    rows = int(row_of[-1]) + 1 if len(row_of) else 0
    sizes = stops - starts
    before = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    first = np.searchsorted(row_of, row_of)
    at = row_of * length + before - before[first]
    packed = np.full(rows * length, pad, tokens.dtype)
    for start, stop, to in zip(starts.tolist(), stops.tolist(), at.tolist()):
        packed[to : to + stop - start] = tokens[start:stop]
    return Packed(packed, np.arange(1, rows + 1) * length, document, at, at + sizes, rows * length - int(sizes.sum()))


def _pieces(ends: I64, length: int) -> tuple[I64, I64, I64]:
    """Documents cut to at most `length`: whose each piece is, where it starts and stops in the stream."""
    begins = np.concatenate([[0], ends])[:-1]
    count = np.maximum(1, -(-(ends - begins) // length))
    document = np.repeat(np.arange(len(ends)), count)
    place = np.arange(len(document)) - np.repeat(np.cumsum(count) - count, count)
    starts = begins[document] + place * length
    return document, starts, np.minimum(starts + length, ends[document])


def _rows(sizes: I64, length: int) -> I64:
    """The row of each piece: longest first, each into the row with the least room that holds it."""
    rooms: list[int] = []  # different rooms that rows have left, ascending
    waiting: dict[int, list[int]] = {}  # rows by their room
    row_of = np.empty(len(sizes), np.int64)
    opened = 0
    for piece in np.argsort(-sizes, kind="stable").tolist():
        size = int(sizes[piece])
        place = bisect_left(rooms, size)
        if place < len(rooms):
            room = rooms[place]
            row = waiting[room].pop()
            if not waiting[room]:
                del waiting[room], rooms[place]
        else:
            row, room, opened = opened, length, opened + 1
        row_of[piece] = row
        if room > size:
            if room - size not in waiting:
                waiting[room - size] = []
                insort(rooms, room - size)
            waiting[room - size].append(row)
    _, first, row_of = np.unique(row_of, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    ordered: I64 = rank[row_of]
    return ordered
