"""A run: scan, decide, write. The table of contents of all that `curate run` does."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from curate.config.file import Config
from curate.decide.decide import decide
from curate.decide.earlier import check_earlier, join_stages, open_earlier
from curate.decide.editing import Editing, gather_all
from curate.decide.index import write_index
from curate.decide.joined import decide_joined
from curate.decide.survivors import Survivors, column, verdict_table
from curate.durable import write_json
from curate.errors import UserError
from curate.executors.executor import Executor, results
from curate.export.export import checked, export
from curate.output import card, manifest
from curate.output.facts import ListedFile, Parts, Stats, Timings
from curate.output.fingerprint import fingerprint, public
from curate.output.folder import EXPORT, Output
from curate.output.lease import Lease
from curate.output.schema import attributes
from curate.output.written import TableFacts, Written
from curate.scan.crawl import crawl, input_files, plan, slice_size
from curate.scan.live import Live
from curate.scan.sketch_writer import sketched_after
from curate.scan.stored import expected
from curate.scan.tasks import ScanResult, save_run
from curate.scan.trial import trial
from curate.sources.reader import InputFile
from curate.stage import declared
from curate.write import ledger
from curate.write.accounts import check_bytes, check_rows, stats
from curate.write.alarms import alarms, column_alarms
from curate.write.plan import plan_shards
from curate.write.shards import write_shards

Decided = Callable[[Survivors, Executor, Path], Any]  # looks at a run whose verdicts stand, before it is written
Telling = Callable[[str], None]
PhaseSeen = Callable[[str, Mapping[str, Any]], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What does not change output, but `limit`."""

    fresh: bool = False
    limit: int | None = None
    memory: int | None = None  # bytes of private memory a worker may take
    slice_bytes: int | None = None
    partitions: int | None = None
    work: str | None = None
    keep_work: bool = False
    decided: Decided | None = None
    recipe: str | None = None  # name of the config file


@dataclass
class Report:
    """What a run came to. `stats` as in stats.json; `ready` when nothing was left to do."""

    stats: Stats
    ready: bool = False
    decided: Any = None  # what `Options.decided` gave back

    @property
    def damaged(self) -> int:
        return sum(row["documents"] for row in self.stats["dropped"] if row["reason"] == "damaged")


def run(config: Config, executor: Executor, options: Options, progress: PhaseSeen, tell: Telling) -> Report:
    """Runs a config to the end, or goes on with what an earlier run of the same config left.

    Raises UserError for what a person can mend; AccountsOpen when records or bytes do not add up (a bug).
    """
    files = input_files(config)
    attributes(config, files)  # raises where a column or an attribute is not there, before anything is made
    check_surroundings(config)
    output = Output.of(config, options.work)
    output.spare([file.name for file in files])
    parts = fingerprint(config, files, options.limit)
    if not options.fresh and output.complete(parts):
        if not options.keep_work:
            output.tidy()
        return Report(output.stats(), ready=True)
    output.create()
    with ExitStack() as held:
        for lease in output.leases:
            sentence = held.enter_context(Lease(lease)).taken_over
            if sentence:
                tell(sentence)
        if output.opened(parts, options.fresh, tell):
            return Report(output.stats(), ready=True)
        save_run(output.work, config, config.output, files, options.memory)
        with Live(output.work, executor.workers, progress) as live:
            report = _phases(config, files, executor, options, output, parts, live)
        output.publish(options.keep_work)
        return report


def check_surroundings(config: Config) -> None:
    """Raises UserError where a tokenizer or an earlier run that a config names is not there, or does not fit."""
    if config.write.export is not None:
        checked(config.write.export)
    if config.against:
        check_earlier(config)


def _phases(
    config: Config,
    files: list[InputFile],
    executor: Executor,
    options: Options,
    output: Output,
    parts: Parts,
    live: Live,
) -> Report:
    clock = Clock()
    size = slice_size(sum(file.size for file in files), executor.workers, options.slice_bytes)
    tasks = plan(config, files, output.work, size, options.limit)
    wanted = expected(tasks, files)
    live("plan", {"tasks": wanted, "limit": options.limit})
    read = partial(crawl, tasks) if options.limit is None else partial(trial, tasks, files, options.limit)
    tasks, scanned = read(executor, lambda task, result: live.scanned(task, result, wanted[task.index].bytes))
    survivors = Survivors.of(output.work, tasks, scanned)
    survivors.save()
    check_failures(config, scanned)
    check_bytes(survivors, scanned, options.limit is not None)
    clock.lap("scan")
    notes = decide_all(config, survivors, executor, options, live)
    clock.lap("decide")
    decided = options.decided(survivors, executor, output.final) if options.decided else None
    written = write_all(survivors, executor, output, live)
    clock.lap("write")
    beside = {"export": export_shards(config, written, executor, output.final)}
    beside["index"] = write_index(executor, survivors, output.final) if config.write.index else []
    if any(beside.values()):
        clock.lap("beside")
    report = _balance(survivors, scanned, written, notes, executor, output)
    write_json(output.final / "timings.json", clock.timings(scanned, executor.workers, options.recipe))
    write_json(output.final / ".fingerprint.json", parts)
    card.write(output.final, public(parts), report)
    manifest.write(output.final, config, parts, written.shards, report, beside)
    return Report(report, decided=decided)


def _balance(
    survivors: Survivors,
    scanned: list[ScanResult],
    written: Written,
    notes: dict[str, dict[str, int]],
    executor: Executor,
    output: Output,
) -> Stats:
    """Closes the books: the stats of the run, whose sums must be those of the finished files."""
    kept = Counter[str]()
    for source, _, documents, *_ in (row for shard in written.shards for row in shard["kept"]):
        kept[source] += documents
    paths = [output.final / "shards" / shard["name"] for shard in written.shards]
    found = alarms(survivors.config, written.ledger, kept, paths, notes, executor)
    found += column_alarms((survivors.source(index), result) for index, result in enumerate(scanned))
    report = stats(survivors, scanned, written.shards, written.ledger, notes, found)
    documents = sum(shard["documents"] for shard in written.shards)
    dropped = sum(row["documents"] for row in report["dropped"])
    check_rows(report["read"]["documents"], output.final / "shards", output.final / "ledger", documents, dropped)
    write_json(output.final / "stats.json", report)
    return report


def decide_all(
    config: Config, survivors: Survivors, executor: Executor, options: Options, progress: PhaseSeen
) -> dict[str, dict[str, int]]:
    """Runs the corpus stages over what the scan left; returns each one's integers for the report."""
    folder = survivors.work / "decide"
    folder.mkdir(exist_ok=True)
    folders = [task.folder for task in survivors.tasks]
    for name, _ in config.corpus_stages:
        progress("decide", {"stage": name})
    gather_all(executor, survivors, sketched_after(config.corpus_stages, -1), folders, options.partitions)
    if config.against:
        decide_joined(executor, survivors, join_stages(config), open_earlier(config.against), options.partitions)
    attributes = partial(column, str(survivors.work))
    editing = Editing(str(survivors.work), options.partitions)
    return decide(executor, folder, config.corpus_stages, survivors.size, attributes, editing).notes


def write_all(survivors: Survivors, executor: Executor, output: Output, progress: PhaseSeen) -> Written:
    """Writes shards, ledger, measures and samples."""
    work, verdicts = str(survivors.work), verdict_table(survivors)
    shards = plan_shards(survivors, verdicts, survivors.config, survivors.work)
    progress("write", {"shards": len(shards)})
    (output.final / "shards").mkdir(parents=True, exist_ok=True)
    shard_facts = write_shards(executor, survivors, shards, output.final / "shards")
    part_facts: dict[str, list[TableFacts]] = {}
    for kind, rows in ledger.PART_ROWS.items():
        if kind == "cuts" and not any(declared(stage).spans for _, stage in survivors.config.corpus_stages):
            continue
        folder = output.final / kind
        folder.mkdir(parents=True, exist_ok=True)
        parts = ledger.plan_parts(kind, ledger.part_counts(kind, survivors, verdicts), rows)
        part_tasks = [ledger.TableTask(work, part, str(folder)) for part in parts]
        part_facts[kind] = results(executor, ledger.write_part, part_tasks)
    ledger.write_samples(survivors, part_facts["ledger"], output.final / "samples")
    return Written(shard_facts, part_facts["ledger"])


def export_shards(config: Config, written: Written, executor: Executor, final: Path) -> list[ListedFile]:
    """Exports the finished shards where the config asks for it; returns the files with their hashes."""
    if config.write.export is None:
        return []
    folder = Path(EXPORT, config.write.export.format)
    shards = [final / "shards" / shard["name"] for shard in written.shards]
    made_from = manifest.shards_digest(written.shards)
    exported = export(executor, shards, made_from, config.write.export, final / folder).facts
    files: list[ListedFile] = [*exported["files"], exported["itself"]]
    return [{**file, "name": f"{folder.as_posix()}/{file['name']}"} for file in files]


def check_failures(config: Config, scanned: list[ScanResult]) -> None:
    """Refuses a run in which stages failed with an error on more documents than `max_failed` allows."""
    read, failed = sum(result["documents"] for result in scanned), sum(result["failed"] for result in scanned)
    if failed > max(1, config.max_failed * read):
        first = next(result["failure"] for result in scanned if result["failed"])
        raise UserError(
            f"stages failed on {failed} of {read} documents (max_failed is {config.max_failed:g}); the first: {first}"
        )


class Clock:
    """Wall seconds of each phase, CPU seconds of each stage."""

    def __init__(self) -> None:
        self.start = perf_counter()
        self.seconds: dict[str, float] = {}

    def lap(self, phase: str) -> None:
        now = perf_counter()
        self.seconds[phase] = round(now - self.start, 3)
        self.start = now

    def timings(self, scanned: list[ScanResult], workers: int, recipe: str | None) -> Timings:
        stages: dict[str, int] = {}
        for result in scanned:
            for name, spent in result["cpu_by_stage_ns"].items():
                stages[name] = stages.get(name, 0) + spent
        return {
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "recipe": recipe,
            "wall_seconds": self.seconds,
            "workers": workers,
            "scan_cpu_seconds": round(sum(r["cpu_ns"] for r in scanned) / 1e9, 3),
            "stage_cpu_seconds": {name: round(spent / 1e9, 3) for name, spent in stages.items()},
        }
