"""How much more often a target set has an n-gram than raw text: DSIR's hashed n-grams (Xie et al. 2023, section 3).

Words are runs of letters and digits or of punctuation, in lower case; single words and pairs of them are hashed into so
many buckets. The log-weight of a text is the sum over its n-grams of log p(bucket | target) - log p(bucket | raw).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from curate.errors import UserError
from stages.models import arrays_file
from stages.models.arrays_file import Kind
from stages.models.word_grams import grams, hashes_of

KIND = Kind(
    "curate importance",
    1,
    "importance model of curate",
    "train one with: curate train importance target.jsonl raw.jsonl -o MODEL",
)
HASH = "xxh3_64 of lower-cased words and marks"  # in the file, so that a later scheme can tell
SMOOTHING = 1e-8  # added to each share, as in DSIR's code: a bucket that one side never has costs 18 nats at the most
_TOKEN = re.compile(r"\w+|[^\w\s]+")


def _buckets(text: str, order: int, count: int) -> NDArray[np.int64]:
    """Bucket numbers of all n-grams of 1 ... order tokens."""
    tokens = _TOKEN.findall(text.lower())
    hashed = grams(hashes_of(tokens, len(tokens)), order)
    return (hashed >> np.uint64(11)).astype(np.int64) % count


@dataclass(frozen=True, eq=False)
class ImportanceModel:
    """log p(bucket | target) - log p(bucket | raw) of each bucket."""

    ratios: NDArray[np.float64]
    order: int

    def log_weight(self, text: str) -> float:
        """The log-weight of a text, not divided by its length; 0 for a text without tokens. Rounded once."""
        return math.fsum(self.ratios[_buckets(text, self.order, len(self.ratios))].tolist())

    def score(self, words: Sequence[str]) -> float:
        """The log-weight of a text split at white space: above 0 it is more like the target."""
        return self.log_weight(" ".join(words))

    def save(self, path: Path) -> None:
        """Writes the model file. Raises OSError where it can't be written."""
        arrays_file.save(path, KIND, {"hash": HASH, "order": self.order}, {"ratios": self.ratios})


def load_model(path: str) -> ImportanceModel:
    """The model in a file. Raises UserError for one that is missing, foreign, damaged or newer."""
    return arrays_file.load(path, KIND, _made)


def _made(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ImportanceModel:
    model = ImportanceModel(arrays["ratios"], int(header["order"]))
    if header["hash"] != HASH or not 1 <= model.order <= 5:
        raise ValueError("its features are others")
    if model.ratios.dtype != np.float64 or model.ratios.ndim != 1 or not len(model.ratios):
        raise ValueError("its weights are of another kind")
    if not np.isfinite(model.ratios).all():
        raise ValueError("its weights are no numbers")
    return model


@dataclass
class ImportanceTrainer:
    """Counts n-grams of target and raw texts; what `curate train importance` makes a model with."""

    order: Annotated[int, Field(ge=1, le=5)] = 2
    """longest n-grams, in words and marks"""
    buckets: Annotated[int, Field(ge=100, le=1 << 24)] = 10_000
    """hash n-grams into so many buckets"""

    examples: ClassVar[tuple[str, str]] = ("target", "raw")

    def __post_init__(self) -> None:
        self.counts = {label: np.zeros(self.buckets, np.int64) for label in (True, False)}

    def add(self, text: str, good: bool) -> None:
        """Counts one text; `good` is one of the target."""
        self.counts[good] += np.bincount(_buckets(text, self.order, self.buckets), minlength=self.buckets)

    def finish(self) -> ImportanceModel:
        """The model. Raises UserError where one side has no words."""
        if not all(counts.any() for counts in self.counts.values()):
            raise UserError("importance: the target or the raw examples hold no words; give some that do")
        target, raw = (np.log(self.counts[label] / self.counts[label].sum() + SMOOTHING) for label in (True, False))
        return ImportanceModel(target - raw, self.order)
