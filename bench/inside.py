"""How fast the commands that look inside a run answer on a run of N pages: python bench/inside.py [--pages 1000000]

Makes the output of a finished run out of random numbers (shards, ledger, measures, samples, stats, manifest; no
crawl behind it) in a folder, and times each command from the shell, the middle of --times calls.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from curate.config.file import parse_config
from curate.output.schema import LEDGER, SAMPLES, attributes, measures_schema, shard_schema
from curate.write import ledger

STAGES: list[Any] = ["extract", "language", "gopher", "exact_dedup", "near_dedup"]
PER_FILE = 40_000
FATES = (
    ("kept", None, 0.30),
    ("language", "other_language", 0.40),
    ("gopher", "too_few_words", 0.15),
    ("gopher", "too_few_stop_words", 0.05),
    ("exact_dedup", "exact_duplicate", 0.04),
    ("near_dedup", "near_duplicate", 0.06),
)


def make(out: Path, pages: int, seed: int = 1) -> None:
    """Writes the output of a run of so many pages."""
    draw = np.random.default_rng(seed)
    config = parse_config({"input": "crawl/*.warc.gz", "output": str(out), "stages": STAGES})
    fate = draw.choice(len(FATES), pages, p=[share for *_, share in FATES])
    number = np.arange(pages)
    file = number // PER_FILE
    offset = (number % PER_FILE) * 20_011 + draw.integers(0, 19_000, pages)
    names = [f"crawl/CC-MAIN-2024-10-{index:05d}.warc.gz" for index in range(int(file[-1]) + 1)]
    place = pa.table(
        {
            "source": pa.repeat("crawl", pages),
            "file_path": pa.DictionaryArray.from_arrays(file.astype(np.int32), names).cast(pa.string()),
            "offset": offset,
            "length": np.full(pages, 15_000),
            "url": [f"https://www.site{n % 9973}.example/a/{n * 2654435761 % 2**32:x}/page-{n}.html" for n in number],
            "domain": [f"site{n % 9973}.example" for n in number],
            "date": pa.array([f"2024-03-{1 + n % 28:02d}T10:00:00Z" for n in number]),
            "record_id": [f"<urn:uuid:{n * 2654435761 % 2**32:08x}-0000-4000-8000-{n:012x}>" for n in number],
            "language": np.where(fate == 1, "de", "en"),
            "words": np.maximum(1, draw.normal(400, 150, pages)).astype(np.int64),
            "stage": pa.array([FATES[f][0] if f else None for f in fate], pa.string()),
            "reason": pa.array([FATES[f][1] for f in fate], pa.string()),
        }
    )
    place = place.append_column("bytes", pa.array(place["words"].to_numpy() * 6))
    _ledger(out, place.filter(pa.array(fate > 0)), draw)
    _measures(out, place, measures_schema(config), draw)
    _shards(out, place.filter(pa.array(fate == 0)), shard_schema(attributes(config, [])), draw)
    _papers(out, config.canonical(), names, fate, place)


def _padded(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        table[f.name].cast(f.type) if f.name in table.column_names else pa.nulls(table.num_rows, f.type) for f in schema
    ]
    return pa.table(columns, schema=schema)


def _write(table: pa.Table, folder: Path, rows: int, group: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, table.num_rows, rows)):
        part = table.slice(start, rows).combine_chunks()
        pq.write_table(part, folder / f"part-{number:05d}.parquet", compression="zstd", row_group_size=group)


def _ledger(out: Path, dropped: pa.Table, draw: np.random.Generator) -> None:
    twins = np.isin(dropped["stage"].to_numpy(zero_copy_only=False), ["exact_dedup", "near_dedup"])
    twin = draw.integers(0, dropped.num_rows, dropped.num_rows)
    more = {
        "matched_file": dropped["file_path"].take(pa.array(twin)),
        "matched_offset": dropped["offset"].take(pa.array(twin)),
    }
    for name, column in more.items():
        dropped = dropped.append_column(
            name, pa.array(np.where(twins, column.to_numpy(), None), LEDGER.field(name).type)
        )
    dropped = dropped.append_column("score", pa.array(np.where(twins, 0.9, None), pa.float64()))
    _write(_padded(dropped, LEDGER), out / "ledger", ledger.PART_ROWS["ledger"], ledger.GROUP_ROWS)
    _write(_padded(dropped.slice(0, 0), SAMPLES), out / "samples", 1, 1)


def _measures(out: Path, place: pa.Table, schema: pa.Schema, draw: np.random.Generator) -> None:
    for field in schema:
        if field.name not in place.column_names:
            values: Any = np.full(place.num_rows, 2) if field.name == "measured" else draw.random(place.num_rows) * 0.1
            if field.name == "gopher.words":
                values = place["words"]
            elif field.name.endswith(("alphabetic_word_ratio", "language_score")):
                values = 1 - draw.random(place.num_rows) * 0.3
            elif field.name.endswith(("stop_words", "mean_word_length")):
                values = draw.integers(2, 8, place.num_rows)
            elif field.name == "language.language":
                values = place["language"]
            place = place.append_column(field.name, values if isinstance(values, pa.ChunkedArray) else pa.array(values))
    _write(_padded(place, schema), out / "measures", ledger.PART_ROWS["measures"], ledger.GROUP_ROWS)


def _shards(out: Path, kept: pa.Table, schema: pa.Schema, draw: np.random.Generator) -> None:
    words = ["".join(map(chr, draw.integers(97, 123, size))) for size in draw.integers(2, 9, 5000)]
    long = " ".join(draw.choice(words, 200_000).tolist())
    starts = draw.integers(0, len(long) - 40_000, kept.num_rows).tolist()
    text = [long[start : start + size] for start, size in zip(starts, kept["bytes"].to_pylist(), strict=True)]
    kept = kept.append_column("text", pa.array(text)).append_column("id", kept["record_id"])
    _write(_padded(kept, schema), out / "shards", 60_000, 10_000)


def _papers(out: Path, config: dict[str, Any], names: list[str], fate: np.ndarray, place: pa.Table) -> None:
    counts, sums = np.bincount(fate, minlength=len(FATES)), {}
    for name in ("words", "bytes"):
        sums[name] = np.bincount(fate, place[name].to_numpy(), minlength=len(FATES)).astype(int)
    kept = {"documents": int(counts[0]), "words": int(sums["words"][0]), "bytes": int(sums["bytes"][0]), "tokens": 0}
    dropped = [
        {
            "stage": stage,
            "reason": reason,
            "source": "crawl",
            "language": "de" if stage == "language" else "en",
            "documents": int(counts[i]),
            "words": int(sums["words"][i]),
            "bytes": int(sums["bytes"][i]),
            "crawl_bytes": int(counts[i]) * 15_000,
        }
        for i, (stage, reason, _) in enumerate(FATES)
        if i
    ]
    stats = {
        "stages": ["read", "guard", "caps", *STAGES],
        "records": {},
        "notes": {},
        "alarms": [],
        "read": {"documents": len(fate), "bytes": len(fate) * 20_011},
        "kept": {**kept, "rows": kept["documents"]},
        "kept_by": [{"source": "crawl", "language": "en", **kept}],
        "dropped": dropped,
    }
    timings = {
        "wall_seconds": {"scan": 1.0, "decide": 1.0, "write": 1.0},
        "workers": 2,
        "scan_cpu_seconds": 2.0,
        "stage_cpu_seconds": {"extract": 1.0},
    }
    manifest = {
        "config": config,
        "inputs": [["crawl", name, 1 << 30] for name in names],
        "rows": {"read": len(fate)},
        "limit": None,
        "named_files": {},
        "code": {},
        "versions": {},
        "fingerprint": "",
    }
    for name, value in (("stats", stats), ("timings", timings), ("manifest", manifest)):
        (out / f"{name}.json").write_text(json.dumps(value))


def main() -> None:
    """Makes the run where it is not there yet, and times the commands."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("bench-inside"))
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    if not (given.out / "manifest.json").exists():
        make(given.out, given.pages)
    row = pq.read_table(
        sorted((given.out / "ledger").glob("*.parquet"))[-1], columns=["url", "file_path", "offset"]
    ).slice(99, 1)
    shard = sorted((given.out / "shards").glob("*.parquet"))[-1]
    dropped, kept = row.to_pylist()[0], pq.read_table(shard, columns=["url"]).slice(99, 1).to_pylist()[0]
    out = str(given.out)
    commands = [
        ["why", out, dropped["url"]],
        ["why", out, kept["url"]],
        ["why", out, f"{dropped['file_path']}:{dropped['offset']}"],
        ["stats", out],
        ["stats", out, "--by", "domain"],
        ["what-if", out, "gopher.min_words=30", "language.min_score=0.5"],
        ["what-if", out, "--sweep", "gopher.min_words=100:500:50"],
        ["sample", out, "--kept", "-n", "20"],
        ["diff", out, out],
    ]
    for command in commands:
        spent = sorted(seconds(command) for _ in range(given.times))[given.times // 2]
        print(f"{spent[0]:7.2f} s CPU {spent[1]:7.2f} s wall  curate {' '.join(command)}", flush=True)


def seconds(command: list[str]) -> tuple[float, float]:
    """CPU (user and system) and wall seconds of one call from the shell."""
    before, start = os.times(), perf_counter()
    subprocess.run([Path(sys.executable).with_name("curate"), *command], capture_output=True, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, perf_counter() - start


if __name__ == "__main__":
    main()
