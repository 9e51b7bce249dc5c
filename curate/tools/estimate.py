"""What a run will take, from a sample of its input: time, disk, memory, kept share, each with a range.

The input is cut into slices, some are drawn at random and really run. What a slice gives (pages, CPU time, bytes on
disk) goes with its size, so totals are ratio estimates, and the range comes from how much the slices differ.
"""

import math
import resource
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from curate.config.file import Config
from curate.decide.survivors import OFFSETS, Survivors
from curate.document import Address, Document
from curate.errors import UserError
from curate.executors.executor import Executor, results
from curate.inspect.intervals import Z95
from curate.output.folder import Output
from curate.output.schema import attributes
from curate.run import Options, check_failures, decide_all, write_all
from curate.scan.crawl import input_files, see_through
from curate.scan.tasks import ScanResult, ScanTask, load_run, save_run, save_tasks
from curate.sources import reader
from curate.sources.reader import InputFile, Slice

SMALLEST_SLICE, LARGEST_SLICE = 64 << 10, 64 << 20
WANTED_SLICES = 30  # enough for the spread to be known
FEWEST_SLICES = 8
WARMING_PAGE = b"<html><body><p>A page that makes a worker load all that it needs.</p></body></html>"


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % range; `low` and `high` are None where one slice alone was drawn."""

    value: float
    low: float | None
    high: float | None

    def times(self, factor: float) -> "Interval":
        """The estimate in another unit, or of a whole of which this is the rate."""
        return Interval(*(None if part is None else part * factor for part in (self.value, self.low, self.high)))  # type: ignore[arg-type]


def student_95(freedom: int) -> float:
    """The 97.5 % point of Student's t (Abramowitz & Stegun 1964, formula 26.7.5)."""
    z, n = Z95, freedom
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + first / n + second / n**2 + third / n**3 + fourth / n**4


def ratio(amounts: Sequence[float], sizes: Sequence[float], share: float) -> Interval:
    """Amount per size over slices drawn at random, and its range (Cochran 1977, section 6.4: ratio estimates).

    `share` is the part of the whole that was drawn; with all of it there is nothing left to guess.
    """
    count, total = len(sizes), sum(sizes)
    value = sum(amounts) / total if total else 0.0
    if share >= 1 or not total:
        return Interval(value, value, value)
    if count == 1:
        return Interval(value, None, None)
    spread = sum((amount - value * size) ** 2 for amount, size in zip(amounts, sizes, strict=True)) / (count - 1)
    error = math.sqrt((1 - share) * spread / count) / (total / count)
    half = student_95(count - 1) * error
    return Interval(value, max(0.0, value - half), value + half)


@dataclass(frozen=True)
class Drawn:
    """The slices drawn: `weights[i]` is the size in bytes on disk that task i stands for."""

    tasks: list[ScanTask]
    weights: list[float]
    slices: int  # of the whole input, about
    total: int  # bytes of the whole input

    @property
    def share(self) -> float:
        return min(1.0, sum(self.weights) / self.total) if self.total else 1.0


def draw(config: Config, files: list[InputFile], work: Path, share: float, seed: int) -> Drawn:
    """Draws slices at random, about `share` of the bytes and at least `FEWEST_SLICES` of them.

    A file that can't be cut (one compressed stream) is drawn as a whole.
    """
    total = sum(file.size for file in files)
    if not total:
        raise UserError("the input is empty: there is nothing to estimate from")
    size = int(min(max(total * share / WANTED_SLICES, SMALLEST_SLICE), LARGEST_SLICE))
    cells = max(1, total // size)
    wanted = min(cells, max(FEWEST_SLICES, math.ceil(share * cells)))
    starts = [0, *accumulate(file.size for file in files)]
    places = [(cell + 0.5) * total / cells for cell in sorted(Random(seed).sample(range(cells), wanted))]
    found: dict[tuple[int, int], tuple[Slice, float]] = {}
    for index, file in enumerate(files):
        inside = [(place - starts[index]) / file.size for place in places if starts[index] <= place < starts[index + 1]]
        if not inside and wanted < cells:
            continue
        parts = reader(config.input[file.source], file).slices(file, size)
        drawn = range(len(parts)) if wanted == cells else [int(share * len(parts)) for share in inside]
        found.update({(index, number): (parts[number], file.size / len(parts)) for number in drawn})
    tasks = [ScanTask(str(work), place, index, part) for place, ((index, _), (part, _)) in enumerate(found.items())]
    slices = len(tasks) if wanted == cells else max(cells, len(tasks))
    return Drawn(tasks, [weight for _, weight in found.values()], slices, total)


def warm(work: str) -> None:
    """Makes a worker load models and libraries, which the whole run does once and not once a slice."""
    belt = load_run(work).belt
    belt.run(Document(Address("", "", 0), html=WARMING_PAGE, text="a text"))
    for name in belt.cpu_ns:
        belt.cpu_ns[name] = 0


def peak_memory(_: int) -> int:
    """The most bytes that this process has held in memory."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def estimate(config: Config, executor: Executor, work: Path, share: float, seed: int, memory: int) -> dict[str, Any]:
    """Runs a sample of a config's input in `work` and says what the whole would take.

    Intervals are mappings of `value`, `low`, `high`; sizes are in bytes, times in seconds.
    """
    files = input_files(config)
    attributes(config, files)
    output = Output(str(work), work / "out", work / "work")
    output.create()
    save_run(output.work, config, str(work), files, memory)
    sample = draw(config, files, output.work, share, seed)
    empty = ScanTask(str(output.work), len(sample.tasks), 0, Slice(0, 0, exact=True))
    tasks = [*sample.tasks, empty]
    save_tasks(output.work, tasks)
    start = perf_counter()
    results(executor, warm, [str(output.work)] * executor.workers)
    start_up = perf_counter() - start
    done: dict[int, ScanResult] = {}
    see_through(tasks, executor, lambda task, result: None, done)
    scanned = [done[task.index] for task in sample.tasks]
    check_failures(config, scanned)
    folders = [float(folder_bytes(task.folder)) for task in tasks]
    half = len(sample.tasks) // 2
    _seconds_after(config, executor, output, sample.tasks[:half], scanned)  # loads what it needs
    few, _ = _seconds_after(config, executor, output, sample.tasks[:half], scanned)
    all_of_them, dropped = _seconds_after(config, executor, output, sample.tasks, scanned)
    passed = [result["survivors"] for result in scanned]
    slope = max(0.0, all_of_them - few) / max(1, sum(passed[half:]))  # seconds a survivor; the rest is fixed
    peak = max(results(executor, peak_memory, range(executor.workers)))
    estimated = _extrapolated(sample, scanned, [max(0.0, size - folders[-1]) for size in folders[:-1]], output)
    after = few + slope * max(0.0, estimated["pass_pages"]["value"] - sum(passed[:half]))
    return {
        **estimated,
        "sample": {**estimated["sample"], "seed": seed},
        "corpus_dropped_of_sample": {name: count / max(1, sum(passed)) for name, count in dropped.items()},
        "start_up_seconds": start_up,
        "after_scan_seconds": after,
        "worker_memory_bytes": peak,
        "driver_memory_bytes": peak_memory(0),
    }


def _seconds_after(
    config: Config, executor: Executor, output: Output, tasks: list[ScanTask], scanned: list[ScanResult]
) -> tuple[float, dict[str, int]]:
    """Decides and writes what some tasks left, anew: the seconds it took, and what each corpus stage dropped."""
    for folder in (output.work / "decide", output.work / "write", output.final):
        shutil.rmtree(folder, ignore_errors=True)
    (output.work / OFFSETS).unlink(missing_ok=True)
    save_tasks(output.work, tasks)
    survivors = Survivors.of(output.work, tasks, scanned[: len(tasks)])
    survivors.save()
    start = perf_counter()
    notes = decide_all(config, survivors, executor, Options(), lambda phase, figures: None)
    write_all(survivors, executor, output, lambda phase, figures: None)
    return perf_counter() - start, {name: notes[name]["dropped"] for name, _ in config.corpus_stages}


def _extrapolated(sample: Drawn, scanned: list[ScanResult], spilled: list[float], output: Output) -> dict[str, Any]:
    share, total = sample.share, sample.total

    def on_all(amounts: Sequence[float]) -> dict[str, Any]:
        return vars(ratio(amounts, sample.weights, share).times(total))

    pages = [float(result["documents"]) for result in scanned]
    passed = [float(result["survivors"]) for result in scanned]
    written = {kind: folder_bytes(output.final / kind) for kind in ("shards", "ledger", "measures", "samples")}
    samples = written.pop("samples")  # so many a reason, however large the crawl
    return {
        "sample": {
            "slices": len(sample.tasks),
            "of_slices": sample.slices,
            "share": share,
            "bytes": int(sum(sample.weights)),
            "pages": int(sum(pages)),
        },
        "input_bytes": total,
        "pages": on_all(pages),
        "pass_share": vars(ratio(passed, pages, share)),
        "pass_pages": on_all(passed),
        "pass_words": on_all([float(result["words"]) for result in scanned]),
        "scan_cpu_seconds": on_all([result["cpu_ns"] / 1e9 for result in scanned]),
        # small slices compress less well than large ones, so this is rather too much than too little
        "work_bytes": (sum(spilled) + folder_bytes(output.work / "decide")) / share,
        "output_bytes": sum(written.values()) / share + samples,
    }


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
