"""Line dedup beside Dolma's: the same texts, which characters each of them cuts.

    python bench/peer_lines.py --dolma OTHER_ENV/bin/dolma [--documents 20000] [--folder /tmp/lines]

Dolma's deduper (Rust) marks paragraphs that its Bloom filter has seen; here `line_dedup` with `scope: corpus` and
`exact: true` does the same by a sort. Both run in one process over one file, so that "first seen" is crawl order for
both. Prints how many lines both, one or the other cut, and CPU seconds.
"""

import argparse
import gzip
import json
import random
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
from measured import measure

WORDS = "alpha beta gamma delta river stone house green light water élan naïve 漢字".split()
MENU = 400


def make(path: Path, documents: int) -> None:
    """Texts of 1 to 30 lines, three in ten of which stand elsewhere; some hold letters of several bytes."""
    dice = random.Random(9)
    menu = [" ".join(dice.choices(WORDS, k=dice.randrange(2, 6))) for _ in range(MENU)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for number in range(documents):
            lines = [
                dice.choice(menu) if dice.random() < 0.3 else f"line {number} {' '.join(dice.choices(WORDS, k=12))}"
                for _ in range(dice.randrange(1, 31))
            ]
            day = "2024-01-01T00:00:00.000Z"
            row = {"id": str(number), "text": "\n".join(lines), "source": "made", "added": day, "created": day}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def of_dolma(program: Path, folder: Path) -> tuple[set[tuple[str, int]], float]:
    """(document, first character) of each line that Dolma marks, and CPU seconds."""
    arguments = {
        "documents": f"{folder}/documents/*.jsonl.gz",
        "dedupe.paragraphs.attribute_name": "seen",
        "dedupe.name": "lines",
        "bloom_filter.file": str(folder / "filter.bin"),
        "bloom_filter.size_in_bytes": "0",
        "bloom_filter.estimated_doc_count": "2000000",
        "bloom_filter.desired_false_positive_rate": "0.000000001",
        "processes": "1",
    }
    flags = ["--no-bloom_filter.read_only", "--no-dedupe.skip_empty"]
    cost = measure([program, "dedupe", *(f"--{key}={value}" for key, value in arguments.items()), *flags])
    found = set()
    with gzip.open(folder / "attributes" / "lines" / "texts.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            found |= {(row["id"], start) for start, _, score in row["attributes"]["seen"] if score >= 0.5}
    return found, cost.cpu


def of_ours(folder: Path) -> tuple[set[tuple[str, int]], float]:
    """The same of `line_dedup`: what one cut takes is told line by line."""
    config = {
        "input": {"made": {"path": f"{folder}/documents/*.jsonl.gz", "id": "id"}},
        "output": str(folder / "out"),
        "stages": [{"line_dedup": {"scope": "corpus", "exact": True}}],
    }
    (folder / "config.json").write_text(json.dumps(config))
    program = Path(sys.executable).with_name("curate")
    cost = measure([program, "run", folder / "config.json", "--workers", "1", "--fresh", "--quiet"])
    with gzip.open(folder / "documents" / "texts.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = {row["id"]: row["text"] for row in map(json.loads, file)}
    of_place = {}
    for kind, name in (("shards", "id"), ("ledger", "record_id")):
        for row in pq.read_table(folder / "out" / kind, columns=[name, "offset"]).to_pylist():
            of_place[row["offset"]] = row[name]
    found = set()
    for row in pq.read_table(folder / "out" / "cuts", columns=["offset", "start", "end"]).to_pylist():
        text, at = texts[of_place[row["offset"]]], 0
        for line in text.split("\n"):
            if row["start"] <= at + len(line) - 1 and at < row["end"] and line:
                found.add((of_place[row["offset"]], at))
            at += len(line) + 1
    return found, cost.cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dolma", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/lines"))
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    make(options.folder / "documents" / "texts.jsonl.gz", options.documents)
    theirs, their_cpu = of_dolma(options.dolma, options.folder)
    ours, our_cpu = of_ours(options.folder)
    print(
        json.dumps(
            {
                "both": len(theirs & ours),
                "dolma_alone": len(theirs - ours),
                "ours_alone": len(ours - theirs),
                "dolma_cpu_seconds": round(their_cpu, 1),
                "our_cpu_seconds": round(our_cpu, 1),
            }
        )
    )
    for place in sorted(theirs ^ ours)[:5]:
        print(place, "dolma" if place in theirs else "ours")


if __name__ == "__main__":
    main()
