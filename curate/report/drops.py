"""Sampled drops of every rule, with their cause."""

from dataclasses import dataclass
from typing import Any

import pyarrow.dataset as ds

from curate.report.evidence import Span, spans
from curate.report.opened import OpenedRun

EXCERPT, BEFORE = 700, 120  # characters shown of a text, and of those before the first evidence
MOST_SPANS = 60


@dataclass(frozen=True)
class Sample:
    """A dropped page: its row of samples/ and of the ledger, and a part of its text with the cause in it."""

    row: dict[str, Any]
    excerpt: str
    evidence: tuple[Span, ...]  # within the excerpt
    found: int  # in the whole text
    before: bool  # whether the text has more before and after the excerpt
    after: bool


def samples(run: OpenedRun, most: int) -> dict[tuple[str, str], list[Sample]]:
    """Per stage and reason, up to `most` dropped pages: those with the smallest hashes, so chosen at random."""
    table = run.table("samples")
    if not most or "hash" not in table.schema.names:
        return {}
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for batch in table.to_batches(columns=["stage", "reason", "hash", "file_path", "offset", "url", "value", "limit"]):
        for row in batch.to_pylist():
            rows.setdefault((row["stage"], row["reason"]), []).append(row)
    chosen = {
        key: sorted(found, key=lambda row: (row["hash"], row["file_path"], row["offset"]))[:most]
        for key, found in rows.items()
    }
    texts = {(r["file_path"], r["offset"]): r["text"] for r in _at(table, chosen, ["text"])}
    entries = {
        (r["file_path"], r["offset"]): r
        for r in _at(
            run.table("ledger"),
            chosen,
            ["url", "language", "cause", "score", "matched_file", "matched_offset", "words"],
        )
    }
    found_samples = {}
    for key, group in chosen.items():
        found_samples[key] = [
            _sample(
                {**row, **entries.get((row["file_path"], row["offset"]), {})},
                texts.get((row["file_path"], row["offset"])) or "",
            )
            for row in group
        ]
    return found_samples


def _at(
    table: ds.Dataset, chosen: dict[tuple[str, str], list[dict[str, Any]]], columns: list[str]
) -> list[dict[str, Any]]:
    offsets = sorted({row["offset"] for group in chosen.values() for row in group})
    found = table.to_table(columns=["file_path", "offset", *columns], filter=ds.field("offset").isin(offsets))
    return list(found.to_pylist())


def _sample(row: dict[str, Any], text: str) -> Sample:
    evidence = spans(row["stage"], row["reason"], text)
    start = max(0, evidence[0][0] - BEFORE) if evidence and evidence[0][0] > EXCERPT - BEFORE else 0
    end = min(len(text), start + EXCERPT)
    within = tuple((max(a, start) - start, min(b, end) - start) for a, b in evidence if a < end and b > start)[
        :MOST_SPANS
    ]
    return Sample(row, text[start:end], within, len(evidence), start > 0, end < len(text))
