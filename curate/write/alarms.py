"""Alarms: what a person should look at before trusting a run.

A source or domain that loses nearly everything to twins elsewhere is more often a fault of the thresholds (or of an
extraction that returns the same text for every page) than a property of the web. What else is odd, a corpus stage says
of its notes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from curate.config.file import Config
from curate.executors.executor import Executor, results
from curate.output.facts import AlarmRow
from curate.output.schema import domain
from curate.output.written import TableFacts
from curate.scan.tasks import ScanResult
from curate.sources.columns import UNFIT, UNSEEN
from curate.stage import declared

# Rounded by judgement, none from a paper: few enough alarms that each is worth a look.
FEWEST_DOCUMENTS = 100  # what is smaller gives no alarm
LOST_SHARE = 0.95
MOST_DOMAINS = 1_000  # that are looked at: those that lost most


@dataclass(frozen=True)
class DomainTask:
    """Counts the kept documents of some domains in one shard."""

    path: str
    domains: tuple[str, ...]


def kept_of(task: DomainTask) -> dict[str, int]:
    """Rows of each domain in a shard."""
    wanted = set(task.domains)
    counts: Counter[str] = Counter()
    with pq.ParquetFile(task.path) as file:
        for batch in file.iter_batches(columns=["url"]):
            counts.update(host for url in batch.column(0).to_pylist() if (host := domain(url or "")) in wanted)
    return dict(counts)


def alarms(
    config: Config,
    parts: list[TableFacts],
    kept_by_source: Mapping[str, int],
    shards: Iterable[Path],
    notes: Mapping[str, Mapping[str, int]],
    executor: Executor,
) -> list[AlarmRow]:
    """All alarms: of sources and domains by the facts of the ledger's parts, of corpus stages by their `notes`."""
    lost = {kind: _summed(part["lost"][kind] for part in parts) for kind in ("source", "domain")}
    found = _nearly_lost("source_lost", lost["source"], kept_by_source)
    suspects = [name for name, count in lost["domain"].most_common(MOST_DOMAINS) if count >= FEWEST_DOCUMENTS]
    if suspects:
        tasks = [DomainTask(str(path), tuple(sorted(suspects))) for path in shards]
        kept = _summed(results(executor, kept_of, tasks))
        found += _nearly_lost("domain_lost", {name: lost["domain"][name] for name in suspects}, kept)
    for name, stage in sorted(config.corpus_stages):
        alarmed = declared(stage).alarmed
        for alarm in alarmed(notes.get(name, {})) if alarmed else ():
            about = f"{name} {alarm.group}".strip()
            found.append({"alarm": alarm.kind, "name": about, "dropped": alarm.dropped, "of": alarm.of})
    return found


def column_alarms(scanned: Iterable[tuple[str, ScanResult]]) -> list[AlarmRow]:
    """Columns that could not hold some values of a source, which are null, and keys that were met too late for one."""
    kinds = {UNFIT: "column_unfit", UNSEEN: "column_unseen"}
    lost, of = Counter[tuple[str, str]](), Counter[str]()
    for source, result in scanned:
        of[source] += result["documents"]
        for note, count in result["notes"].items():
            kind, _, column = note.partition(":")
            lost[kinds[kind], f"{source}.{column}"] += count
    return [
        {"alarm": kind, "name": name, "dropped": count, "of": of[name.partition(".")[0]] or count}
        for (kind, name), count in sorted(lost.items())
    ]


def _summed(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return total


def _nearly_lost(alarm: str, lost: Mapping[str, int], kept: Mapping[str, int]) -> list[AlarmRow]:
    found: list[AlarmRow] = []
    for name, count in sorted(lost.items()):
        of = count + kept.get(name, 0)
        if of >= FEWEST_DOCUMENTS and count >= LOST_SHARE * of:
            found.append({"alarm": alarm, "name": name, "dropped": count, "of": of})
    return found
