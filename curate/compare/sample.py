"""A sample of so many words of a run, or of a JSONL file of texts: the same texts whatever the order.

Texts are taken in the order of a hash of their normalised form, so all copies of a text are in the sample or none is:
the share of copies in the sample is an unbiased estimate of that in the whole.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash

from curate.errors import UserError, cause
from curate.inspect.opened import OpenedRun
from curate.text import normalize


@dataclass(frozen=True)
class Text:
    """A text of a sample, with all its copies."""

    key: int  # the hash by which it was taken
    text: str
    words: int  # of one copy
    copies: int
    language: str | None


@dataclass(frozen=True)
class Sample:
    """Texts in the order of their keys. `words` counts copies."""

    texts: tuple[Text, ...]

    @property
    def words(self) -> int:
        return sum(text.words * text.copies for text in self.texts)

    @property
    def documents(self) -> int:
        return sum(text.copies for text in self.texts)

    def first(self, words: int) -> "Sample":
        """The first texts up to so many words; at least one."""
        taken: list[Text] = []
        held = 0
        for text in self.texts:
            size = text.words * text.copies
            if taken and held + size > words:
                break
            taken.append(text)
            held += size
        return Sample(tuple(taken))


def sample(place: str, words: int, seed: int) -> Sample:
    """The sample of a run's output folder, or of a `.jsonl` file with a `text` in each line; a bit over `words`.

    Memory holds about twice the sample. Raises UserError where there is no text.
    """
    held: dict[int, Text] = {}
    size = 0
    for line, language in _texts(place):
        count = len(line.split())
        if not count:
            continue
        key = xxhash.xxh3_64_intdigest(normalize(line).encode("utf-8", "surrogatepass"), seed=seed)
        before = held.get(key)
        held[key] = Text(key, line, count, 1 + (before.copies if before else 0), language)
        size += count
        if size > 2 * words + 100_000:
            held, size = _smallest(held, words)
    if not held:
        raise UserError(f"{place}: holds no text; give the output of a run, or a .jsonl file of objects with a 'text'")
    return Sample(tuple(sorted(_smallest(held, words)[0].values(), key=lambda text: text.key)))


def _smallest(held: dict[int, Text], words: int) -> tuple[dict[int, Text], int]:
    """The texts of the smallest keys that make up so many words, and their words."""
    kept, size = {}, 0
    for key in sorted(held):
        if size >= words:
            break
        kept[key] = held[key]
        size += held[key].words * held[key].copies
    return kept, size


def _texts(place: str) -> Iterator[tuple[str, str | None]]:
    if place.endswith(".jsonl"):
        yield from _lines(Path(place))
        return
    run = OpenedRun.of(place)
    for path in run.parts("shards"):
        with run.open_part(path) as part:
            for batch in part.iter_batches(1024, columns=["text", "language"]):
                yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


def _lines(path: Path) -> Iterator[tuple[str, str | None]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                row = json.loads(line) if line.strip() else {"text": ""}
                text = row.get("text") if isinstance(row, dict) else None
                if not isinstance(text, str):
                    raise UserError(f"{path}:{number}: has no 'text'; each line must be an object with a text in it")
                language = row.get("language")
                yield text, language if isinstance(language, str) else None
    except OSError as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give a JSONL file") from None
    except ValueError as error:
        raise UserError(f"{path}: is no JSONL ({cause(error)}); give a JSONL file") from None


def halves(sample: Sample, draw: int) -> np.ndarray:
    """The copies of each text in random half number `draw`: its own, or 0. Equal texts of other samples fall alike."""
    keys = np.fromiter((text.key for text in sample.texts), np.uint64, len(sample.texts))
    mixed = (keys ^ np.uint64(0x9E3779B97F4A7C15 * (draw + 1) % 2**64)) * np.uint64(0xFF51AFD7ED558CCD)
    mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return np.where(mixed >> np.uint64(63), copies(sample), 0)


def copies(sample: Sample) -> np.ndarray:
    """The copies of each text."""
    return np.fromiter((text.copies for text in sample.texts), np.int64, len(sample.texts))
