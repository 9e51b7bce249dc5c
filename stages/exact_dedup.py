"""Drops copies: texts that are equal once case, white space and zero-width marks are set aside."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from curate.corpus import Corpus
from curate.document import Document
from curate.stage import Sketch, Verdicts
from curate.text import normalize

SHA1 = np.dtype([("sha1", "<u4", (5,))])
PAIRS_AT_ONCE = 1 << 18  # pairs confirmed at once


def normalize_for_exact(text: str) -> str:
    """The text as it is compared: NFC, case folded, zero-width marks out, white space runs one space."""
    return normalize(text)


def fingerprint(normalized: str) -> bytes:
    """SHA-1 of a normalised text's UTF-8 bytes."""
    return hashlib.sha1(normalized.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def exact_dedup(documents: Sequence[str]) -> list[str]:
    """The first document with each fingerprint, in order: what the stage keeps, in plain words."""
    first: dict[bytes, str] = {}
    for document in documents:
        first.setdefault(fingerprint(normalize_for_exact(document)), document)
    return list(first.values())


class _TextTask(NamedTuple):
    corpus: Corpus
    partition: int


def _find_copies(task: _TextTask) -> Path:
    """The file of a partition's copies and the first of each, as pairs of numbers."""
    corpus, partition = task

    def write(path: Path) -> None:
        documents, starts = corpus.buckets(partition)
        firsts = np.repeat(documents[starts[:-1]], np.diff(starts))
        rest = documents != firsts
        documents, firsts = documents[rest], firsts[rest]
        collided: list[int] = []  # documents whose 64-bit key is that of another text
        with path.open("wb") as file:
            for begin in range(0, len(documents), PAIRS_AT_ONCE):
                some, first = documents[begin : begin + PAIRS_AT_ONCE], firsts[begin : begin + PAIRS_AT_ONCE]
                equal = (corpus.records(some)["sha1"] == corpus.records(first)["sha1"]).all(axis=1)
                np.stack([some[equal], first[equal]], axis=1).tofile(file)
                collided += some[~equal].tolist()
            np.array(_copies(corpus, sorted(collided)), np.int64).tofile(file)

    return corpus.saved(f"copies-{partition:05}", write)


def _copies(corpus: Corpus, documents: list[int]) -> list[tuple[int, int]]:
    """Copies and the first of each among ascending documents, one at a time."""
    first: dict[bytes, int] = {}
    pairs = []
    for number in documents:
        twin = first.setdefault(corpus.records(np.array([number]))[0].tobytes(), number)
        if twin != number:
            pairs.append((number, twin))
    return pairs


@dataclass(frozen=True, kw_only=True)
class ExactDedup:
    """Keeps the first of equal texts, in crawl order; the ledger names it for each copy dropped.

    Texts are equal when the SHA-1 of their normalised form is (`curate.text.normalize`).
    """

    adds: ClassVar[Mapping[str, pa.DataType]] = {}
    reasons: ClassVar[tuple[str, ...]] = ("exact_duplicate",)
    record: ClassVar[np.dtype[Any] | None] = SHA1
    scheme: ClassVar[int] = 1
    equal: ClassVar[bool] = True  # twins are equal texts, of which the first stays: what-if counts on it

    def sketch(self, doc: Document) -> Sketch:
        digest = fingerprint(doc.normalized)
        return Sketch(np.frombuffer(digest, "<u8", 1), np.frombuffer(digest, SHA1)[0])

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        for path in corpus.map(_find_copies, [_TextTask(corpus, index) for index in range(corpus.partitions)]):
            pairs = np.fromfile(path, np.int64).reshape(-1, 2)
            scores = np.ones(len(pairs), np.float32)
            yield Verdicts(pairs[:, 0], "exact_duplicate", pairs[:, 1], scores)
