"""ARPA files: an n-gram model as text, read whole into sorted arrays.

    \\data\\
    ngram 1=3
    \\1-grams:
    -0.9<TAB>river<TAB>-0.3
    \\end\\

Probabilities and back-offs are log10. Beyond some millions of n-grams KenLM's binary files load at once and are shared
by all processes: `build_binary trie model.arpa model.bin`.
"""

import gzip
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from stages.models.backoff import F64, I64, U64, UNKNOWN
from stages.models.kenlm_probing import Looked

Grams = tuple[I64, F64, F64]  # word numbers, log10 p, back-offs
UNKNOWN_WORDS = ("<unk>", "<UNK>")
MISSING = -100.0  # log10 p of an unknown word where the file has none, as KenLM takes it
SECTION, COUNT = re.compile(r"\\(\d+)-grams:"), re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_MIX, _WORD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd, to part n-grams by 64 bits


def _combined(nodes: U64, before: I64) -> U64:
    """Keys of n-grams: those of all but the first word, and that one."""
    mixed = (nodes ^ (nodes >> np.uint64(29))) * _MIX
    return mixed ^ (before.astype(np.uint64) + np.uint64(1)) * _WORD


def _keys(words: I64) -> U64:
    """Keys of n-grams given a row each."""
    keys = words[:, -1].astype(np.uint64)
    for place in range(words.shape[1] - 2, -1, -1):
        keys = _combined(keys, words[:, place])
    return keys


def _find(stored: U64, keys: U64) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Where keys would stand among sorted ones, and whether they do."""
    if not len(stored):
        return np.zeros(len(keys), np.int64), np.zeros(len(keys), np.bool_)
    place = np.minimum(np.searchsorted(stored, keys), len(stored) - 1)
    return place, stored[place] == keys


def _with_suffixes(shorter: Grams, longer: I64) -> Grams:
    """N-grams and the missing ends of longer ones, with p NaN: a search from the last word passes through those.

    Pruned models have n-grams without their ends.
    """
    ends = longer[:, 1:]
    keys = _keys(ends)
    _, first = np.unique(keys, return_index=True)
    _, there = _find(np.sort(_keys(shorter[0])), keys[first])
    new = ends[first[~there]]
    nothing = np.full(len(new), np.nan)
    return (
        np.concatenate([shorter[0], new]),
        np.concatenate([shorter[1], nothing]),
        np.concatenate([shorter[2], np.zeros(len(new))]),
    )


class Arpa:
    """The n-grams of an ARPA file. Raises ValueError, with the line, for a file that is none or is cut."""

    def __init__(self, path: str) -> None:
        with _opened(path) as file:
            sections = dict(_sections(file))
        self.order = len(sections)
        self._ids: dict[str, int] = {}
        probability, backoff = [MISSING], [0.0]
        for words, p, b in sections[1]:
            if words in UNKNOWN_WORDS:
                probability[UNKNOWN], backoff[UNKNOWN] = p, b
            elif words not in self._ids:
                self._ids[words] = len(probability)
                probability.append(p)
                backoff.append(b)
        self._unigrams = np.array(probability), np.array(backoff)
        grams = {size: self._numbers(size, sections[size]) for size in range(2, self.order + 1)}
        for size in range(self.order, 2, -1):
            grams[size - 1] = _with_suffixes(grams[size - 1], grams[size][0])
        self._longer: list[tuple[U64, F64, F64]] = []
        for size in range(2, self.order + 1):
            self._longer.append(self._table(*grams[size]))

    def _numbers(self, size: int, rows: list[tuple[str, float, float]]) -> Grams:
        """N-grams as word numbers, a row each, with log10 probabilities and back-offs."""
        get = self._ids.get
        words = np.array([[get(word, UNKNOWN) for word in gram.split()] for gram, _, _ in rows], np.int64)
        weights = np.array([row[1:] for row in rows]).reshape(len(rows), 2)
        return words.reshape(len(rows), size), weights[:, 0], weights[:, 1]

    def _table(self, words: I64, probability: F64, backoff: F64) -> tuple[U64, F64, F64]:
        """Keys in ascending order, probabilities, back-offs; what the file left out gets what back-off makes of it."""
        absent = np.flatnonzero(np.isnan(probability))
        if len(absent):
            probability[absent] = self._backed_off(words[absent])
        keys = _keys(words)
        order = np.argsort(keys, kind="stable")
        return keys[order], probability[order], backoff[order]

    def _backed_off(self, words: I64) -> F64:
        """p of n-grams by the shorter ones, all of which end in a table by now."""
        size = words.shape[1] - 1
        _, context = self._weights(size, words[:, :-1])
        shorter, _ = self._weights(size, words[:, 1:])
        return shorter + context

    def _weights(self, size: int, words: I64) -> tuple[F64, F64]:
        """log10 probabilities and back-offs of n-grams; zeros for those that are not there."""
        if size == 1:
            return self._unigrams[0][words[:, 0]], self._unigrams[1][words[:, 0]]
        stored, probability, backoff = self._longer[size - 2]
        place, there = _find(stored, _keys(words))
        return np.where(there, probability[place], 0.0), np.where(there, backoff[place], 0.0)

    def ids(self, words: Sequence[str]) -> I64:
        get = self._ids.get
        return np.fromiter((get(word, UNKNOWN) for word in words), np.int64, len(words))

    def unigrams(self, ids: I64) -> Looked:
        probability, backoff = self._unigrams
        return Looked(np.ones(len(ids), np.bool_), probability[ids], backoff[ids], ids.astype(np.uint64))

    def longer(self, size: int, nodes: U64, before: I64) -> Looked:
        stored, probability, backoff = self._longer[size - 2]
        keys = _combined(nodes, before)
        place, there = _find(stored, keys)
        found = place[there]
        return Looked(there, probability[found], backoff[found], keys[there])


def _opened(path: str) -> IO[str]:
    """A text file, plain or gzip; a line that is no UTF-8 keeps its bytes apart from others."""
    with Path(path).open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    read = gzip.open if packed else open
    return cast("IO[str]", read(path, "rt", encoding="utf-8", errors="surrogateescape", newline="\n"))


def _sections(file: IO[str]) -> Iterator[tuple[int, list[tuple[str, float, float]]]]:
    """Each size with its n-grams: words joined by spaces, log10 p, back-off (0 where none is given)."""
    lines = enumerate((line.strip() for line in file), 1)
    counts = _counts(lines)
    for size in range(1, len(counts) + 1):
        number, line = next(((n, found) for n, found in lines if found), (0, ""))
        if not (match := SECTION.fullmatch(line)) or int(match[1]) != size:
            raise ValueError(f"line {number}: \\{size}-grams: is missing" if number else "it ends too early")
        rows = [_row(line, size, number) for _, (number, line) in zip(range(counts[size - 1]), lines)]
        if len(rows) < counts[size - 1]:
            raise ValueError(f"it ends within its {size}-grams")
        yield size, rows
    if not any(line == "\\end\\" for _, line in lines):
        raise ValueError("its \\end\\ is missing")


def _counts(lines: Iterator[tuple[int, str]]) -> list[int]:
    """How many n-grams of each size the file announces."""
    counts: list[int] = []
    if not any(line == "\\data\\" for _, line in lines):
        raise ValueError("it has no \\data\\")
    for number, line in lines:
        if not line and counts:
            return counts
        match = COUNT.fullmatch(line)
        if line and (not match or int(match[1]) != len(counts) + 1):
            raise ValueError(f"line {number}: is no count of {len(counts) + 1}-grams")
        if match:
            counts.append(int(match[2]))
    raise ValueError("it announces no n-grams")


def _row(line: str, size: int, number: int) -> tuple[str, float, float]:
    parts = line.split()
    if len(parts) not in (size + 1, size + 2):
        raise ValueError(f"line {number}: is no {size}-gram")
    try:
        return " ".join(parts[1 : size + 1]), float(parts[0]), float(parts[size + 1]) if len(parts) > size + 1 else 0.0
    except ValueError:
        raise ValueError(f"line {number}: has a weight that is no number") from None
