"""The work of bench/run.py done by datatrove; run with the Python of its own environment.

    VENV/bin/python bench/peer_datatrove.py crawl|minhash|gopher|extract INPUT OUTPUT [--model lid.176.ftz]

The environment: pip install 'datatrove[processing,io]==0.10.*' spacy lxml_html_clean
Prints one JSON object at the end: what was read and kept.
"""

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import Any

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.filters import GopherQualityFilter, GopherRepetitionFilter, LanguageFilter
from datatrove.pipeline.readers import JsonlReader, WarcReader
from datatrove.pipeline.writers import JsonlWriter, ParquetWriter
from datatrove.utils import lid
from datatrove.utils.hashing import HashConfig

BUCKETS, ROWS = 14, 8


def run(given: argparse.Namespace, name: str, pipeline: list[Any], tasks: int) -> Any:
    """One executor to its end."""
    logs = f"{given.output}/logs/{name}"
    return LocalPipelineExecutor(pipeline, tasks=tasks, workers=given.workers, logging_dir=logs).run()


def files(given: argparse.Namespace, pattern: str) -> int:
    return len(list(Path(given.input).glob(pattern)))


def crawl(given: argparse.Namespace) -> dict[str, Any]:
    """WARC to Parquet, as in datatrove's own FineWeb example but with room for slow pages (timeout 10 s, not 1)."""
    lid.FT176LID.MODEL_URL = str(Path(given.model).resolve())  # a file instead of a download
    pipeline = [
        WarcReader(given.input, glob_pattern="*.warc.gz"),
        Trafilatura(favour_precision=not given.balanced, deduplicate=not given.balanced, timeout=10),
        LanguageFilter(languages="en"),
        GopherRepetitionFilter(),
        GopherQualityFilter(),
        ParquetWriter(f"{given.output}/data"),
    ]
    stats = run(given, "crawl", pipeline, files(given, "*.warc.gz"))
    steps = {step.name: step.stats for step in stats.stats}
    extracted = next(counts for name, counts in steps.items() if "Trafilatura" in name)
    return {"read": int(extracted["total"].total)}


def minhash(given: argparse.Namespace) -> dict[str, Any]:
    """Near-dedup in its four stages."""
    tasks = files(given, "*.jsonl.gz")
    config = MinhashConfig(hash_config=HashConfig(precision=64), num_buckets=BUCKETS, hashes_per_bucket=ROWS, n_grams=5)
    out = given.output
    spent: dict[str, float] = {}
    for name, pipeline, count in (
        ("signatures", [reader(given), MinhashDedupSignature(f"{out}/signatures", config=config)], tasks),
        ("buckets", [MinhashDedupBuckets(f"{out}/signatures", f"{out}/buckets", config=config)], BUCKETS),
        ("cluster", [MinhashDedupCluster(f"{out}/buckets", f"{out}/remove", config=config)], 1),
        ("filter", [reader(given), MinhashDedupFilter(f"{out}/remove"), JsonlWriter(f"{out}/data")], tasks),
    ):
        start = time.monotonic()
        run(given, name, pipeline, count)
        spent[name] = round(time.monotonic() - start, 1)
    return {"seconds": spent}


def reader(given: argparse.Namespace) -> JsonlReader:
    return JsonlReader(given.input, glob_pattern="*.jsonl.gz")


def gopher(given: argparse.Namespace) -> dict[str, Any]:
    """Both Gopher filters over JSONL, and what passes them as Parquet."""
    pipeline = [reader(given), GopherRepetitionFilter(), GopherQualityFilter(), ParquetWriter(f"{given.output}/data")]
    run(given, "gopher", pipeline, files(given, "*.jsonl.gz"))
    return {}


def extract(given: argparse.Namespace) -> dict[str, Any]:
    """Extraction alone, in this process and without the sandbox: CPU seconds of the calls."""
    stage = Trafilatura(favour_precision=not given.balanced, deduplicate=not given.balanced)
    texts, spent = {}, 0.0
    for doc in WarcReader(given.input, glob_pattern="*.warc.gz").run():
        start = time.process_time()
        text = stage.extract(doc.text)
        spent += time.process_time() - start
        texts[doc.id] = text or ""
    Path(given.output).mkdir(parents=True, exist_ok=True)
    with gzip.open(f"{given.output}/texts.json.gz", "wt", compresslevel=1) as file:
        json.dump(texts, file)
    return {"read": len(texts), "cpu": round(spent, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["crawl", "minhash", "gopher", "extract"])
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--model", default="")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--balanced", action="store_true", help="trafilatura's defaults instead of datatrove's")
    given = parser.parse_args()
    figures = {"crawl": crawl, "minhash": minhash, "gopher": gopher, "extract": extract}[given.work](given)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
