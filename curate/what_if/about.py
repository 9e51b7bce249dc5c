"""About what corpus stages keep of another set of documents than the run's.

The texts of a run are not compared again, so this is an estimate unless the stage's input is that of the run:

* a document that the run's stage saw keeps its fate there;
* one that was dropped for a document that no longer comes takes its place, the first in crawl order for all of them;
* a document that the run's stage did not see is kept as often as the run kept one there.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import I64, Mask, Recorded, keys
from curate.stage import declared
from curate.what_if.redecide import total

F64 = npt.NDArray[np.float64]
Pair = tuple[int, int]  # documents and words

HOW = (
    "about: pages that the run compared keep their fate, or take the place of the page that they are a copy of",
    "       where that is gone; new pages are kept as often as the run kept pages there",
)


@dataclass(frozen=True)
class Estimate:
    """What one corpus stage keeps, in all and by group; `before` is what it kept in the run.

    `exact` where the stage would see what it saw in the run, or equal texts alone and none that is new.
    """

    stage: str
    before: Pair
    after: Pair
    groups: tuple[Pair, ...]
    exact: bool


def twins(run: OpenedRun, recorded: Recorded) -> I64:
    """For each measured page the place of the document it was dropped for in the run, -1 for none."""
    twin = np.full(len(recorded), -1, np.int64)
    columns = ["file_path", "offset", "matched_file", "matched_offset", "stage"]
    for path in run.parts("ledger"):
        table = run.read_part(path, columns)
        table = table.filter(table["matched_offset"].is_valid())
        if table.num_rows:
            here = np.searchsorted(recorded.key, keys(run, table["file_path"], table["offset"]))
            there = np.searchsorted(recorded.key, keys(run, table["matched_file"], table["matched_offset"]))
            twin[here] = there
    return twin


def estimates(
    recorded: Recorded, twin: I64, words: I64, groups: I64, size: int, passed: Mask, unknown: Mask
) -> list[Estimate]:
    """Each corpus stage's keep when these pages pass the document stages; `unknown` ones may pass and are left out.

    `groups[i]` is the group of page i, below `size`; `words[i]` its words then.
    """
    came, share = recorded.passed, passed.astype(np.float64)  # the run's input; how much of each page comes now
    exact = not unknown.any()
    found = []
    for code, name, stage in recorded.corpus_stages:
        dropped = recorded.stage == code
        new = (share > 0) & ~came
        same = np.array_equal(share > 0, came)
        exact = exact and (same or (declared(stage).equal and not new.any()))
        kept = came & ~dropped
        rate = float(kept.sum() / came.sum()) if came.any() else 1.0
        share = np.where(came, np.where(dropped & ~_heirs(share, twin, dropped), 0.0, share), share * rate)
        came = kept
        before, after = total(came, recorded.words), (round(share.sum()), round(float((share * words).sum())))
        found.append(Estimate(name, before, after, _by_group(share, words, groups, size), exact))
    return found


def _heirs(share: F64, twin: I64, dropped: Mask) -> Mask:
    """Of the documents dropped for one that no longer comes the first that does, for each such one."""
    orphans = np.flatnonzero(dropped & (share > 0) & (twin >= 0))
    orphans = orphans[share[twin[orphans]] == 0]
    heirs = np.zeros(len(share), np.bool_)
    heirs[orphans[np.unique(twin[orphans], return_index=True)[1]]] = True
    return heirs


def _by_group(share: F64, words: I64, groups: I64, size: int) -> tuple[Pair, ...]:
    documents = np.bincount(groups, share, minlength=size)
    weighed = np.bincount(groups, share * words, minlength=size)
    return tuple((round(d), round(w)) for d, w in zip(documents.tolist(), weighed.tolist()))
