"""Logistic regression on hashed n-grams of words, as GPT-3 filtered Common Crawl (Brown et al. 2020, appendix A).

A text is a vector of its n-grams' counts, scaled to length 1, so that long texts and short ones compare; the score is
w·x + b, and p(good) = 1 / (1 + exp(-score)). The features are those of `stages.models.word_grams`: xxh3-64 of words in
lower case, hashed into 2^bits buckets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import xxhash
from numpy.typing import NDArray
from pydantic import Field

from curate.errors import UserError
from stages.models import arrays_file
from stages.models.arrays_file import Kind
from stages.models.minimize import minimize
from stages.models.word_grams import buckets

F64 = NDArray[np.float64]
KIND = Kind(
    "curate linear",
    1,
    "linear model of curate",
    "train one with: curate train linear good.jsonl bad.jsonl -o MODEL",
)
HASH = "xxh3_64 of lower-cased words"  # in the file, so that a later scheme can tell


def _features(words: Sequence[str], order: int, bits: int) -> tuple[NDArray[np.int64], F64]:
    """The buckets that a text has, in ascending order, and their values; the squares of those add to 1."""
    found, counts = np.unique(buckets(words, order, bits), return_counts=True)
    return found, counts / math.sqrt(int(counts @ counts)) if len(counts) else counts.astype(float)


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A weight for each bucket, and the bias."""

    weights: NDArray[np.float32]
    bias: float
    order: int
    bits: int

    def score(self, words: Sequence[str]) -> float:
        """w·x + b of a text's words: the logit of p(good). Rounded once, so the same on any machine."""
        found, values = _features(words, self.order, self.bits)
        return math.fsum([*(self.weights[found] * values).tolist(), self.bias])

    def probability(self, words: Sequence[str]) -> float:
        """p(good), 0 to 1."""
        score = max(-700.0, self.score(words))  # below that exp is no number any more
        return 1 / (1 + math.exp(-score))

    def save(self, path: Path) -> None:
        """Writes the model file. Raises OSError where it can't be written."""
        header = {"hash": HASH, "order": self.order, "bits": self.bits, "bias": self.bias}
        arrays_file.save(path, KIND, header, {"weights": self.weights})


def load_model(path: str) -> LinearModel:
    """The model in a file. Raises UserError for one that is missing, foreign, damaged or newer."""
    return arrays_file.load(path, KIND, _made)


def _made(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> LinearModel:
    model = LinearModel(arrays["weights"], float(header["bias"]), int(header["order"]), int(header["bits"]))
    if header["hash"] != HASH or not 1 <= model.order <= 5:
        raise ValueError("its features are others")
    if model.weights.dtype != np.float32 or model.weights.shape != (1 << model.bits,):
        raise ValueError("its weights are of another number than its header says")
    if not (np.isfinite(model.weights).all() and math.isfinite(model.bias)):
        raise ValueError("its weights are no numbers")
    return model


@dataclass
class LinearTrainer:
    """Fits the weights to good and bad texts; what `curate train linear` makes a model with."""

    order: Annotated[int, Field(ge=1, le=5)] = 2
    """longest n-grams, in words"""
    bits: Annotated[int, Field(ge=8, le=26)] = 18
    """hash n-grams into 2^bits buckets"""
    l2: Annotated[float, Field(gt=0, le=1e6)] = 0.01
    """weight of the squared weights beside the sum of all examples' losses: more for few examples"""

    examples: ClassVar[tuple[str, str]] = ("good", "bad")

    def __post_init__(self) -> None:
        self.texts: list[tuple[int, bool, NDArray[np.int32], NDArray[np.float32]]] = []

    def add(self, text: str, good: bool) -> None:
        """Remembers a text's features: 8 bytes each."""
        found, values = _features(text.split(), self.order, self.bits)
        digest = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
        self.texts.append((digest, good, found.astype(np.int32), values.astype(np.float32)))

    def finish(self) -> LinearModel:
        """The model. Raises UserError without examples of both kinds."""
        if len({good for _, good, _, _ in self.texts}) < 2:
            raise UserError("linear: a training needs examples of both kinds; give some of the other")
        texts = sorted(self.texts, key=lambda text: text[:2])  # sums round alike in whatever order they came
        examples = _Examples(
            np.array([good for _, good, _, _ in texts], float),
            np.repeat(np.arange(len(texts)), [len(found) for _, _, found, _ in texts]),
            np.concatenate([found for _, _, found, _ in texts]),
            np.concatenate([values for *_, values in texts]),
            self.l2,
        )
        used, places = np.unique(examples.features, return_inverse=True)  # weights of no example stay 0
        examples.features = places
        fitted = minimize(examples.loss, np.zeros(len(used) + 1))
        weights = np.zeros(1 << self.bits, np.float32)
        weights[used] = fitted[:-1]
        return LinearModel(weights, float(fitted[-1]), self.order, self.bits)


@dataclass
class _Examples:
    """All examples as one sparse matrix in coordinates, and the loss on them."""

    good: F64  # 1 or 0 for each example
    rows: NDArray[np.int64]
    features: NDArray[np.integer]
    values: NDArray[np.float32]
    l2: float

    def loss(self, at: F64) -> tuple[float, F64]:
        """Logistic loss summed over examples, plus l2 / 2 of the squared weights (the bias is free); its gradient."""
        weights, bias = at[:-1], at[-1]
        scores = np.bincount(self.rows, weights[self.features] * self.values, len(self.good)) + bias
        loss = np.logaddexp(0, scores).sum() - (scores * self.good).sum() + self.l2 / 2 * (weights * weights).sum()
        error = 1 / (1 + np.exp(-np.clip(scores, -500, 500))) - self.good
        gradient = np.bincount(self.features, error[self.rows] * self.values, len(weights)) + self.l2 * weights
        return float(loss), np.append(gradient, error.sum())
