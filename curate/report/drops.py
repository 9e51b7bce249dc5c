"""Sampled drops of every rule, with their cause."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from curate.inspect.evidence import Span, spans, unlike
from curate.inspect.opened import OpenedRun
from curate.report.addresses import KeptText, Place, kept_texts, rows_at
from curate.report.kept_pages import KeptPage, KeptPages, Near

EXCERPT, BEFORE = 700, 120  # characters shown of a text, and of those before the first evidence
BESIDE = 500  # characters shown of a kept page
MOST_SPANS = 60
ROW_GROUPS = 24  # most row groups of shards that are read for the texts of twins
SAMPLE_COLUMNS = ["stage", "reason", "hash", "file_path", "offset", "url", "value", "limit"]
LEDGER_COLUMNS = ["url", "language", "cause", "score", "matched_file", "matched_offset"]


@dataclass(frozen=True)
class Beside:
    """A kept page to read beside a dropped one: its twin, or one that passed the limit by little."""

    place: Place
    url: str | None
    excerpt: str
    evidence: tuple[Span, ...]  # within the excerpt: what a twin has and the dropped page has not
    before: bool
    after: bool
    near: Near | None  # None for a twin


@dataclass(frozen=True)
class DroppedPage:
    """A dropped page: its row of samples/ and of the ledger, and a part of its text with the cause in it."""

    row: dict[str, Any]
    excerpt: str
    evidence: tuple[Span, ...]  # within the excerpt
    found: int  # in the whole text
    before: bool  # whether the text has more before and after the excerpt
    after: bool
    compared: bool  # whether the evidence is what the page has and its twin has not
    beside: Beside | None = None


def samples(run: OpenedRun, most: int, kept: KeptPages) -> dict[tuple[str, str], list[DroppedPage]]:
    """Per stage and reason, up to `most` dropped pages: those with the smallest hashes, so chosen at random."""
    chosen = _chosen(run, most)
    addresses = [_address(row) for group in chosen.values() for row in group]
    texts = {_address(row): row["text"] or "" for row in rows_at(run, "samples", addresses, ["text"])}
    entries = {_address(row): row for row in rows_at(run, "ledger", addresses, LEDGER_COLUMNS)}
    twins = [twin for entry in entries.values() if (twin := _twin(entry))]
    twin_texts = kept_texts(run, twins, ROW_GROUPS)
    near = {key: kept.beside(*key, len(group)) for key, group in chosen.items()}
    pages = kept.pages(one.number for some in near.values() for one in some)
    found: dict[tuple[str, str], list[DroppedPage]] = {}
    for key, group in chosen.items():
        for place, row in enumerate(group):
            entry, text = entries.get(_address(row), {}), texts[_address(row)]
            kept_twin = twin_texts.get(_twin(entry) or ("", -1))
            one = _sample({**row, **entry}, text, kept_twin)
            if not kept_twin and not _twin(entry) and place < len(near[key]):
                one = replace(one, beside=_passed(near[key][place], pages))
            found.setdefault(key, []).append(one)
    return found


def _passed(near: Near, pages: dict[int, KeptPage]) -> Beside:
    page = pages[near.number]
    return Beside(page.place, page.url, page.text[:BESIDE], (), False, len(page.text) > BESIDE, near)


def _of_twin(place: Place, twin: KeptText, text: str, start: int | None) -> Beside:
    """The twin's text from where that of its copy is shown; from what the twin has more where the copy has nothing."""
    own = unlike(twin.text, text)
    if start is None:
        start = _start(twin.text, own[0][0]) if own else 0
    start = min(start, max(0, len(twin.text) - BESIDE))
    end = min(len(twin.text), start + EXCERPT)
    evidence = _inside(own, start, end)
    return Beside(place, twin.url, twin.text[start:end], evidence, start > 0, end < len(twin.text), None)


def _inside(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """Those of a text that an excerpt holds, within it."""
    found = [(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start]
    return tuple(found[:MOST_SPANS])


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


def _sample(row: dict[str, Any], text: str, twin: KeptText | None) -> DroppedPage:
    evidence = spans(row["stage"], row["reason"], text) if twin is None else unlike(text, twin.text)
    start = _start(text, evidence[0][0]) if evidence else 0
    end = min(len(text), start + EXCERPT)
    return DroppedPage(
        row=row,
        excerpt=text[start:end],
        evidence=_inside(evidence, start, end),
        found=len(evidence),
        before=start > 0,
        after=end < len(text),
        compared=twin is not None,
        beside=_of_twin(_twin(row) or ("", -1), twin, text, start if evidence else None) if twin else None,
    )
