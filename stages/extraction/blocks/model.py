"""The model of `engine: blocks`: votes of class words, and two sets of trees. One JSON file of numbers and names."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curate.errors import UserError
from stages.extraction.blocks import features as f
from stages.extraction.blocks.around import surroundings
from stages.extraction.blocks.names import Ballot
from stages.extraction.blocks.page import Floats, Page, page
from stages.extraction.blocks.stream import stream
from stages.extraction.blocks.trees import Trees

VERSION = 1
SCALE = 10_000  # values of trees are whole numbers of this part of a log-odd
_SAMPLE = "<p>A page of one line.</p>"
OURS = Path(__file__).with_name("model.json")


@dataclass(frozen=True)
class Model:
    """What `curate train extractor` writes."""

    about: str  # what it was trained on, and under which licence that is
    votes: Mapping[str, float]  # of class words and tags
    names: tuple[Sequence[str], Sequence[str]]  # features of both sets of trees, in the order of their numbers
    first: Trees
    second: Trees

    @cached_property
    def _ballot(self) -> Ballot:
        return Ballot(self.votes)

    def probability(self, page: Page, source: str) -> Floats:
        """Of each block the probability that it is content."""
        told = f.features(page, source, self._ballot)
        first = self.first.probability(matrix(told, self.names[0], page.count))
        return self.second.probability(matrix(told | around(page, told, first), self.names[1], page.count))

    def check(self) -> None:
        """Raises UserError where it asks for features that this version does not make."""
        tags = stream(_SAMPLE)
        blocks = None if tags is None else page(tags)
        if blocks is None:
            raise AssertionError("the sample has text")
        try:
            self.probability(blocks, _SAMPLE)
        except KeyError as error:
            raise UserError(f"the model asks for {error}, which this curate does not measure; train it again") from None

    def save(self, path: Path) -> None:
        """Writes the file; the same model gives the same bytes."""
        rows: dict[str, Any] = {"version": VERSION, "about": self.about, "votes": dict(sorted(self.votes.items()))}
        for name, names, trees in zip(("first", "second"), self.names, (self.first, self.second)):
            rows[name] = {
                "features": list(names), "base": trees.base, "questions": trees.features.tolist(),
                "limits": [[float(f"{limit:.7g}") for limit in row] for row in trees.limits.tolist()],
                "values": np.round(trees.values * SCALE).astype(int).tolist(),
            }  # fmt: skip
        path.write_text(json.dumps(rows, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")


def around(page: Page, told: f.Features, first: Floats) -> f.Features:
    """What the second set of trees is told besides: the first one's answers around each block."""
    return surroundings(page, np.asarray(told["group"]).astype(np.int64), first)


def matrix(told: f.Features, names: Sequence[str], count: int) -> NDArray[np.float32]:
    """Features by name as rows of one matrix (features, blocks)."""
    rows = np.empty((len(names), count), np.float32)
    for row, name in enumerate(names):
        rows[row] = told[name]
    return rows


@lru_cache(maxsize=4)
def load(path: str | None = None) -> Model:
    """The model in a file, None for ours, loaded once a process. Raises UserError for what is none."""
    place = OURS if path is None else Path(path)
    try:
        rows = json.loads(place.read_text(encoding="utf-8"))
        if rows["version"] != VERSION:
            raise UserError(f"{place}: has version {rows['version']}, this curate reads {VERSION}; train it again")
        looks = [_trees(rows[name]) for name in ("first", "second")]
        names = tuple(rows[name]["features"] for name in ("first", "second"))
        return Model(rows["about"], rows["votes"], (names[0], names[1]), looks[0], looks[1])
    except OSError as error:
        raise UserError(f"{place}: can't be read ({error.strerror}); give a file of `curate train extractor`") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{place}: is no model of `curate train extractor` ({error})") from None


def _trees(row: Mapping[str, Any]) -> Trees:
    values = np.array(row["values"], np.float32) / np.float32(SCALE)
    limits = np.array(row["limits"], np.float32)
    trees = Trees(float(row["base"]), np.array(row["questions"], np.int64), limits, values)
    if trees.values.shape != (trees.features.shape[1], 1 << trees.features.shape[0]):
        raise ValueError("trees of odd shape")
    return trees
