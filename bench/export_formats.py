"""Exports one run in all formats, at 1 and 2 workers and after a kill, and has each read back by its own consumer.

    python bench/export_formats.py --peers /path/to/environment/bin/python [--documents 5000] [--work /tmp/formats]

Makes texts (made_texts.py), a tokenizer trained on some, and a run; prints the table of docs/export.md. What each
consumer must read is computed from the shards by the package tokenizers alone, in the order that the index tells.
"""

import argparse
import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from made_texts import texts, write
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

FORMATS = ("bin", "jsonl", "litdata", "mds", "megatron", "nanotron")
LENGTH = 64
CURATE = str(Path(sys.executable).with_name("curate"))
END = "<|endoftext|>"


def train(path: Path, documents: int) -> None:
    """A byte-level BPE of 16,000 tokens."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=16_000, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(texts(min(documents, 2000), seed=5), trainer)
    made.save(str(path))


def expected(out: Path, folder: Path, tokenizer: Path) -> tuple[int, str]:
    """Tokens and hash of the train split: documents in the order of the index, encoded alone, and rows filled."""
    encoder = Tokenizer.from_file(str(tokenizer))
    text = {
        row["id"]: row["text"]
        for path in sorted((out / "shards").glob("*.parquet"))
        for row in pq.read_table(path, columns=["id", "text"]).to_pylist()
    }
    facts = json.loads((folder / "export.json").read_text())
    end = encoder.token_to_id(END)
    digest, tokens = hashlib.sha256(), 0
    for part in facts["parts"]:
        ids: list[int] = []
        for row in pq.read_table(folder / part["index"], columns=["id"]).to_pylist():
            ids += [*encoder.encode(text[row["id"]], add_special_tokens=False).ids, end]
        ids += [end] * (part["tokens"] - len(ids))
        digest.update(np.array(ids, "<u4").tobytes())
        tokens += len(ids)
    return tokens, digest.hexdigest()


def hashes(folder: Path) -> dict[str, str]:
    return {file["name"]: file["sha256"] for file in json.loads((folder / "export.json").read_text())["files"]}


def export(out: Path, to: Path, form: str, tokenizer: Path, workers: int) -> list[str]:
    rows = ["--pack", "concat", "--length", str(LENGTH)] if form in ("litdata", "nanotron") else []
    return [
        CURATE,
        "export",
        str(out),
        "--format",
        form,
        "--tokenizer",
        str(tokenizer),
        "--to",
        str(to),
        "--workers",
        str(workers),
        "--part-tokens",
        "500000",
        "--quiet",
        *rows,
    ]


def killed(command: list[str], to: Path) -> int:
    """Kills an export that has begun to write, again and again until it gets through; returns how often."""
    kills = 0
    while not (to / "export.json").exists():
        process = subprocess.Popen(command, start_new_session=True)
        time.sleep(2 + kills)
        if process.poll() is None:
            subprocess.run(["pkill", "-9", "-s", str(process.pid)], check=False)
            kills += 1
        process.wait()
    return kills


def row(given: argparse.Namespace, form: str, out: Path, tokenizer: Path) -> dict[str, Any]:
    folders = [given.work / f"{form}-{name}" for name in ("one", "two", "killed")]
    for folder, workers in zip(folders, (1, 2)):
        subprocess.run(export(out, folder, form, tokenizer, workers), check=True)
    kills = killed(export(out, folders[2], form, tokenizer, 2), folders[2])
    consumer = Path(__file__).with_name("export_consumer.py")
    command = [given.peers, str(consumer), form, str(folders[0]), "--length", str(LENGTH)]
    printed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    equal = (printed["tokens"], printed["sha256"]) == expected(out, folders[0], tokenizer)
    same = hashes(folders[0]) == hashes(folders[1]) == hashes(folders[2])
    return {"format": form, **printed, "equal": equal, "same": same, "kills": kills}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--work", type=Path, default=Path("/tmp/curate-formats"))
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    given.work.mkdir(parents=True)
    write(given.work / "in", texts(given.documents, seed=4))
    tokenizer = given.work / "tokenizer.json"
    train(tokenizer, given.documents)
    config = {"input": f"{given.work}/in/*.jsonl.gz", "output": f"{given.work}/out", "stages": ["exact_dedup"]}
    (given.work / "config.json").write_text(json.dumps(config))
    subprocess.run([CURATE, "run", str(given.work / "config.json"), "--quiet"], check=True)
    print("| format | read back by | tokens | tokens equal | same bytes: 1 and 2 workers, after a kill |")
    print("|---|---|---:|---|---|")
    for form in FORMATS:
        outcome = row(given, form, given.work / "out", tokenizer)
        same = f"{'yes' if outcome['same'] else 'NO'} ({outcome['kills']} kills)"
        equal = "yes" if outcome["equal"] else "NO"
        print(f"| {form} | {outcome['reader']} | {outcome['tokens']:,} | {equal} | {same} |", flush=True)


if __name__ == "__main__":
    main()
