"""Evaluation sets, and the index of their n-grams that texts are held against."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curate.errors import UserError, cause
from stages.spans.plain_words import plain_words
from stages.spans.windows import windows

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

MARKED_BITS = 22
MARKED = np.uint64((1 << MARKED_BITS) - 1)  # low bits of a key that say whether it is worth looking up


class EvaluationText(NamedTuple):
    """One text of an example: the name of its set, its id (or else its row), its field."""

    set: str
    id: str
    field: str

    def __str__(self) -> str:
        return f"{self.set}:{self.id} {self.field}"


class Grams(NamedTuple):
    """The n-grams of one length by ascending keys, with the example that each was first met in."""

    size: int
    keys: U64
    checks: U64
    examples: I64  # indices in `Index.examples`
    marked: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Index:
    """The n-grams of some sets; those of examples shorter than n have a length of their own."""

    examples: tuple[EvaluationText, ...]
    too_short: int  # texts that are shorter than what counts as evidence
    grams: tuple[Grams, ...]

    @property
    def count(self) -> int:
        return sum(len(some.keys) for some in self.grams)

    def hits(self, texts: Sequence[Sequence[str]], grams: Grams) -> Iterator[tuple[I64, I64, U64]]:
        """For each text the places where it has n-grams of one length, which ones (indices there), and their keys."""
        found = windows(texts, grams.size)
        maybe = np.flatnonzero(grams.marked[found.keys & MARKED])
        place = np.minimum(np.searchsorted(grams.keys, found.keys[maybe]), len(grams.keys) - 1)
        true = (grams.keys[place] == found.keys[maybe]) & (grams.checks[place] == found.checks[maybe])
        maybe, place = maybe[true], place[true]
        ends = np.cumsum(found.counts)
        cuts = np.searchsorted(maybe, ends)
        start = 0
        for end, count, stop in zip(ends.tolist(), found.counts.tolist(), cuts.tolist()):
            mine = slice(start, stop)
            yield maybe[mine] - (end - count), place[mine], found.keys[maybe[mine]]
            start = stop


def made(sets: Mapping[str, str], fields: Sequence[str] | None, size: int, least: int) -> Index:
    """The index of some sets (name -> path). Texts of `least` to `size` - 1 words are one n-gram each.

    Raises UserError where a file can't be read, or holds no text to look for.
    """
    examples: list[EvaluationText] = []
    texts: dict[int, list[tuple[int, list[str]]]] = {}
    short = 0
    for name, path in sets.items():
        before = len(examples)
        for example, text in _texts(name, path, fields):
            words = plain_words(text)
            if len(words) < least:
                short += 1
                continue
            texts.setdefault(min(size, len(words)), []).append((len(examples), words))
            examples.append(example)
        if len(examples) == before:
            wanted = f"the fields {', '.join(fields)}" if fields else "any field"
            raise UserError(f"{path}: holds no text of {least} words or more in {wanted}")
    return Index(tuple(examples), short, tuple(_grams(n, texts[n]) for n in sorted(texts)))


def _grams(size: int, texts: list[tuple[int, list[str]]]) -> Grams:
    found = windows([words for _, words in texts], size)
    owners = np.repeat(np.array([index for index, _ in texts], np.int64), found.counts)
    order = np.lexsort((owners, found.checks, found.keys))
    keys, checks, owners = found.keys[order], found.checks[order], owners[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = (keys[1:] != keys[:-1]) | (checks[1:] != checks[:-1])
    marked = np.zeros(1 << MARKED_BITS, np.bool_)
    marked[keys & MARKED] = True
    return Grams(size, keys[first], checks[first], owners[first], marked)


def _texts(name: str, path: str, fields: Sequence[str] | None) -> Iterator[tuple[EvaluationText, str]]:
    for number, row in enumerate(_rows(path)):
        identity = row.get("id", number)
        for field, value in row.items():
            if (fields is None and field != "id") or (fields is not None and field in fields):
                yield from ((EvaluationText(name, str(identity), field), text) for text in _strings(value))


def _strings(value: Any) -> Iterator[str]:
    """The texts in a value: itself, or those in a list or mapping (choices, turns of a dialogue)."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)


def _rows(path: str) -> Iterator[dict[str, Any]]:
    try:
        if path.endswith(".parquet"):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches():
                    yield from batch.to_pylist()
            return
        data = Path(path).read_bytes()
        lines = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8-sig").splitlines()
    except (OSError, EOFError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = cause(error) if isinstance(error, OSError) else type(error).__name__
        raise UserError(f"{path}: can't be read as an evaluation set ({reason}); give JSONL or Parquet") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _row(path, number, line)


def _row(path: str, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise UserError(f"{path}: line {number} is no JSON object; give JSONL or Parquet")
    return row
