"""The longest prefix of each group, in the order of the documents' hashes, whose tokens fit: found without a sort."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stages.mixing.pool import Pool, PoolBlock

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

DIGIT = 16  # bits of the hash looked at in one pass


@dataclass
class PrefixEnd:
    """Where the longest prefix that fits ends, for each group; filled in digit by digit."""

    room: I64  # tokens that the prefix may have
    open: npt.NDArray[np.bool_]  # groups of which a part of a pass is taken
    taken: I64  # tokens before `hash`
    hash: U64  # the hash at which the prefix ends, its leading digits so far


@dataclass
class PrefixShare:
    """What is read of each group: whole passes, then a prefix."""

    passes: I64
    cut: PrefixEnd
    at_cut: I64  # tokens met of those whose hash is the cut's; counts on from block to block

    @classmethod
    def of(cls, pool: Pool, wanted: I64) -> "PrefixShare":
        """The share of so many tokens of each group of a pool."""
        tokens = pool.totals[1]
        some = tokens > 0
        passes = np.where(some, wanted // np.maximum(tokens, 1), 1)
        room = np.where(some, wanted % np.maximum(tokens, 1), 0)
        partly = some & ((room > 0) | (passes == 0))
        cut = find(pool, PrefixEnd(room, partly, np.zeros_like(room), np.zeros(len(room), np.uint64)))
        return cls(passes, cut, cut.taken.copy())

    def times(self, block: PoolBlock) -> I64:
        """How often each living document of the next block is read."""
        group = block.group[block.living]
        inside = _inside(self.cut, self.at_cut, group, block.hash[block.living], block.tokens[block.living])
        times: I64 = self.passes[group] + inside
        return times


def find(pool: Pool, cut: PrefixEnd) -> PrefixEnd:
    """The exact end of each open group's longest prefix by hash, DIGIT bits a pass over the documents.

    A pass adds up the tokens of each value of the next digit among the hashes that begin like the cut; the
    digit of the cut is the first at which they outgrow the room.
    """
    groups, values = len(cut.room), 1 << DIGIT
    for shift in range(64 - DIGIT, -1, -DIGIT) if cut.open.any() else ():
        held = np.zeros(groups * values, np.int64)
        for block in pool.blocks():
            group = block.group
            fits = block.living & cut.open[group]
            if shift < 64 - DIGIT:
                above = np.uint64(shift + DIGIT)
                fits &= (block.hash >> above) == (cut.hash[group] >> above)
            digit = (block.hash[fits] >> np.uint64(shift)) & np.uint64(values - 1)
            np.add.at(held, group[fits] * values + digit.astype(np.int64), block.tokens[fits])
        for index in np.flatnonzero(cut.open):
            upto = np.cumsum(held[index * values : (index + 1) * values])
            digit_at = int(np.searchsorted(upto, cut.room[index] - cut.taken[index], "right"))
            cut.taken[index] += upto[digit_at - 1] if digit_at else 0
            cut.hash[index] |= np.uint64(digit_at << shift)
    return cut


def _inside(cut: PrefixEnd, at_cut: I64, group: I64, hashes: U64, tokens: I64) -> npt.NDArray[Any]:
    """Which documents lie in their group's prefix; `at_cut` counts on over those whose hash is the cut's."""
    inside: npt.NDArray[np.bool_] = cut.open[group] & (hashes < cut.hash[group])
    edge = np.flatnonzero(cut.open[group] & (hashes == cut.hash[group]))
    for index in np.unique(group[edge]):
        mine = edge[group[edge] == index]
        upto = at_cut[index] + np.cumsum(tokens[mine])
        inside[mine] = upto <= cut.room[index]
        at_cut[index] = upto[-1]
    return inside
