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

from curate.config.file import Config, parse_config
from curate.output import manifest
from curate.output.schema import LEDGER, SAMPLES, attributes, measure_types, measures_schema, shard_schema
from curate.report.distributions import lines_of
from curate.stage import RuleStage

STAGES = ["extract", {"language": {"keep": ["en"]}}, "gopher", "c4", "fineweb", "exact_dedup", "near_dedup"]
PART, RECORD_BYTES = 100_000, 20_000
TIMINGS = {
    "wall_seconds": {"scan": 9120.0, "decide": 95.0, "write": 210.0},
    "workers": 2,
    "scan_cpu_seconds": 17900.0,
    "stage_cpu_seconds": {"caps": 160.0, "extract": 14200.0, "language": 880.0, "gopher": 1100.0, "c4": 240.0},
}
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


def judged(config: Config, made: dict[str, np.ndarray], draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Stage, reason, value and limit of each page, as the stages judge its measures; None for kept ones."""
    rows = len(next(iter(made.values())))
    verdicts = {name: np.full(rows, None, object) for name in ("stage", "reason", "value", "limit")}
    for name, stage in config.document_stages:
        if isinstance(stage, RuleStage):
            columns_of = {measure: made[f"{name}.{measure}"] for measure in stage.measures}
            for row in np.flatnonzero(suspects(name, stage, columns_of) & (verdicts["stage"] == None)):  # noqa: E711
                drop = stage.judge({measure: values[row] for measure, values in columns_of.items()})
                if drop:
                    verdicts["stage"][row], verdicts["reason"][row] = name, drop.reason
                    verdicts["value"][row], verdicts["limit"][row] = drop.value, drop.limit
    for name, reason, share in (("exact_dedup", "exact_duplicate", 0.08), ("near_dedup", "near_duplicate", 0.12)):
        which = (draw.random(rows) < share) & (verdicts["stage"] == None)  # noqa: E711
        verdicts["stage"][which], verdicts["reason"][which] = name, reason
    unread = draw.random(rows) < 0.12  # dropped before a rule stage saw them
    for key, value in (("stage", "read"), ("reason", "bad_status"), ("value", None), ("limit", None)):
        verdicts[key][unread] = value
    return verdicts


def suspects(name: str, stage: RuleStage, values: dict[str, np.ndarray]) -> np.ndarray:
    """Pages that may break a rule: those beyond a limit, and all in another language."""
    found = np.zeros(len(next(iter(values.values()))), dtype=bool)
    for measure, column in values.items():
        if column.dtype == object:
            found |= column != "en"
        else:
            for line in lines_of(name, vars(stage), measure, stage.measures):
                found |= line.broken(column)
    return found


class MadeRun:
    """A run in the making: parts are written one after the other, the facts that sum them up at the end."""

    def __init__(self, out: Path, config: Config, seed: int) -> None:
        self.out, self.config, self.draw = out, config, np.random.default_rng(seed)
        self.dropped: dict[tuple[str, str, str | None], list[int]] = {}  # documents, words
        self.kept: dict[str, list[int]] = {}
        self.samples: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self.shards: list[dict[str, Any]] = []
        for name in ("shards", "ledger", "measures", "samples"):
            (out / name).mkdir(parents=True, exist_ok=True)

    def write(self, pages: int) -> None:
        """Writes all parts and files."""
        for number in range(-(-pages // PART)):
            self.write_part(number, min(PART, pages - number * PART))
        found = [row for key in sorted(self.samples) for row in self.samples[key]]
        pq.write_table(pa.Table.from_pylist(found, schema=SAMPLES), self.out / "samples" / "samples.parquet")
        self.write_facts(pages)

    def write_part(self, number: int, rows: int) -> None:
        """One part of ledger, measures and shards, from one crawl file."""
        draw, name = self.draw, f"part-{number:05d}.parquet"
        made = columns(self.config, rows, draw)
        verdicts = judged(self.config, made, draw)
        site = (draw.pareto(0.9, rows) * 3).astype(np.int64) % 200_000
        domain = np.array([f"site{n}.example" for n in site], object)
        unread, dropped = verdicts["stage"] == "read", verdicts["stage"] != None  # noqa: E711
        page = {
            **verdicts,
            "source": np.full(rows, "crawl", object),
            "file_path": np.full(rows, f"crawl/CC-MAIN-2026-10/part-{number:05d}.warc.gz", object),
            "offset": np.arange(rows, dtype=np.int64) * RECORD_BYTES,
            "length": np.full(rows, RECORD_BYTES),
            "status": np.full(rows, 200),
            "words": made["gopher.words"],
            "bytes": made["gopher.words"] * 6,
            "language": np.where(unread, None, made["language.language"]),
            "domain": domain,
            "url": np.array([f"https://www.{d}/{number}/{n}.html" for n, d in enumerate(domain)], object),
            "text": np.full(rows, SENTENCE * 20, object),
        }
        self._write_table("measures", name, {**page, **made}, ~unread, measures_schema(self.config))
        self._write_table("ledger", name, {**page, **self._twins(page)}, dropped, LEDGER)
        self._write_table("shards", name, page, ~dropped, shard_schema(attributes(self.config, [])))
        size = (self.out / "shards" / name).stat().st_size
        self.shards.append({"name": name, "rows": int((~dropped).sum()), "bytes": size, "sha256": "0" * 64})
        self._count(page)
        self._sample({**page, "text": np.full(rows, SENTENCE * 40, object)}, np.flatnonzero(dropped & ~unread))

    def _twins(self, page: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """For each duplicate the kept page it is one of, few of them with many copies."""
        rows = len(page["stage"])
        copies = np.isin(page["stage"].astype(str), ["exact_dedup", "near_dedup"])
        kept = np.flatnonzero(page["stage"] == None)  # noqa: E711
        twin = kept[(self.draw.pareto(0.8, rows) * 20).astype(np.int64) % len(kept)]
        return {
            "matched_file": np.where(copies, page["file_path"], None),
            "matched_offset": np.where(copies, page["offset"][twin], None),
            "score": np.where(copies, 1 - self.draw.random(rows) * 0.2, None),
        }

    def _write_table(self, kind: str, name: str, values: dict[str, Any], which: np.ndarray, schema: pa.Schema) -> None:
        count = int(which.sum())
        arrays = [
            pa.array(values[field.name][which].tolist(), field.type)
            if field.name in values
            else pa.nulls(count, field.type)
            for field in schema
        ]
        pq.write_table(pa.table(arrays, schema=schema), self.out / kind / name, compression="zstd", row_group_size=PART)

    def _count(self, page: dict[str, np.ndarray]) -> None:
        names = ("stage", "reason", "language", "words")
        for stage, reason, language, words in zip(*(page[name].tolist() for name in names)):
            kept, key = self.kept, (stage, reason, language)
            total = kept.setdefault(language, [0, 0]) if stage is None else self.dropped.setdefault(key, [0, 0])
            total[0] += 1
            total[1] += words if language is not None else 0

    def _sample(self, page: dict[str, np.ndarray], places: np.ndarray) -> None:
        """The first 50 texts of each rule."""
        for place in places.tolist():
            group = self.samples.setdefault((page["stage"][place], page["reason"][place]), [])
            if len(group) < 50:
                row = {name: page[name][place] for name in SAMPLES.names if name in page}
                group.append({**row, "offset": int(row["offset"]), "hash": len(group)})

    def write_facts(self, pages: int) -> None:
        """stats.json, timings.json and, last, the manifest."""
        kept_by = [
            {"source": "crawl", "language": language, "documents": n, "words": w, "bytes": w * 6, "tokens": 0}
            for language, (n, w) in sorted(self.kept.items())
        ]
        names = ("stage", "reason", "language", "documents", "words", "bytes", "crawl_bytes", "source")
        dropped = [
            dict(zip(names, (*key, n, w, w * 6, n * RECORD_BYTES, "crawl")))
            for key, (n, w) in sorted(self.dropped.items(), key=lambda item: tuple(map(str, item[0])))
        ]
        sums = {name: sum(row[name] for row in kept_by) for name in ("documents", "words", "bytes", "tokens")}
        stats = {
            "stages": ["read", "guard", "caps", *(entry.name for entry in self.config.stages)],
            "read": {"documents": pages, "bytes": pages * RECORD_BYTES},
            "records": {"request": {"records": pages, "bytes": pages * 400}},
            "kept": {**sums, "rows": sums["documents"]},
            "kept_by": kept_by,
            "dropped": dropped,
            "notes": {},
            "alarms": [{"alarm": "domain_lost", "name": "site17.example", "dropped": 985, "of": 1000}],
        }
        (self.out / "stats.json").write_text(json.dumps(stats))
        (self.out / "timings.json").write_text(json.dumps(TIMINGS))
        inputs = [["crawl", f"crawl/part-{n:05d}.warc.gz", PART * RECORD_BYTES, ""] for n in range(len(self.shards))]
        parts = {"config": self.config.canonical(), "inputs": inputs, "named_files": {}, "code": {}, "versions": {}}
        manifest.write(self.out, self.config, {**parts, "limit": None}, self.shards, stats, {})


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
        config = parse_config({"input": "crawl/*.warc.gz", "output": str(given.out), "stages": STAGES})
        MadeRun(given.out, config, given.seed).write(given.pages)
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
