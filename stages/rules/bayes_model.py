"""Counts of features in good and bad text, their votes, and the plain file that keeps them.

A model counts words (`bits` 0), or hashes the n-grams of 1 ... `order` words into 2^bits buckets. The file is
an npz of plain arrays: `header` (JSON: format, version, order, bits), `good` and `bad` (int64 counts),
`words` (UTF-8, one a line). Nothing in it is ever unpickled.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from curate.errors import UserError
from stages.models import arrays_file
from stages.models.arrays_file import Kind
from stages.models.word_grams import CACHED_LENGTH, CACHED_WORDS, buckets, plain_word, plain_words

KIND = Kind(
    "curate naive_bayes",
    1,
    "naive Bayes model of curate",
    "train one with: curate train naive-bayes good.jsonl bad.jsonl -o MODEL",
)


def vote(count_good: int, count_bad: int, N_good: int, N_bad: int, V: int) -> float:
    """log of P(w | good) / P(w | bad) with add-one smoothing over V words (*Pretraining at scale*, 1c)."""
    return math.log(((count_good + 1) / (N_good + V)) / ((count_bad + 1) / (N_bad + V)))


class _WordVotes(dict[str, float]):
    """Votes by word as it stands in a text, filled as words are met; what has no plain form casts none."""

    def __init__(self, by_word: dict[str, float], unseen: float) -> None:
        super().__init__()
        self.by_word, self.unseen = by_word, unseen

    def __missing__(self, word: str) -> float:
        plain = plain_word(word)
        value = self.by_word.get(plain, self.unseen) if plain else 0.0
        if len(self) < CACHED_WORDS and len(word) <= CACHED_LENGTH:
            self[word] = value
        return value


@dataclass(frozen=True, eq=False)
class BayesModel:
    """Feature counts. `words` names the features where `bits` is 0, else feature i is bucket i."""

    good: NDArray[np.int64]
    bad: NDArray[np.int64]
    words: tuple[str, ...] = ()
    order: int = 1
    bits: int = 0

    @cached_property
    def totals(self) -> tuple[int, int, int]:
        """N_good, N_bad, V: features counted in good and bad text, and different ones in either."""
        return int(self.good.sum()), int(self.bad.sum()), int(((self.good > 0) | (self.bad > 0)).sum())

    @cached_property
    def votes(self) -> list[float]:
        """The vote of each feature."""
        return [vote(good, bad, *self.totals) for good, bad in zip(self.good.tolist(), self.bad.tolist())]

    @cached_property
    def _of_words(self) -> _WordVotes:
        return _WordVotes(dict(zip(self.words, self.votes)), vote(0, 0, *self.totals))

    @cached_property
    def _of_buckets(self) -> NDArray[np.float64]:
        return np.array(self.votes)

    def total(self, words: Sequence[str]) -> float:
        """The sum of the votes of a text's words at white space; rounded once, so in any order."""
        if self.bits:
            return math.fsum(self._of_buckets[buckets(words, self.order, self.bits)].tolist())
        return math.fsum(map(self._of_words.__getitem__, words))

    def score(self, words: Sequence[str]) -> float:
        """The mean vote per word, 0 for a text without words: above 0 the text is more like the good ones."""
        return self.total(words) / len(words) if words else 0.0

    def save(self, path: Path) -> None:
        """Writes the model file. Raises OSError where it can't be written."""
        text = np.frombuffer("\n".join(self.words).encode("utf-8", "surrogatepass"), np.uint8)
        header = {"order": self.order, "bits": self.bits}
        arrays_file.save(path, KIND, header, {"good": self.good, "bad": self.bad, "words": text})


def load_model(path: str) -> BayesModel:
    """The model in a file. Raises UserError for one that is missing, foreign, damaged or newer."""
    return arrays_file.load(path, KIND, _made)


def _made(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> BayesModel:
    text = arrays["words"].tobytes().decode("utf-8", "surrogatepass")
    words = tuple(text.split("\n")) if text else ()
    model = BayesModel(arrays["good"], arrays["bad"], words, int(header["order"]), int(header["bits"]))
    features = 1 << model.bits if model.bits else len(words)
    if not (model.order >= 1 and model.good.shape == model.bad.shape == (features,) and features):
        raise ValueError("its parts have different lengths")
    if not (model.good.dtype == model.bad.dtype == np.int64 and min(model.good.min(), model.bad.min()) >= 0):
        raise ValueError("its counts are no whole numbers from 0 up")
    return model


@dataclass
class BayesTrainer:
    """Counts features of good and bad texts; what `curate train` makes a model with."""

    order: Annotated[int, Field(ge=1, le=5)] = 1
    """longest n-grams, in words; above 1 they are hashed"""
    bits: Annotated[int, Field(ge=8, le=28)] = 20
    """hash n-grams into 2^bits buckets"""
    min_count: Annotated[int, Field(ge=1, le=1 << 30)] = 1
    """leave out what was counted fewer times"""

    examples: ClassVar[tuple[str, str]] = ("good", "bad")

    def __post_init__(self) -> None:
        self.hashes = self.order > 1
        self.words: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        size = 1 << self.bits if self.hashes else 1
        self.hashed = {label: np.zeros(size, dtype=np.int64) for label in (True, False)}

    def add(self, text: str, good: bool) -> None:
        """Counts one text."""
        if self.hashes:
            np.add.at(self.hashed[good], buckets(text.split(), self.order, self.bits), 1)
        else:
            self.words[good].update(plain_words(text))

    def add_all(self, texts: Iterable[str], good: bool) -> "BayesTrainer":
        """Counts texts; returns itself."""
        for text in texts:
            self.add(text, good)
        return self

    def finish(self) -> BayesModel:
        """The model; features counted fewer than `min_count` times in both together are left out."""
        if self.hashes:
            kept = self.hashed[True] + self.hashed[False] >= self.min_count
            good, bad = self.hashed[True] * kept, self.hashed[False] * kept
            return BayesModel(good, bad, (), self.order, self.bits)
        counted = self.words[True] + self.words[False]
        words = tuple(sorted(word for word, count in counted.items() if count >= self.min_count))
        if not words:
            raise UserError(f"--min-count {self.min_count} leaves no word; give a smaller one, or more text")
        return BayesModel(self._counts(words, True), self._counts(words, False), words)

    def _counts(self, words: tuple[str, ...], label: bool) -> NDArray[np.int64]:
        return np.array([self.words[label][word] for word in words], dtype=np.int64)
