"""Times `curate report` on a made-up run: ledger, measures, samples and shards of as many pages as wanted.

    python bench/report.py --pages 1000000 --out /tmp/report-bench

Values are drawn from distributions that look like a crawl's; verdicts follow the limits of the config, so the
report shows what it would show of a real run of that size.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curate import manifest
from curate.config import Config, parse_config
from curate.report.distributions import lines_of
from curate.schema import LEDGER, SAMPLES, attributes, measure_types, measures_schema, shard_schema
from curate.stage import RuleStage

STAGES = ["extract", {"language": {"keep": ["en"]}}, "gopher", "c4", "fineweb", "exact_dedup", "near_dedup"]
PART = 100_000
LANGUAGES = ["en", "de", "ru", "fr", "ja", "es", "zh", "it", "pt", "nl", "pl", "tr", "vi", "id", "fa", "cs"]
SENTENCE = (
    "The harbour office keeps a list of every boat that came in before the storm and left again on the next day. "
)


def columns(config: Config, rows: int, draw: np.random.Generator) -> dict[str, np.ndarray]:
    """A value of every measure for every page."""
    words = np.maximum(1, draw.lognormal(5.7, 1.2, rows)).astype(np.int64)
    made: dict[str, np.ndarray] = {}
    for name, kind in measure_types(config).items():
        if name.endswith(".words"):
            made[name] = words
        elif name == "language.language":
            weights = 1 / np.arange(1, len(LANGUAGES) + 1) ** 1.1
            made[name] = np.array(LANGUAGES, dtype=object)[draw.choice(len(LANGUAGES), rows, p=weights / weights.sum())]
        elif name.endswith("language_score"):
            made[name] = 1 - draw.beta(0.6, 5, rows)
        elif name.endswith("mean_word_length"):
            made[name] = draw.normal(4.9, 0.7, rows).clip(1)
        elif name.endswith("alphabetic_word_ratio"):
            made[name] = 1 - draw.beta(1.5, 14, rows)
        elif name.endswith("end_mark_line_ratio"):
            made[name] = draw.beta(2, 2, rows)
        elif name.endswith("short_line_ratio"):
            made[name] = draw.beta(2, 4, rows)
        elif name.endswith("stop_words"):
            made[name] = draw.binomial(8, 0.8, rows)
        elif name.endswith("sentences"):
            made[name] = np.maximum(1, words // 18)
        elif pa.types.is_integer(kind):
            made[name] = draw.poisson(0.05, rows)
        else:
            made[name] = draw.beta(0.5, 30, rows) * (draw.random(rows) < 0.4)
    return made


def judged(
    config: Config, made: dict[str, np.ndarray], draw: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stage and reason of each page (None: kept) and the value that broke the limit."""
    rows = len(next(iter(made.values())))
    stage, reason, value = np.full(rows, None, object), np.full(rows, None, object), np.full(rows, np.nan)

    def drop(which: np.ndarray, name: str, why: str, values: np.ndarray | None = None) -> None:
        which = which & (stage == None)  # noqa: E711
        stage[which], reason[which] = name, why
        if values is not None:
            value[which] = values[which].astype(float)

    drop(made["language.language"] != "en", "language", "other_language", made["language.language_score"])
    for name, one in config.document_stages:
        for measure in one.measures if isinstance(one, RuleStage) else ():
            values = made[f"{name}.{measure}"]
            for line in lines_of(name, vars(one), measure, one.measures) if values.dtype != object else ():
                reason_of = line.option.replace("min_", "too_little_").replace("max_", "too_much_")
                drop(line.broken(values), name, reason_of, values)
    drop(draw.random(rows) < 0.08, "exact_dedup", "exact_duplicate")
    drop(draw.random(rows) < 0.12, "near_dedup", "near_duplicate")
    return stage, reason, value


def write_run(out: Path, pages: int, seed: int) -> None:
    """Writes a run of so many pages into an empty folder."""
    config = parse_config({"input": "crawl/*.warc.gz", "output": str(out), "stages": STAGES})
    draw = np.random.default_rng(seed)
    names = ["shards", "ledger", "measures", "samples"]
    for name in names:
        (out / name).mkdir(parents=True, exist_ok=True)
    totals: dict[tuple[str, str, str | None], list[int]] = {}
    kept: dict[str, list[int]] = {}
    samples: dict[tuple[str, str], list[dict[str, Any]]] = {}
    shards = []
    for number in range(-(-pages // PART)):
        rows = min(PART, pages - number * PART)
        shards.append(write_part(out, number, rows, config, draw, totals, kept, samples))
    found = [row for key in sorted(samples) for row in samples[key]]
    pq.write_table(pa.Table.from_pylist(found, schema=SAMPLES), out / "samples" / "samples.parquet")
    write_facts(out, config, pages, totals, kept, shards)


def write_part(
    out: Path,
    number: int,
    rows: int,
    config: Config,
    draw: np.random.Generator,
    totals: dict[Any, list[int]],
    kept: dict[str, list[int]],
    samples: dict[tuple[str, str], list[dict[str, Any]]],
) -> dict[str, Any]:
    """One part of ledger, measures and shards, from one crawl file; returns the facts of its shard."""
    made = columns(config, rows, draw)
    stage, reason, value = judged(config, made, draw)
    unread = draw.random(rows) < 0.12  # dropped before a rule stage saw them
    stage[unread], reason[unread], value[unread] = "read", "bad_status", np.nan
    file, offsets = f"crawl/CC-MAIN-2026-10/part-{number:05d}.warc.gz", np.arange(rows, dtype=np.int64) * 20_000
    site = (draw.pareto(0.9, rows) * 3).astype(np.int64) % 200_000
    domain = np.array([f"site{n}.example" for n in site], object)
    url = np.array([f"https://www.{d}/{number}/{n}.html" for n, d in enumerate(domain)], object)
    words, language = made["gopher.words"], made["language.language"]
    base = {
        "source": np.full(rows, "crawl", object),
        "file_path": np.full(rows, file, object),
        "offset": offsets,
        "words": words,
        "bytes": words * 6,
        "language": language,
        "stage": stage,
        "reason": reason,
    }
    reached = ~unread
    pq.write_table(
        _table({**base, **made}, reached, measures_schema(config)), out / "measures" / f"part-{number:05d}.parquet"
    )
    dropped, corpus = stage != None, np.isin(stage, ["exact_dedup", "near_dedup"])  # noqa: E711
    twins = np.flatnonzero(~dropped)
    twin = twins[(draw.pareto(0.8, rows) * 20).astype(np.int64) % len(twins)]
    entry = {
        **base,
        "length": np.full(rows, 20_000),
        "url": url,
        "domain": domain,
        "value": value,
        "status": np.full(rows, 200),
        "limit": np.where(np.isnan(value), np.nan, 0.5),
        "language": np.where(unread, None, language),
        "matched_file": np.where(corpus, file, None),
        "matched_offset": np.where(corpus, offsets[twin], None),
        "score": np.where(corpus, 0.9, None),
    }
    pq.write_table(_table(entry, dropped, LEDGER), out / "ledger" / f"part-{number:05d}.parquet")
    text = np.full(rows, SENTENCE * 20, object)
    path = out / "shards" / f"part-{number:05d}.parquet"
    shard = {**base, "text": text, "url": url, "language_score": made["language.language_score"], "id": url}
    pq.write_table(_table(shard, ~dropped, shard_schema(attributes(config, []))), path, row_group_size=10_000)
    _count(stage, reason, np.where(unread, None, language), words, totals, kept)
    for place in np.flatnonzero(dropped & reached)[:4000]:
        group = samples.setdefault((stage[place], reason[place]), [])
        if len(group) < 50:
            group.append(
                {
                    "stage": stage[place],
                    "reason": reason[place],
                    "hash": len(group),
                    "source": "crawl",
                    "file_path": file,
                    "offset": int(offsets[place]),
                    "url": url[place],
                    "value": float(value[place]),
                    "limit": 0.5,
                    "text": SENTENCE * 40,
                }
            )
    return {"name": path.name, "rows": int((~dropped).sum()), "bytes": path.stat().st_size, "sha256": "0" * 64}


def _table(values: dict[str, np.ndarray], which: np.ndarray, schema: pa.Schema) -> pa.Table:
    count = int(which.sum())
    return pa.table(
        [
            pa.array(values[f.name][which].tolist(), f.type) if f.name in values else pa.nulls(count, f.type)
            for f in schema
        ],
        schema=schema,
    )


def _count(
    stage: np.ndarray,
    reason: np.ndarray,
    language: np.ndarray,
    words: np.ndarray,
    totals: dict[Any, list[int]],
    kept: dict[str, list[int]],
) -> None:
    for one, why, tongue, number in zip(stage.tolist(), reason.tolist(), language.tolist(), words.tolist()):
        total = kept.setdefault(tongue, [0, 0]) if one is None else totals.setdefault((one, why, tongue), [0, 0])
        total[0] += 1
        total[1] += number if tongue is not None else 0


def write_facts(
    out: Path,
    config: Config,
    pages: int,
    totals: dict[Any, list[int]],
    kept: dict[str, list[int]],
    shards: list[dict[str, Any]],
) -> None:
    """stats.json, timings.json and, last, the manifest."""
    kept_by = [
        {"source": "crawl", "language": tongue, "documents": n, "words": w, "bytes": w * 6, "tokens": 0}
        for tongue, (n, w) in sorted(kept.items())
    ]
    dropped = [
        {
            "stage": s,
            "reason": r,
            "source": "crawl",
            "language": tongue,
            "documents": n,
            "words": w,
            "bytes": w * 6,
            "crawl_bytes": n * 20_000,
        }
        for (s, r, tongue), (n, w) in sorted(totals.items(), key=lambda item: tuple(map(str, item[0])))
    ]
    sums = {name: sum(row[name] for row in kept_by) for name in ("documents", "words", "bytes", "tokens")}
    stats = {
        "stages": ["read", "guard", "caps", *(entry.name for entry in config.stages)],
        "read": {"documents": pages, "bytes": pages * 20_000},
        "records": {"request": {"records": pages, "bytes": pages * 400}},
        "kept": {**sums, "rows": sums["documents"]},
        "kept_by": kept_by,
        "dropped": dropped,
        "notes": {},
        "alarms": [{"alarm": "domain_lost", "name": "site17.example", "dropped": 985, "of": 1000}],
    }
    (out / "stats.json").write_text(json.dumps(stats))
    (out / "timings.json").write_text(
        json.dumps(
            {
                "wall_seconds": {"scan": 9120.0, "decide": 95.0, "write": 210.0},
                "workers": 2,
                "scan_cpu_seconds": 17900.0,
                "stage_cpu_seconds": {
                    "caps": 160.0,
                    "extract": 14200.0,
                    "language": 880.0,
                    "gopher": 1100.0,
                    "c4": 240.0,
                    "fineweb": 130.0,
                    "near_dedup": 420.0,
                },
            }
        )
    )
    parts = {
        "config": config.canonical(),
        "inputs": [["crawl", f"crawl/part-{n:05d}.warc.gz", PART * 20_000, "v"] for n in range(len(shards))],
        "named_files": {},
        "code": {},
        "versions": {"python": sys.version.split()[0]},
        "limit": None,
    }
    manifest.write(out, config, parts, shards, stats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument(
        "--out", type=Path, required=True, help="folder for the made-up run; used again where it is finished"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    if not (given.out / "manifest.json").exists():
        write_run(given.out, given.pages, given.seed)
    for _ in range(given.times):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", "from curate.cli import main; main()", "report", str(given.out)], check=True
        )
        print(f"{time.perf_counter() - start:.2f} s")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    size = (given.out / "report.html").stat().st_size
    print(
        f"{given.pages:,} pages: {size / 1e6:.2f} MB, {(used.ru_utime + used.ru_stime) / given.times:.2f} s of CPU, "
        f"{used.ru_maxrss / 1024:,.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
