"""Decides synthetic documents at scale: keys and records only, no texts. Prints time, memory and disk.

    python bench/decide.py --documents 20000000 --workers 2 --partitions 64

Of the documents, 5 % are exact copies of an earlier one, 10 % near copies (12 % of the signature's slots differ),
and 5 % are one page over and over (equal signatures, different texts): at 20 million a bucket of a million in each
band. Stages: exact_dedup, near_dedup, mixture. Memory is summed over this process and its workers, sampled from
/proc/PID/smaps_rollup: anonymous pages, and file-backed ones with shared pages counted once. Linux only.
"""

import argparse
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil

from curate.decide.decide import decide
from curate.executors.executor import results
from curate.executors.processes import Processes
from curate.scan.sketches import gather
from curate.stage import CorpusStage
from stages.exact_dedup import SHA1, ExactDedup
from stages.mixture import SHARE, Mixture
from stages.near_dedup import NearDedup
from stages.resemblance import minhash

TASK = 20_000  # documents of one scan task
CHUNK = 5_000
GIANT = 20  # every 20th document is the same page
TOKENS = 700


def mixed(values: Any, salt: int) -> Any:
    """A 64-bit hash of integers (splitmix64)."""
    h = values.astype(np.uint64) + np.uint64(salt * 0x9E3779B97F4A7C15 % 2**64)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


def origin_of(numbers: Any) -> tuple[Any, Any]:
    """For each document the one it is made from, and how: 0 itself, 1 exact copy, 2 near copy, 3 the one page."""
    drawn = mixed(numbers, 1) % np.uint64(100)
    how = np.where(drawn < 5, 1, np.where(drawn < 15, 2, 0))
    how[numbers % GIANT == 7] = 3
    origin = (mixed(numbers, 2) % np.maximum(numbers, 1).astype(np.uint64)).astype(np.int64)
    fresh = (mixed(origin, 1) % np.uint64(100) >= 15) & (origin % GIANT != 7)
    how = np.where(fresh | (how == 3), how, 0)
    return np.where(how == 0, numbers, np.where(how == 3, 7, origin)), how


def signatures_of(numbers: Any) -> Any:
    """Signatures: those of the origin, for near copies with some slots of their own."""
    origin, how = origin_of(numbers)
    slots = np.arange(128, dtype=np.uint64)
    signature = (mixed(origin[:, None].astype(np.uint64) * np.uint64(128) + slots, 3) >> np.uint64(32)).astype(
        np.uint32
    )
    near = np.flatnonzero(how == 2)
    own = mixed(numbers[near, None].astype(np.uint64) * np.uint64(128) + slots, 4)
    signature[near] = np.where(own % np.uint64(100) < 12, (own >> np.uint64(32)).astype(np.uint32), signature[near])
    return signature


class SynthesisTask(NamedTuple):
    folder: Path
    start: int
    count: int


def synthesise(task: SynthesisTask) -> int:
    """Writes what the scan would: keys, counts and records of the three stages."""
    task.folder.mkdir(parents=True)
    files = {
        f"{name}.{part}": (task.folder / f"{name}.{part}").open("wb")
        for name in ("exact_dedup", "near_dedup", "mixture")
        for part in ("keys", "counts", "records")
    }
    for start in range(task.start, task.start + task.count, CHUNK):
        numbers = np.arange(start, min(start + CHUNK, task.start + task.count))
        origin, how = origin_of(numbers)
        text = np.where(how == 1, origin, numbers)
        sha1 = np.stack([mixed(text, 5), mixed(text, 6), mixed(text, 7)], axis=1).view("<u4")[:, :5]
        exact = np.empty(len(numbers), SHA1)
        exact["sha1"] = sha1
        signature = signatures_of(numbers)
        share = np.empty(len(numbers), SHARE)
        share["group"], share["tokens"], share["hash"] = numbers % 3, TOKENS + numbers % 7, mixed(numbers, 8)
        sha1[:, :2].copy().view("<u8").tofile(files["exact_dedup.keys"])
        exact.tofile(files["exact_dedup.records"])
        minhash.bucket_keys(signature, 25, 5).tofile(files["near_dedup.keys"])
        signature.tofile(files["near_dedup.records"])
        share.tofile(files["mixture.records"])
        for name, keys in (("exact_dedup", 1), ("near_dedup", 25), ("mixture", 0)):
            np.full(len(numbers), keys, "<u4").tofile(files[f"{name}.counts"])
    for file in files.values():
        file.close()
    return task.count


class Memory:
    """Peaks of memory over this process and its children, sampled in a thread."""

    def __init__(self) -> None:
        self.anonymous = self.file = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            held = {"Anonymous": 0, "Pss_File": 0}
            me = psutil.Process()
            for process in [me, *me.children(recursive=True)]:
                try:
                    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
                except OSError:
                    continue
                for line in lines:
                    name, _, rest = line.partition(":")
                    if name in held:
                        held[name] += int(rest.split()[0]) << 10
            self.anonymous = max(self.anonymous, held["Anonymous"])
            self.file = max(self.file, held["Pss_File"])
            time.sleep(0.5)

    @contextmanager
    def phase(self, name: str, work: Path) -> Iterator[None]:
        self.anonymous = self.file = 0
        start, spent = time.monotonic(), cpu_seconds()
        yield
        seconds, spent = time.monotonic() - start, cpu_seconds() - spent
        disk = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
        memory = f"anonymous {self.anonymous / 1e6:6.0f} MB  file-backed {self.file / 1e6:6.0f} MB"
        print(f"{name:12}{seconds:7.1f} s  CPU {spent:7.1f} s  {memory}  disk {disk / 1e9:5.1f} GB", flush=True)


def cpu_seconds() -> float:
    """CPU time of this process and its workers so far."""
    times = [process.cpu_times() for process in [psutil.Process(), *psutil.Process().children()]]
    return sum(each.user + each.system for each in times)


def expected(count: int) -> tuple[int, int, int]:
    """Numbers of exact copies, near copies and repeats of the one page."""
    exact = near = 0
    for start in range(0, count, 1 << 20):
        _, how = origin_of(np.arange(start, min(start + (1 << 20), count)))
        exact, near = exact + int((how == 1).sum()), near + int((how == 2).sum())
    return exact, near, max(0, (count - 8) // GIANT)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--partitions", type=int, default=64)
    parser.add_argument("--work", type=Path, help="scratch folder; needs about 1.5 kB a document")
    options = parser.parse_args()
    count = options.documents
    mixture = Mixture(by="kind", weights={"a": 0.5, "b": 0.3, "c": 0.2}, tokens=count * TOKENS * 0.6)
    stages: list[tuple[str, CorpusStage]] = [
        ("exact_dedup", ExactDedup()),
        ("near_dedup", NearDedup()),
        ("mixture", mixture),
    ]
    work = Path(tempfile.mkdtemp(dir=options.work))
    executor, memory = Processes(options.workers), Memory()
    try:
        starts = range(0, count, TASK)
        tasks = [SynthesisTask(work / f"task-{start}", start, min(TASK, count - start)) for start in starts]
        with memory.phase("synthesis", work):
            results(executor, synthesise, tasks)
        with memory.phase("gather", work):
            for name, stage in stages:
                folders = [task.folder for task in tasks]
                gather(executor, work, name, stage, folders, [task.count for task in tasks], options.partitions)
        for task in tasks:
            shutil.rmtree(task.folder)
        for upto, (name, _) in enumerate(stages, 1):  # each call goes on where the one before ended
            with memory.phase(name, work):
                table = decide(executor, work, stages[:upto], count)
        exact, near, page = expected(count)
        print(f"made: {exact} exact copies, {near} near copies, {page} repeats of one page")
        for name, notes in table.notes.items():
            print(name, *(f"{note}={value}" for note, value in sorted(notes.items())))
    finally:
        executor.close()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
