"""Alarms: what a person should look at before trusting a run.

A source or domain that loses nearly everything to twins elsewhere, or one giant cluster, is more often a fault of
the thresholds (or of an extraction that returns the same text for every page) than a property of the web.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pyarrow.parquet as pq

from curate.decide.twins import GIANT
from curate.executors.executor import Executor, results
from curate.output.schema import domain
from curate.output.written import PartFacts

# Rounded by judgement, none from a paper: few enough alarms that each is worth a look.
FEWEST_DOCUMENTS = 100  # what is smaller gives no alarm
LOST_SHARE = 0.95
MOST_DOMAINS = 1_000  # that are looked at: those that lost most


class Alarm(TypedDict):
    """One alarm as `stats.json` has it: its kind, what it is about, and two counts that the kind gives a meaning."""

    alarm: str
    name: str  # a source, a domain, a stage, or a stage and its group
    dropped: int
    of: int


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
    parts: list[PartFacts],
    kept_by_source: Mapping[str, int],
    shards: Iterable[Path],
    notes: Mapping[str, Mapping[str, int]],
    executor: Executor,
) -> list[Alarm]:
    """All alarms of a run. `parts` are the facts of the ledger's parts, `notes` those of the corpus stages."""
    lost = {kind: _summed(part["lost"][kind] for part in parts) for kind in ("source", "domain")}
    found = _nearly_lost("source_lost", lost["source"], kept_by_source)
    suspects = [name for name, count in lost["domain"].most_common(MOST_DOMAINS) if count >= FEWEST_DOCUMENTS]
    if suspects:
        tasks = [DomainTask(str(path), tuple(sorted(suspects))) for path in shards]
        kept = _summed(results(executor, kept_of, tasks))
        found += _nearly_lost("domain_lost", {name: lost["domain"][name] for name in suspects}, kept)
    for stage, facts in sorted(notes.items()):
        largest = facts.get("largest_cluster", 0)
        if largest >= GIANT:
            found.append({"alarm": "giant_cluster", "name": stage, "dropped": largest - 1, "of": largest})
        found += _mixed(stage, facts)
    return found


def _mixed(stage: str, facts: Mapping[str, int]) -> list[Alarm]:
    """Groups of a mixture that gave at least a hundredth less than was wanted, and those read over four times."""
    found: list[Alarm] = []
    for fact, short in sorted(facts.items()):
        name, _, kind = fact.rpartition(".")
        wanted = facts.get(f"{name}.wanted_tokens", 0)
        if kind == "shortfall_tokens" and 0 < wanted <= short * 100:
            found.append({"alarm": "shortfall", "name": f"{stage} {name}", "dropped": short, "of": wanted})
    if facts.get("groups_over_4_epochs"):
        groups = len({fact.rpartition(".")[0] for fact in facts} - {""})
        found.append({"alarm": "over_4_epochs", "name": stage, "dropped": facts["groups_over_4_epochs"], "of": groups})
    return found


def _summed(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for some in counts:
        total.update(some)
    return total


def _nearly_lost(alarm: str, lost: Mapping[str, int], kept: Mapping[str, int]) -> list[Alarm]:
    found: list[Alarm] = []
    for name, count in sorted(lost.items()):
        of = count + kept.get(name, 0)
        if of >= FEWEST_DOCUMENTS and count >= LOST_SHARE * of:
            found.append({"alarm": alarm, "name": name, "dropped": count, "of": of})
    return found
