"""Is near-duplicate removal right? Exact Jaccard similarity of sampled pairs, from their texts.

Precision: of documents that were dropped for a twin, the share that is as similar to it as the threshold says.
Recall: a sample of kept documents is compared with every kept document through an inverted index of shingles, which
misses nothing; one that resembles an earlier kept document by the threshold should have been dropped.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, NamedTuple

from curate.decide.bands import jaccard
from curate.document import Address, Document
from curate.errors import UserError
from curate.inspect.intervals import Share, wilson
from curate.inspect.lookup import Found, row_at
from curate.inspect.opened import OpenedRun
from curate.inspect.reopen import Gone, Reopened, text_by_belt
from curate.inspect.samples import PLACE, sampled_text
from curate.output.facts import StoredRow
from curate.scan.samples import Samples
from curate.stage import CorpusStage, declared

FLOOR = 0.5  # pairs of kept documents below this similarity are no near misses
STEP = 0.05
WORST = 3  # pairs shown of each kind


class Alike(NamedTuple):
    """What a stage must declare to be audited (`curate.stage.Declared`)."""

    alike_from: float
    recall: Callable[[float], float]
    compared: Callable[[Document], Set[str]]

    @classmethod
    def of(cls, stage: CorpusStage) -> "Alike | None":
        """What a stage declares; None where it estimates no similarity."""
        declaration = declared(stage)
        if declaration.alike_from is None or declaration.recall is None or declaration.compared is None:
            return None
        return cls(declaration.alike_from, declaration.recall, declaration.compared)


@dataclass(frozen=True)
class Pair:
    """Two documents and the exact Jaccard similarity of their texts; `estimate` is what the run estimated."""

    left: str
    right: str
    similarity: float
    estimate: float | None = None


@dataclass(frozen=True)
class SimilarityBin:
    """Pairs of similarity in [low, low + STEP): in the samples, and scaled to the run; `expected` by the S-curve."""

    low: float
    merged: int
    unmerged: int
    share: float | None
    expected: float


@dataclass(frozen=True)
class Audit:
    """What the samples say of one stage."""

    stage: str
    threshold: float
    dropped: int  # documents that the stage dropped
    kept: int  # documents that the run kept
    merged: tuple[Pair, ...]  # the sampled ones
    lost: int  # sampled ones whose text could not be had
    misses: tuple[Pair, ...]  # sampled kept documents with an earlier kept one, most similar first
    compared: int  # kept documents in the sample
    precision: Share
    missed: Share  # of kept documents that should have been dropped
    recall: Share
    bins: tuple[SimilarityBin, ...]


def audit(run: OpenedRun, pairs: int, documents: int, seed: int) -> list[Audit]:
    """Audits each stage of a run that estimates similarity. Raises UserError where there is none."""
    stages = [(name, alike) for name, stage in run.config.corpus_stages if (alike := Alike.of(stage))]
    if not stages:
        raise UserError(f"{run.folder}: no stage of this run estimates similarity (near_dedup does); nothing to audit")
    return [_audit(run, name, stage, pairs, documents, seed) for name, stage in stages]


def _audit(run: OpenedRun, name: str, stage: Alike, pairs: int, documents: int, seed: int) -> Audit:
    dropped = sum(row["documents"] for row in run.stats["dropped"] if row["stage"] == name)
    kept = run.stats["kept"]["documents"]
    chosen = _merged_rows(run, name, pairs, seed)
    merged = [pair for row in chosen if (pair := _merged_pair(run, stage, row))]
    misses, compared = _misses(run, stage, documents, seed)
    precision = wilson(sum(pair.similarity >= stage.alike_from for pair in merged), len(merged))
    missed = wilson(len({pair.left for pair in misses if pair.similarity >= stage.alike_from}), compared)
    weights = (dropped / len(merged) if merged else 0.0, kept / compared if compared else 0.0)
    return Audit(
        name,
        stage.alike_from,
        dropped,
        kept,
        tuple(merged),
        len(chosen) - len(merged),
        tuple(misses),
        compared,
        precision,
        missed,
        _recall(dropped, kept, precision, missed),
        _bins(stage, merged, misses, weights),
    )


def _recall(dropped: int, kept: int, precision: Share, missed: Share) -> Share:
    """Share of documents with a near copy before them that were dropped; both intervals at their worse ends."""

    def share(right: float, left_over: float) -> float:
        found, lost = dropped * right, kept * left_over
        return found / (found + lost) if found + lost else float("nan")

    if not dropped:
        return Share(float("nan"), 0.0, 1.0)
    return Share(
        share(precision.value, missed.value), share(precision.low, missed.high), share(precision.high, missed.low)
    )


def _merged_rows(run: OpenedRun, name: str, most: int, seed: int) -> list[StoredRow]:
    columns = [*PLACE, "stage", "matched_file", "matched_offset", "score", "words"]

    def rows() -> Iterator[StoredRow]:
        for path in run.parts("ledger"):
            for row in run.read_part(path, columns).to_pylist():
                if row["stage"] == name and row["matched_file"] is not None:
                    yield row

    return nsmallest(most, rows(), key=_order(seed))


def _order(seed: int) -> Any:
    hashed = Samples(0, seed).hash
    return lambda row: hashed(row["source"], row["file_path"], row["offset"])


def _merged_pair(run: OpenedRun, stage: Alike, row: StoredRow) -> Pair | None:
    """A dropped document with its twin, compared by their texts; None where a text can't be had."""
    texts = [_text(run, row["file_path"], row["offset"]), _text(run, row["matched_file"], row["matched_offset"])]
    if texts[0] is None or texts[1] is None:
        return None
    sets = [stage.compared(Document(Address("", "", 0), text=text or "")) for text in texts]
    left, right = f"{row['file_path']}:{row['offset']}", f"{row['matched_file']}:{row['matched_offset']}"
    return Pair(left, right, jaccard(*sets), row["score"])


def _text(run: OpenedRun, file: str, offset: int) -> str | None:
    """The text that a document had at the end of the document stages."""
    kept = row_at(run, "shards", file, offset)
    if kept:
        return str(kept["text"])
    row = row_at(run, "ledger", file, offset)
    sample = sampled_text(run, Found("ledger", row)) if row else None
    if sample is not None:
        return sample
    try:
        return text_by_belt(run, Reopened(run).document(file, offset), None)
    except Gone:
        return None


def _misses(run: OpenedRun, stage: Alike, most: int, seed: int) -> tuple[list[Pair], int]:
    """Sampled kept documents with kept ones before them that are at least FLOOR similar, and the size of the sample."""
    places = {row["place"]: row for row in _kept(run, with_text=False)}
    chosen = nsmallest(most, places.values(), key=lambda row: Samples(0, seed).hash("", *row["place"]))
    order = {row["place"]: row["number"] for row in chosen}
    sets: dict[tuple[str, int], Set[str]] = {}
    holders: dict[str, list[tuple[str, int]]] = {}
    for row in _kept(run, with_text=True, only=set(order)):
        sets[row["place"]] = stage.compared(Document(Address("", "", 0), text=row["text"]))
        for item in sets[row["place"]]:
            holders.setdefault(item, []).append(row["place"])
    found = []
    for row in _kept(run, with_text=True):
        items = stage.compared(Document(Address("", "", 0), text=row["text"]))
        shared: dict[tuple[str, int], int] = {}
        for item in holders.keys() & items:
            for place in holders[item]:
                shared[place] = shared.get(place, 0) + 1
        for place, both in shared.items():
            similarity = both / (len(items) + len(sets[place]) - both)
            if row["number"] < order[place] and similarity >= FLOOR:
                found.append(Pair(_address(place), _address(row["place"]), similarity))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.left, pair.right)), len(chosen)


def _address(place: tuple[str, int]) -> str:
    return f"{place[0]}:{place[1]}"


def _kept(run: OpenedRun, with_text: bool, only: set[tuple[str, int]] | None = None) -> Iterator[StoredRow]:
    """Kept documents with their place in crawl order; each once, however often it was written."""
    files = {name: number for number, name in enumerate(run.files)}
    seen: set[tuple[str, int]] = set()
    for path in run.parts("shards"):
        table = run.read_part(path, ["file_path", "offset", *(["text"] if with_text else [])])
        for batch in table.to_batches(max_chunksize=1024):
            for row in batch.to_pylist():
                place = row["file_path"], row["offset"]
                if place in seen or (only is not None and place not in only):
                    continue
                seen.add(place)
                yield {"place": place, "number": (files[row["file_path"]], row["offset"]), "text": row.get("text")}


def _bins(
    stage: Alike, merged: list[Pair], misses: list[Pair], weights: tuple[float, float]
) -> tuple[SimilarityBin, ...]:
    """Pairs by similarity: the share that was merged, scaled to the whole run, beside what the S-curve promises."""
    bins = []
    for number in range(round(FLOOR / STEP), round(1 / STEP) + 1):
        low = round(number * STEP, 10)
        count = [sum(int(pair.similarity / STEP + 1e-9) == number for pair in pairs) for pairs in (merged, misses)]
        scaled = count[0] * weights[0], count[1] * weights[1]
        share = scaled[0] / sum(scaled) if sum(scaled) else None
        middle = min(1.0, low + STEP / 2) if low < 1 else 1.0
        bins.append(SimilarityBin(low, count[0], count[1], share, stage.recall(middle)))
    return tuple(bins)
