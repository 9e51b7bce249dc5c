"""Clusters of duplicates: how large they are, and the largest ones with their pages.

A cluster is a page that others were dropped for, and those others: one row of the ledger each, by `matched_file`
and `matched_offset`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from curate.inspect.opened import OpenedRun
from curate.report.addresses import Place, kept_texts, rows_at

LARGEST, MEMBERS, EXCERPT = 10, 5, 600  # clusters shown, pages shown of each, characters of the twin's text
ROW_GROUPS = 24  # most row groups of shards that are read for texts


@dataclass
class DuplicateCluster:
    """A page that others were dropped for by one stage. `size` counts it too."""

    stage: str
    address: Place
    size: int
    url: str | None = None
    fate: str = "kept"  # or the stage that dropped it later
    text: str | None = None
    domains: int = 0
    lowest: float | None = None  # similarity of the least similar member
    members: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Duplicates:
    """Clusters of one corpus stage: `sizes[i]` clusters of size (low, high) in `bins[i]`."""

    stage: str
    dropped: int
    clusters: int
    sizes: tuple[tuple[str, int], ...]
    largest: tuple[DuplicateCluster, ...]


def duplicates(run: OpenedRun) -> list[Duplicates]:
    """The clusters of every corpus stage that named twins, in the order of the config."""
    keys = ["stage", "matched_file", "matched_offset"]
    matched = run.read("ledger", keys)
    matched = matched.filter(pc.is_valid(matched.column("matched_offset")))
    found = []
    for stage in run.options:
        rows = matched.filter(pc.equal(matched.column("stage"), stage))
        grouped = rows.group_by(keys[1:]).aggregate([([], "count_all")])
        clusters = [
            DuplicateCluster(stage, (file, offset), dropped + 1)
            for dropped, file, offset in zip(*(grouped.column(name).to_pylist() for name in ("count_all", *keys[1:])))
        ]
        clusters.sort(key=lambda cluster: (-cluster.size, cluster.address))
        if clusters:
            sizes = _sizes(cluster.size for cluster in clusters)
            found.append(Duplicates(stage, rows.num_rows, len(clusters), sizes, tuple(clusters[:LARGEST])))
    shown = [cluster for one in found for cluster in one.largest]
    _add_members(run, shown)
    _add_twins(run, shown)
    return found


def _sizes(sizes: Iterable[int]) -> tuple[tuple[str, int], ...]:
    """Clusters by size: 2, 3, 4, then powers of two (5-8, 9-16, …), without gaps up to the largest."""
    counts: dict[int, int] = {}
    for size in sizes:
        upper = size if size <= 4 else 1 << (size - 1).bit_length()
        counts[upper] = counts.get(upper, 0) + 1
    uppers = [2, 3, 4]
    while uppers[-1] < max(counts):
        uppers.append(uppers[-1] * 2)
    return tuple(
        (str(upper) if upper <= 4 else f"{upper // 2 + 1}–{upper}", counts.get(upper, 0))
        for upper in uppers
        if upper <= max(counts)
    )


def _add_members(run: OpenedRun, clusters: list[DuplicateCluster]) -> None:
    by_key = {(cluster.stage, cluster.address): cluster for cluster in clusters}
    offsets = pa.array(sorted({cluster.address[1] for cluster in clusters}), pa.int64())
    columns = ["stage", "matched_file", "matched_offset", "file_path", "offset", "url", "domain", "score"]
    tables = (run.read_part(path, columns) for path in run.parts("ledger"))
    rows = (row for part in tables for row in part.filter(pc.is_in(part.column("matched_offset"), offsets)).to_pylist())
    domains: dict[tuple[str, Place], set[str]] = {}
    for row in rows:
        key = (row["stage"], (row["matched_file"], row["matched_offset"]))
        cluster = by_key.get(key)
        if cluster is None:
            continue
        domains.setdefault(key, set()).add(row["domain"] or "")
        if row["score"] is not None:
            cluster.lowest = row["score"] if cluster.lowest is None else min(cluster.lowest, row["score"])
        if len(cluster.members) < MEMBERS:
            cluster.members.append(row)
    for key, names in domains.items():
        by_key[key].domains = len(names)


def _add_twins(run: OpenedRun, clusters: list[DuplicateCluster]) -> None:
    """URL and fate of the page of each cluster that the others were dropped for; its text where that is cheap."""
    wanted = sorted({cluster.address for cluster in clusters})
    facts: dict[Place, dict[str, Any]] = {}
    for row in rows_at(run, "ledger", wanted, ["url", "stage"]):
        facts[row["file_path"], row["offset"]] = row
    for row in rows_at(run, "shards", wanted, ["url"]):
        facts[row["file_path"], row["offset"]] = {**row, "stage": "kept"}
    texts = kept_texts(run, wanted, ROW_GROUPS)
    for cluster in clusters:
        fact = facts.get(cluster.address, {})
        cluster.url, cluster.fate = fact.get("url"), fact.get("stage", "unknown")
        kept = texts.get(cluster.address)
        cluster.text = kept.text[:EXCERPT] or None if kept else None
