"""The drop report by language, source, domain or day."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curate.inspect.funnel import tokens
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import keys
from curate.output.schema import domain

GROUPS = ("language", "source", "domain", "day")


def breakdown(run: OpenedRun, by: str) -> list[dict[str, Any]]:
    """One row a group, most pages first: pages read, dropped by each stage, kept; words, bytes and tokens kept.

    Pages that were dropped before the group was known (a language, a domain) are one row with None as the group.
    """
    stages: dict[Any, dict[str, int]] = {}
    kept: dict[Any, dict[str, int]] = {}
    for group, stage, documents in _dropped(run, by):
        of_group = stages.setdefault(group, {})
        of_group[stage] = of_group.get(stage, 0) + documents
    for group, numbers in _kept(run, by):
        total = kept.setdefault(group, dict.fromkeys(("documents", "words", "bytes", "tokens"), 0))
        for name in total:
            total[name] += numbers[name] or 0
    rows = [_row(run, by, group, stages.get(group, {}), kept.get(group)) for group in {**stages, **kept}]
    return sorted(rows, key=lambda row: (-row["pages"], row[by] is None, row[by] or ""))


def _row(run: OpenedRun, by: str, group: Any, stages: dict[str, int], kept: dict[str, int] | None) -> dict[str, Any]:
    numbers = kept or dict.fromkeys(("documents", "words", "bytes", "tokens"), 0)
    read = numbers["documents"] + sum(stages.values())
    return {
        by: group,
        "pages": read,
        "dropped": {stage: stages[stage] for stage in run.stats["stages"] if stage in stages},
        "kept": numbers["documents"],
        "kept_share": numbers["documents"] / read if read else 0.0,
        "words": numbers["words"],
        "bytes": numbers["bytes"],
        "tokens": numbers["tokens"] or tokens(run.stats, numbers["words"]),
    }


def _dropped(run: OpenedRun, by: str) -> Iterator[tuple[Any, str, int]]:
    """(group, stage, documents) of what was dropped."""
    if by in ("language", "source"):
        for lost in run.stats["dropped"]:
            yield lost["language"] if by == "language" else lost["source"], lost["stage"], lost["documents"]
        return
    for path in run.parts("ledger"):
        table = run.read_part(path, ["domain" if by == "domain" else "date", "stage"])
        group = table.column(0) if by == "domain" else _days(table.column(0))
        grouped = pa.table({"group": group, "stage": table.column("stage")}).group_by(["group", "stage"])
        for row in grouped.aggregate([([], "count_all")]).to_pylist():
            yield row["group"] or None, row["stage"], row["count_all"]


def _kept(run: OpenedRun, by: str) -> Iterator[tuple[Any, dict[str, int]]]:
    """(group, documents, words, bytes, tokens) of what was kept."""
    if by in ("language", "source"):
        for kept in run.stats["kept_by"]:
            numbers = {"documents": kept["documents"], "words": kept["words"], "bytes": kept["bytes"]}
            yield kept["language"] if by == "language" else kept["source"], {**numbers, "tokens": kept["tokens"]}
        return
    repeated = run.stats["kept"]["rows"] != run.stats["kept"]["documents"]
    sizes = Sizes(run)
    for path in run.parts("shards"):
        columns = ["url" if by == "domain" else "date", "token_count", "file_path", "offset", *sizes.columns]
        table = run.read_part(path, columns)
        if repeated:  # whole passes of the mixture written as rows: each document counts once
            table = table.take(_firsts(table))
        column = table.column(0)
        group = pa.array([domain(url or "") for url in column.to_pylist()]) if by == "domain" else _days(column)
        words, size = sizes.of(table)
        grouped = pa.table({"group": group, "words": words, "bytes": size, "tokens": table.column("token_count")})
        sums: list[Any] = [([], "count_all"), ("words", "sum"), ("bytes", "sum"), ("tokens", "sum")]
        for row in grouped.group_by("group").aggregate(sums).to_pylist():
            yield (
                row["group"] or None,
                {
                    "documents": row["count_all"],
                    "words": row["words_sum"],
                    "bytes": row["bytes_sum"],
                    "tokens": row["tokens_sum"] or 0,
                },
            )


class Sizes:
    """Words and bytes of kept texts: as measured where rule stages measured them, else counted in the texts."""

    def __init__(self, run: OpenedRun) -> None:
        self.run = run
        self.columns = [] if run.columns("measures") and run.parts("measures") else ["text"]
        if not self.columns:
            table = run.read("measures", ["file_path", "offset", "words", "bytes"])
            self.key = keys(run, table["file_path"], table["offset"])
            self.words, self.bytes = table["words"].to_numpy(), table["bytes"].to_numpy()

    def of(self, table: pa.Table) -> tuple[Any, Any]:
        """Words and bytes of each row of a shard."""
        if self.columns:
            text = table.column("text")
            split = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(text))  # the white space of str.split
            return pc.list_value_length(split), pc.binary_length(text)
        place = np.searchsorted(self.key, keys(self.run, table["file_path"], table["offset"]))
        return pa.array(self.words[place]), pa.array(self.bytes[place])


def _firsts(table: pa.Table) -> pa.Array:
    place = pa.table(
        {
            "file": table.column("file_path"),
            "offset": table.column("offset"),
            "row": pa.array(np.arange(table.num_rows)),
        }
    )
    return place.group_by(["file", "offset"]).aggregate([("row", "min")]).column("row_min").combine_chunks()


def _days(dates: pa.ChunkedArray) -> pa.ChunkedArray:
    """The day of ISO dates, YYYY-MM-DD."""
    return pc.utf8_slice_codeunits(dates, 0, 10)
