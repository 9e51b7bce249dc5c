"""Cuts repeated lines or spans out of made documents: time, memory and disk of line_dedup and substring_dedup.

    python bench/spans.py --documents 100000 --stage substring_dedup --workers 2 --folder /tmp/spans

Makes Parquet files of documents of 500 words in lines of 25, words drawn by Zipf's law from 30,000. Each has
four lines of its site's menu (20 documents a site), every fifth has a passage of 60 to 200 words out of 2,000.
The same arguments make the same bytes. Prints one JSON object: CPU and wall seconds of `curate run`, the peak of memory
summed over its processes (shared pages count once), the peak of disk of its work folder, and what was cut. Linux only.
"""

import argparse
import json
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measured import measure

PER_FILE = 50_000
WORDS, LINE = 500, 25
MENUS, PASSAGES = 5_000, 2_000


class Writer:
    """Makes documents by number; nothing but the number and the seed decides what is in one."""

    def __init__(self) -> None:
        dice = np.random.default_rng(5)
        letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
        self.words = np.array(["".join(dice.choice(letters, dice.integers(2, 11))) for _ in range(30_000)])
        rank = 1 / (np.arange(len(self.words)) + 2)
        self.upto = np.cumsum(rank / rank.sum())
        self.menus = [[" ".join(self._drawn(dice, 6)) for _ in range(4)] for _ in range(MENUS)]
        self.passages = [list(self._drawn(dice, int(dice.integers(60, 201)))) for _ in range(PASSAGES)]

    def _drawn(self, dice: np.random.Generator, count: int) -> Any:
        return self.words[np.searchsorted(self.upto, dice.random(count))]

    def text(self, number: int, site: int) -> str:
        dice = np.random.default_rng((7, number))
        words = list(self._drawn(dice, WORDS))
        if number % 5 == 0:
            at = int(dice.integers(0, WORDS))
            words[at:at] = self.passages[int(dice.integers(0, PASSAGES))]
        lines = [" ".join(words[at : at + LINE]) for at in range(0, len(words), LINE)]
        menu = self.menus[site % MENUS]
        return "\n".join([*menu[:2], *lines, *menu[2:]])


def make(folder: Path, documents: int) -> None:
    """Writes the input, unless it is there."""
    writer = Writer()
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, documents, PER_FILE):
        path = folder / f"texts-{first // PER_FILE:05d}.parquet"
        if path.exists():
            continue
        numbers = range(first, min(first + PER_FILE, documents))
        sites = [number % (documents // 20 + 1) for number in numbers]
        table = pa.table(
            {
                "text": [writer.text(number, site) for number, site in zip(numbers, sites)],
                "url": [f"https://site{site}.example/{number}" for number, site in zip(numbers, sites)],
            }
        )
        pq.write_table(table, folder / ".new", row_group_size=2_000)
        (folder / ".new").rename(path)


class Disk(threading.Thread):
    """The largest size that a folder had."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.peak, self.over = folder, 0, threading.Event()

    def run(self) -> None:
        while not self.over.wait(1.0):
            total = 0
            for path in self.folder.rglob("*"):
                try:
                    total += path.stat().st_size
                except OSError:
                    continue
            self.peak = max(self.peak, total)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--stage", choices=["line_dedup", "substring_dedup", "none"], default="line_dedup")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    texts = options.folder / f"texts-{options.documents}"
    make(texts, options.documents)
    out = options.folder / "out"
    stages = ["tokens", *([] if options.stage == "none" else [options.stage])]
    source = {"texts": {"path": f"{texts}/*.parquet", "url": "url"}}
    config = options.folder / "config.json"
    config.write_text(json.dumps({"input": source, "output": str(out), "stages": stages}))
    disk = Disk(out / ".work")
    disk.start()
    program = Path(sys.executable).with_name("curate")
    run = [program, "run", str(config), "--workers", str(options.workers), "--fresh", "--quiet"]
    cost = measure(run)
    disk.over.set()
    stats = json.loads((out / "stats.json").read_text())
    print(
        json.dumps(
            {
                "stage": options.stage,
                "documents": options.documents,
                "workers": options.workers,
                "cpu_seconds": round(cost.cpu, 1),
                "wall_seconds": round(cost.wall, 1),
                "cpu_us_a_document": round(1e6 * cost.cpu / options.documents),
                "memory_mb": round(cost.tree_mb),
                "disk_mb": round(disk.peak / 1e6),
                "notes": stats["notes"].get(options.stage, {}),
            }
        )
    )


if __name__ == "__main__":
    main()
