"""How cost grows with the input, and with workers: python bench/growth.py [--pages 1000] [--times 3] [--only ...]

growth: the same kind of crawl at 1, 2, 4 and 8 times `--pages`, one worker; the exponent is the slope of log CPU over
log pages, start-up (the cost of one page) taken off. workers: the largest crawl with one worker and two, as eight
files and as one; the speed-up is in wall seconds, so it says something on an idle machine only; the ratio of CPU
seconds says what two workers spend more. flat: memory of the worker over `--flat` pages of one file, a quarter at a
time. dedup: near-dedup of JSONL documents at the same four sizes. Crawls come from bench/make_crawl.py. Linux only.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from math import log
from pathlib import Path

import made_texts
import numpy as np
import yaml
from measured import Cost, held, measure, middle, tree_of

HERE = Path(__file__).parent
CURATE = Path(sys.executable).with_name("curate")
STAGES = ["extract", {"language": {"keep": ["en"]}}, "gopher", "exact_dedup", "near_dedup"]
SIZES = (1, 2, 4, 8)


class Runs:
    """Crawls and runs in one folder."""

    def __init__(self, work: Path, kilobytes: int, times: int) -> None:
        self.work, self.kilobytes, self.times = work, kilobytes, times

    def crawl(self, pages: int, per_file: int) -> str:
        """The glob of a crawl of so many pages."""
        folder = self.work / f"crawl-{pages}-{per_file}"
        if not (folder / "truth.jsonl").exists():
            command = [sys.executable, HERE / "make_crawl.py", "--pages", str(pages), "--out", folder]
            command += ["--per-file", str(per_file), "--kilobytes", str(self.kilobytes)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return f"{folder}/*.warc.gz"

    def texts(self, documents: int) -> dict[str, object]:
        """The source of so many JSONL documents."""
        folder = self.work / f"texts-{documents}"
        if not folder.exists():
            made_texts.write(folder, made_texts.texts(documents, 3))
        return {"texts": {"path": f"{folder}/*.jsonl.gz", "text": "text", "id": "id"}}

    def config(self, source: object, stages: list[object]) -> Path:
        path = self.work / "growth.yaml"
        path.write_text(yaml.safe_dump({"input": source, "output": str(self.work / "out"), "stages": stages}))
        return path

    def command(self, source: object, stages: list[object], workers: int = 1) -> list[str | Path]:
        config = self.config(source, stages)
        return [CURATE, "run", config, "--workers", str(workers), "--fresh", "--quiet", "--allow-empty"]

    def run(self, source: object, stages: list[object], workers: int = 1) -> list[Cost]:
        command = self.command(source, stages, workers)
        return [measure(command) for _ in range(self.times)]


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The slope of a straight line through the logarithms."""
    return float(np.polyfit([log(size) for size in sizes], [log(second) for second in seconds], 1)[0])


def growth(runs: Runs, pages: int, what: str) -> None:
    """Time and memory at 1, 2, 4 and 8 times the input."""
    stages: list[object] = list(STAGES) if what == "pages" else ["exact_dedup", "near_dedup"]

    def source(count: int) -> object:
        return runs.crawl(count, max(100, pages // 2)) if what == "pages" else runs.texts(count)

    start = middle(runs.run(source(1), stages), "cpu")
    print(f"| {what} | CPU s | less start-up | ms each | wall s | peak MB, tree | peak MB, worker |\n|" + "---:|" * 7)
    counts = [size * pages for size in SIZES]
    spent = []
    for count in counts:
        costs = runs.run(source(count), stages)
        cpu = middle(costs, "cpu")
        spent.append(cpu - start)
        tree, worker = middle(costs, "tree_mb"), middle(costs, "process_mb")
        each = spent[-1] / count * 1000
        wall = middle(costs, "wall")
        print(
            f"| {count:,} | {cpu:.2f} | {spent[-1]:.2f} | {each:.2f} | {wall:.1f} | {tree:.0f} | {worker:.0f} |",
            flush=True,
        )
    print(f"\nstart-up {start:.2f} s CPU; exponent {exponent(counts, spent):.3f}\n", flush=True)


def workers(runs: Runs, pages: int) -> None:
    """One worker and two, with many files and with one; taking turns."""
    print("| files | workers | CPU s | wall s | speed-up |\n|---:|---:|---:|---:|---:|")
    for per_file, files in ((pages // 8, 8), (pages, 1)):
        source = runs.crawl(pages, per_file)
        turns: dict[int, list[Cost]] = {1: [], 2: []}
        for _ in range(runs.times):
            for count, costs in turns.items():
                costs.append(measure(runs.command(source, list(STAGES), count)))
        alone = middle(turns[1], "wall")
        for count, costs in turns.items():
            wall = middle(costs, "wall")
            print(f"| {files} | {count} | {middle(costs, 'cpu'):.1f} | {wall:.1f} | {alone / wall:.2f} |", flush=True)
    print()


def flat(runs: Runs, pages: int) -> None:
    """Anonymous memory of the worker, the highest of each quarter of the time."""
    command = runs.command(runs.crawl(pages, pages), list(STAGES))
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    samples: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            samples.append(max((held(pid).get("Anonymous", 0) for pid in tree_of(process.pid)[1:]), default=0))

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.monotonic()
    process.wait()
    over.set()
    watcher.join()
    quarters = [f"{max(part) / 1e6:.0f}" for part in np.array_split(np.array(samples), 4)]
    print(f"worker over {pages:,} pages in {time.monotonic() - start:.0f} s: {', '.join(quarters)} MB\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--flat", type=int, default=20_000)
    parser.add_argument("--kilobytes", type=int, default=40)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=["growth", "dedup", "workers", "flat"])
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="curate-growth-"))
    work.mkdir(parents=True, exist_ok=True)
    runs = Runs(work.resolve(), given.kilobytes, given.times)
    if "growth" in given.only:
        growth(runs, given.pages, "pages")
    if "dedup" in given.only:
        growth(runs, given.documents, "documents")
    if "workers" in given.only:
        workers(runs, max(SIZES) * given.pages)
    if "flat" in given.only:
        flat(runs, given.flat)


if __name__ == "__main__":
    main()
