"""What a program left behind: the documents it kept, and how far two programs agree."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Texts = dict[str, str]  # by id


def kept_parquet(folder: Path) -> Texts:
    """Ids and texts of all Parquet files below a folder."""
    texts: Texts = {}
    for path in sorted(folder.rglob("*.parquet")):
        table = pq.ParquetFile(path).read(columns=["id", "text"])
        texts.update(zip(table.column("id").to_pylist(), table.column("text").to_pylist()))
    return texts


def kept_jsonl(folder: Path) -> Texts:
    """Ids of all JSONL files below a folder."""
    texts: Texts = {}
    for path in sorted(folder.rglob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            texts.update({row["id"]: row["text"] for row in map(json.loads, file)})
    return texts


def kept_arrow(folder: Path) -> Texts:
    """Ids and texts of a data set saved by the `datasets` package."""
    texts: Texts = {}
    for path in sorted(folder.glob("data-*.arrow")):
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_stream(source).read_all().select(["id", "text"])
        texts.update(zip(table.column("id").to_pylist(), table.column("text").to_pylist()))
    return texts


def extracted(folder: Path) -> Texts:
    """The texts of an extraction bench."""
    with gzip.open(folder / "texts.json.gz", "rt") as file:
        texts: Texts = json.load(file)
    return texts


def same_words(one: str, other: str) -> float:
    """F1 of two bags of words; 1 where both are empty."""
    first, second = Counter(one.split()), Counter(other.split())
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


def agreement(texts: Texts, reference: Texts) -> str:
    """How many of the reference's documents are there too, and how alike the texts of those are, in words."""
    both = texts.keys() & reference.keys()
    if not reference:
        return "-"
    alike = sum(same_words(texts[number], reference[number]) for number in both) / max(1, len(both))
    return f"{len(both)}/{len(reference)} of the reference's, words F1 {alike:.3f}"
