"""Which kept document goes into which shard, and in how many shards."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash

from curate.config.file import Config
from curate.decide.survivors import Survivors
from curate.decide.verdicts import VerdictTable
from curate.output.schema import shard_schema
from curate.routed.left_out import LeftOut, choose
from curate.routed.names import folder_name, folder_names
from curate.scan.tasks import load_run

NOT_KEPT = -1
NO_VALUE = "\0"  # the group of documents without a value; no text holds this character


@dataclass(frozen=True)
class Shard:
    """One output file: its name under `shards/`, its number, and the tasks [first, last] its rows come from.

    `left_out` is the column that its folder tells.
    """

    name: str
    number: int
    first_task: int
    last_task: int
    rows: int
    left_out: LeftOut | None = None


def plan_shards(survivors: Survivors, verdicts: VerdictTable, config: Config, work: Path) -> list[Shard]:
    """Assigns every kept document to a shard (stored in `work/shard_of`, an int32 each, NOT_KEPT for none) and
    returns the shards in order.

    Crawl order: a shard takes documents until its even share of the bytes is reached. Shuffle: by hash ranges.
    """
    shares = Shares(config, _totals(survivors, verdicts, config))
    rows = np.zeros(shares.count, np.int64)
    first, last = np.full(shares.count, -1), np.full(shares.count, -1)
    with (work / "shard_of.tmp").open("wb") as out:
        for task, start, sizes, groups in _kept(survivors, verdicts, config):
            assigned = shares.assign(start, sizes, groups)
            out.write(assigned.tobytes())
            used, counts = np.unique(assigned[assigned >= 0], return_counts=True)
            rows[used] += counts
            first[used] = np.where(first[used] < 0, task, first[used])
            last[used] = task
    (work / "shard_of.tmp").rename(work / "shard_of")
    left_out = choose(config.write.by, shares.folders, shard_schema(load_run(str(survivors.work)).types))
    return [
        Shard(name, number, int(first[number]), int(last[number]), int(rows[number]), left_out)
        for number, name in enumerate(shares.names())
        if rows[number]
    ]


class Shares:
    """How many shards each group gets, and which documents go into each. `totals` are text bytes by group."""

    def __init__(self, config: Config, totals: dict[str, int]) -> None:
        self.config, self.totals = config, totals
        self.of = {group: max(1, -(-size // config.write.shard_bytes)) for group, size in sorted(totals.items())}
        ends = np.cumsum([0, *self.of.values()]).tolist()
        self.first = dict(zip(self.of, ends, strict=False))
        self.count: int = ends[-1]
        self.taken = dict.fromkeys(totals, 0)

    @property
    def folders(self) -> dict[str | None, str]:
        """The folder's name of each value (None where there is none), as text."""
        return folder_names(_value(group) for group in self.of)

    def names(self) -> Iterator[str]:
        """File names of all shards in order."""
        by = self.config.write.by
        folders = self.folders
        for group, count in self.of.items():
            folder = f"{folder_name(by)}={folders[_value(group)]}/" if by else ""
            yield from (f"{folder}part-{number:05d}.parquet" for number in range(count))

    def assign(self, start: int, sizes: np.ndarray, groups: list[str]) -> np.ndarray:
        """Shard numbers of documents `start`…, given text bytes (-1 where dropped) and group of each."""
        assigned = np.full(len(sizes), NOT_KEPT, dtype="<i4")
        for group in sorted(set(groups) & set(self.of)):
            members = np.flatnonzero(np.array([g == group for g in groups]) & (sizes >= 0))
            place = self._by_hash if self.config.write.order == "shuffle" else self._by_bytes
            assigned[members] = self.first[group] + place(group, start + members, sizes[members])
        return assigned

    def _by_hash(self, group: str, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        keys = [shuffle_key(self.config, int(number)) % self.of[group] for number in numbers]
        return np.array(keys, dtype=np.int64)

    def _by_bytes(self, group: str, numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        before = self.taken[group] + np.concatenate([[0], np.cumsum(sizes)])
        self.taken[group] = int(before[-1])
        parts: np.ndarray = np.minimum(before[:-1] * self.of[group] // max(1, self.totals[group]), self.of[group] - 1)
        return parts


def _value(group: str) -> str | None:
    return None if group == NO_VALUE else group


def shuffle_key(config: Config, number: int) -> int:
    """Where a survivor stands in a shuffled output: a hash of seed and number."""
    seed = config.seed if config.write.seed is None else config.write.seed
    return xxhash.xxh3_64_intdigest(number.to_bytes(8, "little"), seed=seed & (2**64 - 1))


def _totals(survivors: Survivors, verdicts: VerdictTable, config: Config) -> dict[str, int]:
    totals: dict[str, int] = {}
    for _, _, sizes, groups in _kept(survivors, verdicts, config):
        for group in sorted(set(groups)):
            members = sizes[np.array([g == group for g in groups])]
            if (members >= 0).any():
                totals[group] = totals.get(group, 0) + int(members[members >= 0].sum())
    return totals


def _kept(
    survivors: Survivors, verdicts: VerdictTable, config: Config
) -> Iterator[tuple[int, int, np.ndarray, list[str]]]:
    """Pieces of survivors: (task, first number, text bytes or -1 where dropped, group of each)."""
    by = config.write.by
    columns = ["bytes"] + ([f"@{by}"] if by and by != "source" else [])
    for task, count in enumerate(survivors.counts):
        if not count:
            continue
        for start, table in survivors.batches(task, columns):
            kept = verdicts.slice(start, start + table.num_rows).stage == 0
            sizes = np.where(kept, table.column("bytes").to_numpy(), NOT_KEPT)
            if by is None:
                groups = [""] * table.num_rows
            elif by == "source":
                groups = [survivors.source(task)] * table.num_rows
            else:
                groups = [NO_VALUE if v is None else str(v) for v in table.column(f"@{by}").to_pylist()]
            yield task, start, sizes, groups
