"""Counts of features in good and bad text, their votes, and the plain file that keeps them.

A model counts words (`bits` 0), or hashes the n-grams of 1 ... `order` words into 2^bits buckets. The file is
an npz of plain arrays: `header` (JSON: format, version, order, bits), `good` and `bad` (int64 counts),
`words` (UTF-8, one a line). Nothing in it is ever unpickled.
"""

import io
import json
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from curate.errors import UserError, cause

FORMAT, VERSION = "curate naive_bayes", 1
CACHED_WORDS, CACHED_LENGTH = 1 << 16, 64  # bounds what a process remembers of the words it met
_DAY = (1980, 1, 1, 0, 0, 0)  # a zip entry must have a date: always this one, so that equal models are equal files
_MULTIPLIER, _SPREAD = np.uint64(0x9FB21C651E98DF25), np.uint64(0x9E3779B97F4A7C15)  # odd


def plain_word(word: str) -> str:
    """A word in lower case without the punctuation around it; "" where nothing else is left."""
    word = word.lower()
    if word.isalnum():
        return word
    kept = [place for place, char in enumerate(word) if char.isalnum()]
    return word[kept[0] : kept[-1] + 1] if kept else ""


def plain_words(text: str) -> list[str]:
    """The words that vote: split at white space, lower case, without punctuation around them."""
    return [word for word in map(plain_word, text.split()) if word]


def vote(count_good: int, count_bad: int, N_good: int, N_bad: int, V: int) -> float:
    """log of P(w | good) / P(w | bad) with add-one smoothing over V words (seed 1c)."""
    return math.log(((count_good + 1) / (N_good + V)) / ((count_bad + 1) / (N_bad + V)))


def _hash(word: str) -> int:
    return _remembered_hash(word) if len(word) <= CACHED_LENGTH else _hashed_word(word)


def _hashed_word(word: str) -> int:
    """xxh3-64 of a word's plain form, 0 where it has none."""
    plain = plain_word(word)
    return (xxhash.xxh3_64_intdigest(plain.encode("utf-8", "surrogatepass")) or 1) if plain else 0


_remembered_hash = lru_cache(maxsize=CACHED_WORDS)(_hashed_word)


def buckets(words: Sequence[str], order: int, bits: int) -> NDArray[np.int64]:
    """Bucket numbers of all n-grams of 1 ... order words, the words as they stand in the text."""
    hashes = np.fromiter(map(_hash, words), np.uint64, len(words))
    hashes = hashes[hashes != 0]
    grams, found = hashes, []
    for size in range(1, order + 1):
        if size > 1:
            grams = grams[:-1] * _MULTIPLIER + hashes[size - 1 :]
        found.append((grams * _SPREAD) >> np.uint64(64 - bits))
    return np.concatenate(found).astype(np.int64)


class _Votes(dict[str, float]):
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
    def _of_words(self) -> _Votes:
        return _Votes(dict(zip(self.words, self.votes)), vote(0, 0, *self.totals))

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
        header = {"format": FORMAT, "version": VERSION, "order": self.order, "bits": self.bits}
        texts = {"header": json.dumps(header), "words": "\n".join(self.words)}
        arrays: dict[str, NDArray[Any]] = {"good": self.good, "bad": self.bad}
        arrays |= {name: np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8) for name, text in texts.items()}
        with zipfile.ZipFile(path, "w") as file:
            for name, array in arrays.items():
                content = io.BytesIO()
                np.lib.format.write_array(content, array, allow_pickle=False)
                entry = zipfile.ZipInfo(f"{name}.npy", _DAY)
                file.writestr(entry, content.getvalue(), zipfile.ZIP_DEFLATED)


def load_model(path: str) -> BayesModel:
    """The model in a file. Raises UserError for one that is missing, foreign, damaged or newer."""
    way_out = "train one with: curate train naive-bayes good.jsonl bad.jsonl -o MODEL"
    try:
        with zipfile.ZipFile(path) as file:
            arrays = {name.removesuffix(".npy"): _array(file, name) for name in file.namelist()}
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']}")
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such model; {way_out}") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path}: is no naive Bayes model of curate ({cause(error)}); {way_out}") from None
    if header.get("version") != VERSION:
        raise UserError(f"{path}: is a model of version {header.get('version')}, {VERSION} is read here; {way_out}")
    return _checked(path, header, arrays, way_out)


def _array(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with file.open(name) as content:
        array: NDArray[Any] = np.lib.format.read_array(content, allow_pickle=False)
        return array


def _checked(path: str, header: dict[str, Any], arrays: dict[str, NDArray[Any]], way_out: str) -> BayesModel:
    """The model of a header and arrays that fit each other."""
    try:
        text = arrays["words"].tobytes().decode("utf-8", "surrogatepass")
        words = tuple(text.split("\n")) if text else ()
        model = BayesModel(arrays["good"], arrays["bad"], words, int(header["order"]), int(header["bits"]))
        features = 1 << model.bits if model.bits else len(words)
        if not (model.order >= 1 and model.good.shape == model.bad.shape == (features,) and features):
            raise ValueError("its parts have different lengths")
        if not (model.good.dtype == model.bad.dtype == np.int64 and min(model.good.min(), model.bad.min()) >= 0):
            raise ValueError("its counts are no whole numbers from 0 up")
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path}: is a damaged model ({cause(error)}); {way_out}") from None
    return model


class Trainer:
    """Counts features of good and bad texts. `order` above 1 hashes n-grams into 2^bits buckets."""

    def __init__(self, order: int = 1, bits: int = 20, min_count: int = 1) -> None:
        self.order, self.bits, self.min_count = order, bits if order > 1 else 0, min_count
        self.words: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        self.hashed = {label: np.zeros(1 << self.bits, dtype=np.int64) for label in (True, False)}

    def add(self, text: str, good: bool) -> None:
        """Counts one text."""
        if self.bits:
            np.add.at(self.hashed[good], buckets(text.split(), self.order, self.bits), 1)
        else:
            self.words[good].update(plain_words(text))

    def add_all(self, texts: Iterable[str], good: bool) -> "Trainer":
        """Counts texts; returns itself."""
        for text in texts:
            self.add(text, good)
        return self

    def finish(self) -> BayesModel:
        """The model; features counted fewer than `min_count` times in both together are left out."""
        if self.bits:
            kept = self.hashed[True] + self.hashed[False] >= self.min_count
            good, bad = self.hashed[True] * kept, self.hashed[False] * kept
            return BayesModel(good, bad, (), self.order, self.bits)
        counted = self.words[True] + self.words[False]
        words = tuple(sorted(word for word, count in counted.items() if count >= self.min_count))
        return BayesModel(self._counts(words, True), self._counts(words, False), words)

    def _counts(self, words: tuple[str, ...], label: bool) -> NDArray[np.int64]:
        return np.array([self.words[label][word] for word in words], dtype=np.int64)
