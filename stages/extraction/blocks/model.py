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
from stages.extraction.blocks import around
from stages.extraction.blocks import features as f
from stages.extraction.blocks.names import Ballot
from stages.extraction.blocks.page import Floats, Page
from stages.extraction.blocks.trees import Trees

VERSION = 2
OURS = Path(__file__).with_name("model.json")


# Features of both sets of trees, in the order of the matrix's rows: the second is told what the first said as well.
NAMES = (f.NAMES, [*f.NAMES, *around.NAMES])
SETS = ("first", "second")


@dataclass(frozen=True)
class BlocksModel:
    """What `curate train extractor` writes."""

    about: str  # what it was trained on, and under which licence that is
    votes: Mapping[str, float]  # of class words and tags
    first: Trees  # over the features f.NAMES
    second: Trees  # over those and around.NAMES

    @cached_property
    def _ballot(self) -> Ballot:
        return Ballot(self.votes)

    def probability(self, page: Page) -> Floats:
        """Of each block the probability that it is content."""
        described = f.features(page, self._ballot)
        first = self.first.probability(described.matrix)
        return self.second.probability(again(page, described, first))

    def save(self, path: Path) -> None:
        """Writes the file; the same model gives the same bytes."""
        rows: dict[str, Any] = {"version": VERSION, "about": self.about, "votes": dict(sorted(self.votes.items()))}
        for name, names, trees in zip(SETS, NAMES, (self.first, self.second)):
            rows[name] = {
                "features": names,
                "base": trees.base,
                "questions": trees.features.tolist(),
                "limits": [[float(f"{limit:.7g}") for limit in row] for row in trees.limits.tolist()],
                "values": trees.values.tolist(),
            }
        path.write_text(json.dumps(rows, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")


def again(page: Page, described: f.Described, first: Floats) -> NDArray[np.float32]:
    """What the second set of trees is told: the same, and the first one's answers around each block."""
    return np.concatenate([described.matrix, around.surroundings(page, described.group, first)])


@lru_cache(maxsize=4)
def load(path: str | None = None) -> BlocksModel:
    """The model in a file, None for ours, loaded once a process. Raises UserError for what is none."""
    place = OURS if path is None else Path(path)
    try:
        rows = json.loads(place.read_text(encoding="utf-8"))
        if rows["version"] != VERSION:
            raise UserError(f"{place}: has version {rows['version']}, this curate reads {VERSION}; train it again")
        unknown = {name for each in SETS for name in rows[each]["features"]}.difference(NAMES[1])
        if unknown:
            raise UserError(f"{place}: asks for {min(unknown)}, which this curate does not measure; train it again")
        return BlocksModel(
            rows["about"], rows["votes"], *(_trees(rows[each], names) for each, names in zip(SETS, NAMES))
        )
    except OSError as error:
        raise UserError(f"{place}: can't be read ({error.strerror}); give a file of `curate train extractor`") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{place}: is no model of `curate train extractor` ({error})") from None


def _trees(row: Mapping[str, Any], names: Sequence[str]) -> Trees:
    places = np.array([names.index(name) for name in row["features"]], np.int64)
    limits, values = np.array(row["limits"], np.float32), np.array(row["values"], np.int16)
    trees = Trees(float(row["base"]), places[np.array(row["questions"])], limits, values)
    if values.shape != (trees.features.shape[1], 1 << trees.features.shape[0]) or limits.shape != trees.features.shape:
        raise ValueError("trees of odd shape")
    return trees
