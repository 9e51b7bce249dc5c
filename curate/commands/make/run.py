"""`curate run`: the main job."""

import os
import shlex
import signal
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from curate.commands.completing import configs
from curate.commands.make.progress import Progress
from curate.commands.screen import show
from curate.config.file import Config, read_config
from curate.errors import Stopped, UserError
from curate.executors.bystander import standing_by
from curate.executors.executor import Executor, Serial
from curate.executors.processes import Processes
from curate.inspect.tables import lines
from curate.output.folder import Output
from curate.output.manifest import tokens_counted
from curate.run import Options, Report, run
from curate.sizes import numbered, parse_size, worker_memory
from curate.sources import mask_url
from curate.terminal import say
from curate.tools.canaries import plant, report_lines


@dataclass(frozen=True, kw_only=True)
class Call:
    """The options of the command line. None where one was not given."""

    workers: int | None
    executor: str
    address: str | None
    limit: int | None
    dry_run: bool
    fresh: bool
    strict: bool
    allow_empty: bool
    work: str | None
    keep_work: bool
    memory: int | None
    slice_size: int | None
    partitions: int | None
    canaries: bool
    quiet: bool
    recipe: str | None = None


LEAST_SLICE = 4 << 10
NOTHING_KEPT, DAMAGED, INTERRUPTED, TERMINATED = 1, 3, 130, 143


def _size(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    try:
        return None if value is None else parse_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _slice_size(ctx: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    size = _size(ctx, parameter, value)
    if size is not None and size < LEAST_SLICE:
        raise click.BadParameter(f"'{value}' is too small; each slice costs files of its own, so give 4KiB or more")
    return size


@click.command("run", epilog="\b\nExample:\n  curate run configs/sample.yaml --workers 2")
@click.argument("config", shell_complete=configs)
@click.option("--workers", type=click.IntRange(1), help="Worker processes (default: all cores).")
@click.option(
    "--executor",
    type=click.Choice(["processes", "serial", "ray"]),
    default="processes",
    show_default=True,
    help="serial: in this process; a page that kills it is named, and entered by the next call.",
)
@click.option("--address", help="Address of a Ray cluster (default: a local one).")
@click.option(
    "--limit", type=click.IntRange(0), help="Read only so many documents, of each source in turn (a trial run)."
)
@click.option("--dry-run", is_flag=True, help="Do all the work and print the report, but leave no output.")
@click.option("--fresh", is_flag=True, help="Remove what an earlier run left in the output first.")
@click.option("--strict", is_flag=True, help="Exit with status 3 when any input was damaged.")
@click.option("--allow-empty", is_flag=True, help="A run that keeps nothing is no failure.")
@click.option("--work", help="Where the work folder goes (default: into the output). Shared by all nodes.")
@click.option("--keep-work", is_flag=True, help="Do not remove the intermediate files at the end.")
@click.option(
    "--memory",
    callback=_size,
    help="Private memory a worker may take, e.g. 2GiB (default: its share of the machine).",
)
@click.option(
    "--slice-size",
    callback=_slice_size,
    help="Bytes of a file that one task scans, 4KiB or more (default: from 1MiB to 64MiB, several a worker).",
)
@click.option(
    "--partitions",
    type=click.IntRange(1, 65536),
    help="Partitions of the decide phase (default: from the data).",
)
@click.option("--canaries", is_flag=True, help="Plant known copies and bad pages, report what each stage caught.")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(config: str, **options: Any) -> None:
    """Run CONFIG: crawl files in; shards, ledger, measures and stats out.

    Stopped in the middle, the same command goes on where it was.
    """
    signal.signal(signal.SIGTERM, _terminate)
    read, call = read_config(config), Call(**options, recipe=Path(config).name)
    try:
        report = execute(read, call)
    except KeyboardInterrupt:
        say("curate: stopped by Ctrl-C; the same command goes on where it was", err=True)
        sys.exit(INTERRUPTED)
    finish(report, call, read)


def _terminate(number: int, frame: Any) -> None:
    say("curate: stopped by SIGTERM; the same command goes on where it was", err=True)
    raise Stopped(TERMINATED)


def execute(config: Config, call: Call) -> Report:
    """Runs a config with command-line options."""
    if call.dry_run:
        with tempfile.TemporaryDirectory(prefix="curate-") as folder:
            return execute(replace(config, output=folder), replace(call, dry_run=False, work=None))
    workers = call.workers or os.cpu_count() or 1
    memory = worker_memory(workers, call.memory)
    output = Output.of(config, call.work)
    progress = Progress(call.quiet, output.work)
    if call.executor == "serial":
        for name in ("workers", "memory"):
            if getattr(call, name):
                progress.say(f"--{name} does nothing with --executor serial, which works in this one process")
    settings = Options(
        fresh=call.fresh,
        limit=call.limit,
        memory=memory if call.executor != "serial" else None,
        slice_bytes=call.slice_size,
        partitions=call.partitions,
        work=call.work,
        keep_work=call.keep_work,
        decided=plant if call.canaries else None,
        recipe=call.recipe,
    )
    executor = make_executor(call.executor, workers, call.address)
    alone = standing_by(output.work) if call.executor == "serial" else nullcontext()
    try:
        with alone:
            return run(config, executor, settings, progress, progress.say)
    finally:
        progress.close()
        executor.close()


def make_executor(name: str, workers: int, address: str | None) -> Executor:
    """The executor of that name. Raises UserError where Ray is wanted and missing, or --address goes with another."""
    if address and name != "ray":
        raise UserError(f"--address {mask_url(address)} goes with --executor ray; give that, or leave the address out")
    if name == "serial":
        return Serial()
    if name == "ray":
        from curate.executors.ray_cluster import Ray

        return Ray(address, workers)
    return Processes(workers)


def finish(report: Report, call: Call, config: Config) -> None:
    """Prints the summary and exits with the status that the run earned."""
    from curate.inspect.funnel import summary_lines

    if not call.quiet:
        if report.ready:
            say("complete already: nothing to do (--fresh runs it again)", err=True)
        show(summary_lines(report.stats, tokens_counted(config, report.stats)))
        if report.decided:
            show(report_lines(report.decided))
        elif call.canaries:
            say("canaries are planted while a run runs: give --fresh", err=True)
        if not call.dry_run:
            show(_next_steps(report, mask_url(config.output)), err=True)
    if not report.stats["kept"]["documents"] and not call.allow_empty:
        say(f"curate: {_nothing(report, call, mask_url(config.output))}; --allow-empty accepts it", err=True)
        sys.exit(NOTHING_KEPT)
    if call.strict and report.damaged:
        say(f"curate: {numbered(report.damaged, 'damaged place')} in the input (--strict)", err=True)
        sys.exit(DAMAGED)


def _next_steps(report: Report, out: str) -> list[str]:
    """Where the output lies and what to look at, the last lines of a run."""
    kept = report.stats["kept"]
    lies = f"curate: {numbered(kept['documents'], 'page')} kept of {report.stats['read']['documents']:,}, in {out}"
    if "://" in out:
        return [lies]
    place = shlex.quote(out)
    rows = [
        {"command": f"  curate {name} {place}{more}", "shows": shows}
        for name, more, shows in (
            ("stats", "", "what each stage dropped, and the time it took"),
            ("report", "", "the run as one page, to look at in a browser"),
            ("why", " URL", "what became of a page, and why"),
        )
    ]
    return [lies, *lines(rows, ("command", "shows"))[1:]]


def _nothing(report: Report, call: Call, out: str) -> str:
    """Why a run kept nothing, and where to look."""
    if call.limit == 0:
        return "NO PAGE WAS READ, as --limit 0 wants it"
    if not report.stats["read"]["documents"]:
        return "NO PAGE WAS READ: the input holds none; check the files that 'input' names"
    table = f"`curate stats {out}`" if call.quiet and not call.dry_run else "The table above"
    return f"NOTHING WAS KEPT. {table} says which stage took what"
