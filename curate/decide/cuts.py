"""Cuts on disk: what a corpus stage wants cut, sorted by document and joined to spans that lie apart."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from curate.executors.executor import Executor, results
from curate.stage import CUT, Cuts, Verdicts

Items = npt.NDArray[Any]

LEAST_WIDTH = 1 << 14  # documents of a file: 90 MB where each brings 200 cuts
MOST_FILES = 4096


class Spool:
    """The cuts of a stage, unsorted, in files by ranges of documents; begun anew."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self.size = size
        self.width = max(LEAST_WIDTH, -(-size // MOST_FILES))
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*-of-*"):
            old.unlink()

    def kept_apart(self, decided: Iterator[Verdicts | Cuts]) -> Iterator[Verdicts]:
        """The verdicts among what a stage decides; its cuts go to the spool."""
        for one in decided:
            if isinstance(one, Cuts):
                self.add(one.items)
            else:
                yield one

    def add(self, items: Items) -> None:
        """Appends cuts. Raises ValueError for what is no cut of a document that there is."""
        if items.dtype != CUT:
            raise ValueError(f"cuts are items of {CUT}, not {items.dtype}")
        if not len(items):
            return
        numbers = items["document"]
        if numbers.min() < 0 or numbers.max() >= self.size or items["matched"].max() >= self.size:
            raise ValueError(f"cuts name documents that there are not: they have numbers below {self.size}")
        if (items["start"] >= items["end"]).any():
            raise ValueError("a cut ends before it starts")
        of_file = numbers // self.width
        items = items[np.argsort(of_file, kind="stable")]
        indices, starts = np.unique(np.sort(of_file), return_index=True)
        for index, some in zip(indices.tolist(), np.split(items, starts[1:])):
            with (self.folder / f"{index:06}-of-{self.width}").open("ab") as file:
                some.tofile(file)

    def merged(self, executor: Executor) -> "SortedCuts":
        """Sorts and joins the cuts of every file."""
        results(executor, merge, sorted(self.folder.glob("*-of-*")))
        return SortedCuts(self.folder, self.width)


def merge(path: Path) -> int:
    """Makes a spool file's cuts ascend and lie apart; returns how many there are."""
    joined = join(np.fromfile(path, CUT))
    new = path.with_name(f"new-{path.name}-{os.getpid()}")
    joined.tofile(new)
    new.replace(path)
    return len(joined)


def join(items: Items) -> Items:
    """Cuts that touch or overlap made one, in the order of documents and places; the first one's match and cause."""
    if not len(items):
        return items
    items = items[np.lexsort((items["cause"], items["matched"], items["end"], items["start"], items["document"]))]
    first = np.ones(len(items), np.bool_)
    first[1:] = items["document"][1:] != items["document"][:-1]
    base = np.cumsum(first).astype(np.int64) << 33  # so that a document's ends lie above those of all before it
    reach = np.maximum.accumulate(base + items["end"])
    first[1:] |= base[1:] + items["start"][1:] > reach[:-1]
    begins = np.flatnonzero(first)
    joined = items[begins]
    joined["end"] = (reach - base)[np.append(begins[1:], len(items)) - 1]
    return joined


class SortedCuts(NamedTuple):
    """The joined cuts of a stage."""

    folder: Path
    width: int

    def of(self, start: int, stop: int) -> Items:
        """The cuts of documents start … stop - 1."""
        found = [np.empty(0, CUT)]
        for index in range(start // self.width, -(-stop // self.width)):
            path = self.folder / f"{index:06}-of-{self.width}"
            if path.exists() and path.stat().st_size:
                items = np.memmap(path, CUT, "r")
                begin, end = np.searchsorted(items["document"], (start, stop))
                found.append(np.array(items[begin:end]))
        return np.concatenate(found)


def taken_out(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without some spans. Raises ValueError where they do not ascend, overlap or lie outside."""
    pieces, at = [], 0
    for start, end in spans:
        if not at <= start < end <= len(text):
            raise ValueError(f"the span {start} to {end} does not lie behind {at} in a text of {len(text)} characters")
        pieces.append(text[at:start])
        at = end
    return "".join([*pieces, text[at:]])
