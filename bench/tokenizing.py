"""Tokens per second of CPU: `curate export` beside datatrove's and dolma's tokenizers, same texts, same tokenizer.json.

    python bench/tokenizing.py --datatrove ENV/bin/python --dolma ENV/bin/python [--texts made|found] [--rounds 3]

Each tool runs as a command of its own from files to files, with one worker, in turn, `--rounds` times; counted are user
and system seconds of the command and its children, start included, and the least of the rounds. `made` are texts by
made_texts.py, `found` descriptions and documents that lie under `--roots` (much Markdown with code; none twice).
"""

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from export_formats import CURATE, END, train
from made_texts import texts, write

DATATROVE = """
import sys
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer
source, target, tokenizer, logs = sys.argv[1:]
LocalPipelineExecutor(
    pipeline=[
        JsonlReader(source, glob_pattern="*.jsonl.gz"),
        DocumentTokenizer(target, tokenizer, eos_token="<|endoftext|>", seed=1),
    ],
    tasks=1, workers=1, logging_dir=logs,
).run()
"""
DOLMA = """
import glob, sys
from dolma.tokenizer.executor import tokenize_in_parallel
source, target, tokenizer, logs = sys.argv[1:]
if __name__ == "__main__":
    tokenize_in_parallel(
        sources=sorted(glob.glob(source + "/*.jsonl.gz")), destination=target, num_writers=1, num_readers=1,
        tokenizer_name_or_path=tokenizer, eos_token_id=0, pad_token_id=0, dtype="uint16", metadata_dir=logs,
    )
"""


def found(roots: list[Path]) -> Iterator[str]:
    """Long descriptions of installed packages and their Markdown, reStructuredText and text files, each once."""
    seen = set()
    for root in roots:
        for path in sorted(path for name in ("METADATA", "*.md", "*.rst", "*.txt") for path in root.rglob(name)):
            text = path.read_text(errors="ignore") if path.is_file() else ""
            text = (text.partition("\n\n")[2] if path.name == "METADATA" else text).strip()
            if len(text) > 500 and text not in seen:
                seen.add(text)
                yield text


def cpu(command: list[str]) -> float:
    """User and system seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    around = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(command, capture_output=True, text=True, env=around)
    if done.returncode:
        raise SystemExit(f"{command[:3]} failed: {done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def tokens_of(folder: Path) -> int:
    """Tokens of two bytes in the files of any of the tools."""
    return sum(path.stat().st_size // 2 for pattern in ("*.ds", "*.npy", "train.bin") for path in folder.rglob(pattern))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datatrove")
    parser.add_argument("--dolma")
    parser.add_argument("--texts", choices=["made", "found"], default="made")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--roots", type=Path, nargs="*", default=[Path(sys.prefix)])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path("/tmp/curate-tokenizing"))
    given = parser.parse_args()
    given.work.mkdir(parents=True)
    some = texts(given.documents, seed=4) if given.texts == "made" else found(given.roots)
    write(given.work / "in", some)
    tokenizer = given.work / "tokenizer.json"
    train(tokenizer, 2000)
    config = {"input": f"{given.work}/in/*.jsonl.gz", "output": f"{given.work}/out", "stages": ["exact_dedup"]}
    (given.work / "config.json").write_text(json.dumps(config))
    subprocess.run([CURATE, "run", str(given.work / "config.json"), "--quiet"], check=True)
    target = given.work / "tokens"
    paths = [str(given.work / "in"), str(target), str(tokenizer), str(given.work / "logs")]
    commands = {
        "curate export --format bin": [
            CURATE,
            "export",
            str(given.work / "out"),
            "--format",
            "bin",
            "--tokenizer",
            str(tokenizer),
            "--end",
            END,
            "--to",
            str(target),
            "--workers",
            "1",
        ],
        "datatrove DocumentTokenizer": [given.datatrove, "-c", DATATROVE, *paths],
        "dolma tokens": [given.dolma, "-c", DOLMA, *paths],
    }
    rounds_of: dict[str, list[tuple[int, float]]] = {}
    for _ in range(given.rounds):
        for name, command in commands.items():
            if command[0]:
                seconds = cpu(command)
                rounds_of.setdefault(name, []).append((tokens_of(target), seconds))
                shutil.rmtree(target)
                shutil.rmtree(given.work / "logs", ignore_errors=True)
    size = sum(len(gzip.decompress(path.read_bytes())) for path in (given.work / "in").glob("*.gz"))
    print(f"{given.texts}: {size:,} bytes of JSONL; least CPU of {given.rounds} rounds")
    print("| tool | tokens | CPU seconds | tokens a second of CPU |")
    print("|---|---:|---:|---:|")
    for name, rounds in rounds_of.items():
        tokens, seconds = min(rounds, key=lambda one: one[1])
        print(f"| {name} | {tokens:,} | {seconds:.1f} | {tokens / seconds:,.0f} |")


if __name__ == "__main__":
    main()
