"""Trains the model of a stage on reference sets: `curate train naive-bayes good.jsonl bad.jsonl -o model`.

Which stages have one, and how it is trained, they declare themselves (`curate.stage.Trainer`).
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import xxhash
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from curate.durable import atomic
from curate.errors import UserError, cause
from curate.output.facts import Options
from curate.plug_ins.registry import installed, stage_class
from curate.sizes import numbered
from curate.stage import Trainer

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Training:
    """How a training went: accuracy and AUC are those on the held-out documents."""

    good: int  # documents read, of the first kind
    bad: int  # of the second
    held_out_good: int
    held_out_bad: int
    accuracy: float  # share with a score on their side of 0
    auc: float  # chance that a good document scores above a bad one, ties counted half
    kinds: tuple[str, str] = ("good", "bad")  # what the two are called

    def __str__(self) -> str:
        trained = self.good + self.bad - self.held_out_good - self.held_out_bad
        held_out = f"{self.held_out_good} {self.kinds[0]} and {self.held_out_bad} {self.kinds[1]} ones held out"
        measured = f"accuracy {self.accuracy:.3f}, AUC {self.auc:.3f}"
        return f"trained on {numbered(trained, 'document')}; on {held_out}: {measured}"


def trainers() -> dict[str, type[Any]]:
    """The installed stages that say how their models are trained, by name, with what trains them."""
    found = {}
    for name in installed():
        with suppress(UserError):  # one that can't be imported is told when a config asks for it
            found[name] = getattr(stage_class(name), "trainer", None)
    return {name: trainer for name, trainer in found.items() if isinstance(trainer, type)}


def train(
    name: str, good: str, bad: str, out: str, *, text: str = "text", seed: int = 0, **options: int | float
) -> Training:
    """Trains the model of the stage `name` on nine tenths of two JSONL files (also .gz, .zst), writes it to `out`,
    measures the rest.

    `text` names the field; `options` are the fields of the stage's trainer. A tenth of each file is held out, those
    with the smallest xxh3-64(`seed`, text), at least one document. Raises UserError for what can't be read or
    trained on.
    """
    trainer = _trainer(name, options)
    files = {True: good, False: bad}
    cuts = {label: _held_out_below(path, text, seed) for label, path in files.items()}
    for label, path in files.items():
        for document in _texts(path, text):
            if _digest(document, seed) > cuts[label].cut:
                trainer.add(document, label)
    model = trainer.finish()
    scores = {}
    for label, path in files.items():
        held_out = (document for document in _texts(path, text) if _digest(document, seed) <= cuts[label].cut)
        scores[label] = np.array([model.score(document.split()) for document in held_out])
    with atomic(Path(out)) as unfinished:
        model.save(unfinished)
    return _training(cuts, scores, trainer.examples)


def _trainer(name: str, options: Options) -> Trainer:
    """What a stage's model is trained with. Raises UserError for an option out of its range."""
    try:
        trainer: Trainer = TypeAdapter(trainers()[name]).validate_python(options)
    except ValidationError as error:
        first = error.errors()[0]
        option = "-".join(str(part) for part in first["loc"]).replace("_", "-")
        raise UserError(f"--{option} {first['input']}: {first['msg'][0].lower()}{first['msg'][1:]}") from None
    return trainer


def _training(cuts: dict[bool, "_HeldOut"], scores: dict[bool, Scores], kinds: tuple[str, str]) -> Training:
    good, bad = scores[True], scores[False]
    read = cuts[True].documents, cuts[False].documents
    return Training(*read, len(good), len(bad), accuracy(good, bad), auc(good, bad), kinds)


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
class _HeldOut:
    documents: int
    cut: int  # documents with this digest or a smaller one are held out


def _held_out_below(path: str, field: str, seed: int) -> _HeldOut:
    digests = np.fromiter((_digest(document, seed) for document in _texts(path, field)), np.uint64)
    tenth = max(len(digests) // 10, 1)
    cut = int(np.sort(digests)[tenth - 1]) if len(digests) else 0
    if not (digests > cut).any():
        held = numbered(len(digests), "document")
        raise UserError(f"{path}: holds {held}; a training needs two different ones, give more")
    return _HeldOut(len(digests), cut)


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
