"""Peak anonymous memory of `curate export` by number of documents, in one process.

    python bench/export_memory.py TOKENIZER.json [--documents 100000 300000 1000000] [--work /tmp/curate-export-memory]

Makes shards of short documents (40 words) and exports each set as Megatron files, in parts of 4 Mi tokens.
"""

import argparse
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

EXPORT = """
import sys, threading, time
from pathlib import Path
from curate.executors.executor import Serial
from curate.export.export import export
from curate.export.settings import ExportSettings
peak = 0
def watch():
    global peak
    while True:
        status = Path("/proc/self/status").read_text()
        peak = max(peak, int(status.partition("RssAnon:")[2].split()[0]))
        time.sleep(0.02)
threading.Thread(target=watch, daemon=True).start()
folder = Path(sys.argv[1])
settings = ExportSettings(format="megatron", tokenizer=sys.argv[2], part_tokens=1 << 22)
facts = export(Serial(), sorted(folder.glob("*.parquet")), "made", settings, folder / "export").facts
train = facts["splits"]["train"]
print(f"| {train['documents']:,} | {train['tokens']:,} | {len(facts['parts'])} | {peak // 1024} |")
"""
EACH = 100_000  # documents of a shard


def shards(folder: Path, documents: int) -> None:
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshr", k=dice.randint(2, 8))) for _ in range(20_000)]
    for number, first in enumerate(range(0, documents, EACH)):
        names = range(first, first + EACH)
        table = pa.table(
            {
                "text": [" ".join(dice.choices(words, k=40)) for _ in names],
                "id": [f"d{name}" for name in names],
                "url": [f"http://site.example/{name}" for name in names],
                "file_path": ["crawl.jsonl"] * EACH,
                "offset": list(names),
            }
        )
        pq.write_table(table, folder / f"part-{number:05d}.parquet", row_group_size=10_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer")
    parser.add_argument("--documents", type=int, nargs="*", default=[100_000, 300_000, 1_000_000])
    parser.add_argument("--work", type=Path, default=Path("/tmp/curate-export-memory"))
    given = parser.parse_args()
    print("| documents | tokens | parts | peak anonymous MiB |\n|---:|---:|---:|---:|", flush=True)
    for documents in given.documents:
        shutil.rmtree(given.work, ignore_errors=True)
        given.work.mkdir(parents=True)
        shards(given.work, documents)
        subprocess.run([sys.executable, "-c", EXPORT, str(given.work), given.tokenizer], check=True)
    shutil.rmtree(given.work)


if __name__ == "__main__":
    main()
