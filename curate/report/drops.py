"""Sampled drops of every rule, with their cause."""

from dataclasses import dataclass
from typing import Any

from curate.inspect.evidence import Span, spans, unlike
from curate.inspect.opened import OpenedRun
from curate.report.addresses import Place, kept_texts, rows_at

EXCERPT, BEFORE = 700, 120  # characters shown of a text, and of those before the first evidence
MOST_SPANS = 60
ROW_GROUPS = 24  # most row groups of shards that are read for the texts of twins
SAMPLE_COLUMNS = ["stage", "reason", "hash", "file_path", "offset", "url", "value", "limit"]
LEDGER_COLUMNS = ["url", "language", "cause", "score", "matched_file", "matched_offset"]


@dataclass(frozen=True)
class Sample:
    """A dropped page: its row of samples/ and of the ledger, and a part of its text with the cause in it."""

    row: dict[str, Any]
    excerpt: str
    evidence: tuple[Span, ...]  # within the excerpt
    found: int  # in the whole text
    before: bool  # whether the text has more before and after the excerpt
    after: bool
    compared: bool  # whether the evidence is what the page has and its twin has not


def samples(run: OpenedRun, most: int) -> dict[tuple[str, str], list[Sample]]:
    """Per stage and reason, up to `most` dropped pages: those with the smallest hashes, so chosen at random."""
    chosen = _chosen(run, most)
    addresses = [_address(row) for group in chosen.values() for row in group]
    texts = {_address(row): row["text"] or "" for row in rows_at(run, "samples", addresses, ["text"])}
    entries = {_address(row): row for row in rows_at(run, "ledger", addresses, LEDGER_COLUMNS)}
    twins = [twin for entry in entries.values() if (twin := _twin(entry))]
    twin_texts = kept_texts(run, twins, ROW_GROUPS)
    found: dict[tuple[str, str], list[Sample]] = {}
    for key, group in chosen.items():
        for row in group:
            entry = entries.get(_address(row), {})
            twin_text = twin_texts.get(_twin(entry) or ("", -1))
            found.setdefault(key, []).append(_sample({**row, **entry}, texts[_address(row)], twin_text))
    return found


def _chosen(run: OpenedRun, most: int) -> dict[tuple[str, str], list[dict[str, Any]]]:
    if not most or not run.parts("samples"):
        return {}
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in run.read("samples", SAMPLE_COLUMNS).to_pylist():
        rows.setdefault((row["stage"], row["reason"]), []).append(row)
    return {
        key: sorted(found, key=lambda row: (row["hash"], row["file_path"], row["offset"]))[:most]
        for key, found in rows.items()
    }


def _address(row: dict[str, Any]) -> Place:
    return row["file_path"], row["offset"]


def _twin(entry: dict[str, Any]) -> Place | None:
    return (entry["matched_file"], entry["matched_offset"]) if entry.get("matched_file") else None


def _start(text: str, first: int) -> int:
    """Where an excerpt begins that holds the first evidence: at a word."""
    if first <= EXCERPT - BEFORE:
        return 0
    start = max(0, min(first - BEFORE, len(text) - EXCERPT))
    return start + text[start:first].find(" ") + 1


def _sample(row: dict[str, Any], text: str, twin: str | None) -> Sample:
    evidence = spans(row["stage"], row["reason"], text) if twin is None else unlike(text, twin)
    start = _start(text, evidence[0][0]) if evidence else 0
    end = min(len(text), start + EXCERPT)
    inside = [(max(a, start) - start, min(b, end) - start) for a, b in evidence if a < end and b > start]
    return Sample(
        row=row,
        excerpt=text[start:end],
        evidence=tuple(inside[:MOST_SPANS]),
        found=len(evidence),
        before=start > 0,
        after=end < len(text),
        compared=twin is not None,
    )
