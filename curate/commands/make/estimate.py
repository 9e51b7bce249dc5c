"""`curate estimate`: what a run will take, from a sample of its input."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from curate.commands.completing import configs
from curate.commands.screen import show
from curate.config.file import read_config
from curate.executors.processes import Processes
from curate.given import FiniteRange
from curate.sizes import numbered, show_size, worker_memory
from curate.terminal import say_json
from curate.tools.estimate import estimate


@click.command(
    "estimate", epilog="\b\nExample:\n  curate estimate configs/sample.yaml\n  curate estimate crawl.yaml --share 0.002"
)
@click.argument("config", shell_complete=configs)
@click.option(
    "--share",
    type=FiniteRange(0, 1, min_open=True),
    default=0.01,
    show_default=True,
    help="Part of the input's bytes to run; eight slices at least.",
)
@click.option("--workers", type=click.IntRange(1), help="Worker processes of the run (default: all cores).")
@click.option("--seed", type=int, default=0, show_default=True, help="Chooses the slices.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the sample's files (default: a temporary one).",
)
@click.option("--json", "as_json", is_flag=True, help="As JSON: bytes and seconds.")
def command(config: str, share: float, workers: int | None, seed: int, work: str | None, as_json: bool) -> None:
    """Estimate time, disk, memory and kept share of CONFIG by running slices drawn at random. Leaves nothing.

    Ranges are 95 % intervals from how much the drawn slices differ. Duplicates are rarer in a sample than in the
    whole, so the corpus stages will drop more than the sample shows.
    """
    read = read_config(config)
    count = workers or os.cpu_count() or 1
    executor = Processes(min(count, os.cpu_count() or 1))
    try:
        with tempfile.TemporaryDirectory(prefix="curate-estimate-", dir=work) as folder:
            memory = worker_memory(executor.workers)
            estimated = estimate(read, executor, Path(folder), share, seed, memory)
    finally:
        executor.close()
    estimated = for_workers(estimated, count)
    if as_json:
        say_json(estimated)
    else:
        show(lines(estimated))


def for_workers(estimated: dict[str, Any], workers: int) -> dict[str, Any]:
    """The estimate for another number of workers than the sample was run with."""
    cpu = estimated["scan_cpu_seconds"]
    wall = {name: None if value is None else value / workers for name, value in cpu.items()}
    return {**estimated, "workers": workers, "scan_wall_seconds": wall}


def lines(estimated: dict[str, Any]) -> list[str]:
    """The estimate as text."""
    sample, workers = estimated["sample"], estimated["workers"]
    corpus = ", ".join(f"{name} {share:.1%}" for name, share in estimated["corpus_dropped_of_sample"].items())
    memory = estimated["worker_memory_bytes"]
    corpus_line = f"         of them the corpus stages drop within the sample: {corpus}"
    corpus_line += "; in the whole they drop more" if sample["share"] < 1 else ""
    scan = f"scan {_range(estimated['scan_wall_seconds'], duration)} with {numbered(workers, 'worker')}"
    slices, of_slices = numbered(sample["slices"], "slice"), numbered(sample["of_slices"], "slice")
    drawn = f"all {slices}" if sample["share"] >= 1 else f"{sample['slices']} of about {of_slices}"
    pages = numbered(sample["pages"], "page")
    return [
        f"sample   {drawn}, {show_size(sample['bytes'])} of "
        f"{show_size(estimated['input_bytes'])} ({sample['share']:.2%}), {pages}, seed {sample['seed']}",
        f"pages    {_range(estimated['pages'], '{:,.0f}')}",
        f"kept     {_range(estimated['pass_share'], '{:.1%}')} pass the document stages: "
        f"{_range(estimated['pass_pages'], '{:,.0f}')} pages, {_range(estimated['pass_words'], '{:,.0f}')} words",
        *([corpus_line] if corpus else []),
        f"time     start about {duration(estimated['start_up_seconds'])}, {scan}, "
        f"{_range(estimated['scan_cpu_seconds'], duration)} of CPU; "
        f"then about {duration(estimated['after_scan_seconds'])}",
        f"disk     work up to {show_size(estimated['work_bytes'])} until the end, "
        f"output about {show_size(estimated['output_bytes'])}",
        f"memory   {show_size(memory)} a worker at most in the sample, {show_size(memory * workers)} for {workers}; "
        f"{show_size(estimated['driver_memory_bytes'])} for the driver",
        f"range    {_range_is(sample)}",
    ]


def _range_is(sample: dict[str, Any]) -> str:
    """What the ranges are made of."""
    if sample["share"] >= 1:
        return "none, since the sample is the whole input"
    if sample["slices"] == 1:
        return "none, since one slice tells nothing of how much slices differ"
    return (
        "95 % intervals from the spread between the drawn slices (ratio estimate, Student's t with "
        f"{numbered(sample['slices'] - 1, 'degree')} of freedom)"
    )


def _range(bounds: dict[str, Any], form: str | Callable[[float], str]) -> str:
    show = form.format if isinstance(form, str) else form
    if bounds["low"] is None:
        return f"{show(bounds['value'])} (no range: one slice)"
    if bounds["low"] == bounds["high"]:
        return show(bounds["value"])
    return f"{show(bounds['value'])} ({show(bounds['low'])} to {show(bounds['high'])})"


def duration(seconds: float) -> str:
    """A time as a person says it."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    return f"{minutes:.1f} min" if minutes < 90 else f"{minutes / 60:,.1f} h"
