"""Trains a classifier stage on a reference set: `curate train naive-bayes good.jsonl bad.jsonl -o model`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import fsspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from curate.durable import whole
from curate.errors import UserError, cause
from curate.plug_ins.registry import stage_class
from curate.sizes import numbered

Scores = NDArray[np.float64]


class Model(Protocol):
    """What a training yields: scores above 0 speak for good text."""

    def score(self, words: list[str]) -> float: ...

    def save(self, path: Path) -> None: ...


class Trainer(Protocol):
    """Counts texts, then makes a model of them."""

    def add(self, text: str, good: bool) -> None: ...

    def finish(self) -> Model: ...


@dataclass(frozen=True, slots=True)
class Training:
    """How a training went: accuracy and AUC are those on the held-out documents."""

    good: int  # documents read
    bad: int
    held_out_good: int
    held_out_bad: int
    accuracy: float  # share with a score on their side of 0
    auc: float  # chance that a good document scores above a bad one, ties counted half

    def __str__(self) -> str:
        trained = self.good + self.bad - self.held_out_good - self.held_out_bad
        held_out = f"{self.held_out_good} good and {self.held_out_bad} bad ones held out"
        measured = f"accuracy {self.accuracy:.3f}, AUC {self.auc:.3f}"
        return f"trained on {numbered(trained, 'document')}; on {held_out}: {measured}"


def train_naive_bayes(
    good: str,
    bad: str,
    out: str,
    *,
    text: str = "text",
    order: int = 1,
    bits: int = 20,
    min_count: int = 1,
    seed: int = 0,
) -> Training:
    """Trains on nine tenths of two JSONL files (also .gz, .zst), writes the model to `out`, measures the
    rest.

    `text` names the field; `order` above 1 counts n-grams of up to so many words, hashed into 2^`bits`
    buckets; features counted fewer than `min_count` times are left out. A tenth of each file is held out,
    those with the smallest xxh3-64(`seed`, text), at least one document. Raises UserError for what can't be
    read or trained on.
    """
    _in_range("order", order, 1, 5)
    _in_range("bits", bits, 8, 28)
    _in_range("min_count", min_count, 1, 1 << 30)
    files = {True: good, False: bad}
    cuts = {label: _held_out_below(path, text, seed) for label, path in files.items()}
    trainer: Trainer = stage_class("naive_bayes").trainer(order=order, bits=bits, min_count=min_count)
    for label, path in files.items():
        for document in _texts(path, text):
            if _digest(document, seed) > cuts[label].cut:
                trainer.add(document, label)
    model = trainer.finish()
    scores = {}
    for label, path in files.items():
        held_out = (document for document in _texts(path, text) if _digest(document, seed) <= cuts[label].cut)
        scores[label] = np.array([model.score(document.split()) for document in held_out])
    with whole(Path(out)) as unfinished:
        model.save(unfinished)
    return _told(cuts, scores)


def _told(cuts: dict[bool, "_Cut"], scores: dict[bool, Scores]) -> Training:
    good, bad = scores[True], scores[False]
    read = cuts[True].documents, cuts[False].documents
    return Training(*read, len(good), len(bad), accuracy(good, bad), auc(good, bad))


def accuracy(good: Scores, bad: Scores) -> float:
    """Share of documents on their side of 0; a score of 0 is on the good side, as the stage judges."""
    return float(((good >= 0).sum() + (bad < 0).sum()) / (len(good) + len(bad)))


def auc(good: Scores, bad: Scores) -> float:
    """Area under the ROC curve: the Mann-Whitney statistic over the number of pairs, ties counted half."""
    ordered = np.sort(bad)
    below = np.searchsorted(ordered, good, "left").sum()
    not_above = np.searchsorted(ordered, good, "right").sum()
    return float((below + not_above) / 2 / (len(good) * len(bad)))


@dataclass(frozen=True, slots=True)
class _Cut:
    documents: int
    cut: int  # documents with this digest or a smaller one are held out


def _held_out_below(path: str, field: str, seed: int) -> _Cut:
    digests = np.fromiter((_digest(document, seed) for document in _texts(path, field)), np.uint64)
    tenth = max(len(digests) // 10, 1)
    cut = int(np.sort(digests)[tenth - 1]) if len(digests) else 0
    if not (digests > cut).any():
        held = numbered(len(digests), "document")
        raise UserError(f"{path}: holds {held}; a training needs two different ones, give more")
    return _Cut(len(digests), cut)


def _digest(document: str, seed: int) -> int:
    return xxhash.xxh3_64_intdigest(document.encode("utf-8", "surrogatepass"), seed=seed)


def _texts(path: str, field: str) -> Iterator[str]:
    """The texts of a JSONL file, line by line."""
    try:
        with fsspec.open(path, "rt", encoding="utf-8", compression="infer") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _text(line, field, f"{path}:{number}")
    except (OSError, EOFError, UnicodeDecodeError, ImportError) as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give a JSONL file of texts") from None


def _text(line: str, field: str, place: str) -> str:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise UserError(f"{place}: is no JSON ({error}); give one object a line") from None
    value = row.get(field) if isinstance(row, dict) else None
    if not isinstance(value, str):
        raise UserError(f"{place}: has no text under '{field}'; name the field with --text")
    return value


def _in_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UserError(f"--{name.replace('_', '-')} {value}: must be from {least} to {most}")
