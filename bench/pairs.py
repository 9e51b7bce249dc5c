"""Every pair of documents at or above a Jaccard similarity, counted out, and what a dedup made of them."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash

from curate.text import normalize

SHINGLE = 5


def documents(folder: Path) -> Iterable[tuple[str, str]]:
    """(id, text) of the documents in a folder of JSONL files."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                yield row["id"], row["text"]


def shingles(text: str) -> Any:
    """The distinct 5-word shingles of a text as 64-bit numbers."""
    words = normalize(text).split()
    count = max(1, len(words) - SHINGLE + 1)
    joined = (" ".join(words[place : place + SHINGLE]).encode() for place in range(count))
    return np.unique(np.fromiter((xxhash.xxh3_64_intdigest(s) for s in joined), np.uint64, count))


class Pairs(NamedTuple):
    """All pairs at or above the threshold: ids, and the two document numbers of each pair."""

    ids: list[str]
    first: Any
    second: Any


def all_pairs(folder: Path, threshold: float) -> Pairs:
    """Counts the shared shingles of every pair of documents that shares one, and keeps the similar pairs."""
    ids: list[str] = []
    sets = []
    for number, text in documents(folder):
        ids.append(number)
        sets.append(shingles(text))
    sizes = np.array([len(s) for s in sets], np.int64)
    keys = np.concatenate(sets)
    holders = np.repeat(np.arange(len(ids), dtype=np.int64), sizes)
    del sets
    order = np.argsort(keys, kind="stable")
    keys, holders = keys[order], holders[order]
    shared: list[Any] = []
    distance = 1
    while True:  # pairs `distance` apart within a run of equal shingles
        same = np.flatnonzero(keys[distance:] == keys[:-distance])
        if not len(same):
            break
        shared.append(holders[same] * len(ids) + holders[same + distance])
        distance += 1
    pairs, common = np.unique(np.concatenate([np.empty(0, np.int64), *shared]), return_counts=True)
    first, second = pairs // len(ids), pairs % len(ids)
    similar = common >= threshold * (sizes[first] + sizes[second] - common)
    return Pairs(ids, first[similar], second[similar])


def judged(pairs: Pairs, kept: set[str]) -> dict[str, float]:
    """What a dedup did, by its output alone.

    recall: of the similar pairs, the share of which not both were kept. precision: of the dropped documents, the share
    that has a similar document at all. covered: of the dropped documents, the share with a similar one that is kept.
    """
    alive = np.array([number in kept for number in pairs.ids])
    apart = ~(alive[pairs.first] & alive[pairs.second])
    paired = np.zeros(len(alive), bool)
    paired[pairs.first] = paired[pairs.second] = True
    covered = np.zeros(len(alive), bool)
    covered[pairs.first[alive[pairs.second]]] = True
    covered[pairs.second[alive[pairs.first]]] = True
    dropped = ~alive
    return {
        "pairs": len(apart),
        "recall": float(apart.mean()) if len(apart) else 1.0,
        "precision": float(paired[dropped].mean()) if dropped.any() else 1.0,
        "covered": float(covered[dropped].mean()) if dropped.any() else 1.0,
    }
