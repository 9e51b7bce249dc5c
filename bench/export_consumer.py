"""Reads one split of an export by the format's own consumer, and prints tokens and SHA-256 of the token stream as JSON.

    python bench/export_consumer.py FORMAT FOLDER [--length 64]

Runs in an environment that has the consumer (see bench/README.md); imports nothing of ours. Tokens are hashed as
little-endian uint32, one sequence after the other.
"""

import argparse
import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np


def jsonl(folder: Path, length: int) -> Iterator[Any]:
    import datasets

    files = sorted(str(path) for path in folder.glob("train-*.jsonl"))
    yield from (row["tokens"] for row in datasets.load_dataset("json", data_files=files, split="train"))


def megatron(folder: Path, length: int) -> Iterator[Any]:
    from megatron.core.datasets.indexed_dataset import IndexedDataset

    dataset = IndexedDataset(str(folder / "train"))
    yield from (dataset[number] for number in range(len(dataset)))


def mds(folder: Path, length: int) -> Iterator[Any]:
    from streaming import StreamingDataset

    dataset = StreamingDataset(local=str(folder / "train"), shuffle=False, batch_size=1)
    yield from (row["tokens"] for row in dataset)


def litdata(folder: Path, length: int) -> Iterator[Any]:
    from litdata import StreamingDataset, TokensLoader

    dataset = StreamingDataset(str(folder / "train"), item_loader=TokensLoader(block_size=length), shuffle=False)
    yield from (np.asarray(dataset[number]) for number in range(len(dataset)))


def nanotron(folder: Path, length: int) -> Iterator[Any]:
    from datatrove.utils.dataset import DatatroveFolderDataset

    about = next((folder / "train").glob("*.metadata")).read_text().partition("\n")[0]
    size = int(about.rpartition("|")[2])
    dataset = DatatroveFolderDataset(str(folder / "train"), length - 1, filename_pattern="*.ds", token_size=size)
    yield from (dataset[number]["input_ids"].numpy() for number in range(len(dataset)))


def flat(folder: Path, length: int) -> Iterator[Any]:
    kind = json.loads((folder / "export.json").read_text())["tokenizer"]["type"]
    yield np.memmap(folder / "train.bin", kind, "r")


CONSUMERS = {
    "bin": (flat, "numpy"),
    "jsonl": (jsonl, "datasets"),
    "litdata": (litdata, "litdata"),
    "mds": (mds, "mosaicml-streaming"),
    "megatron": (megatron, "megatron-core"),
    "nanotron": (nanotron, "datatrove"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=sorted(CONSUMERS))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--length", type=int, default=64)
    given = parser.parse_args()
    read, package = CONSUMERS[given.format]
    digest, tokens = hashlib.sha256(), 0
    for sequence in read(given.folder.resolve(), given.length):
        array = np.asarray(sequence).astype("<u4")
        digest.update(array.tobytes())
        tokens += array.size
    print(json.dumps({"reader": f"{package} {version(package)}", "tokens": tokens, "sha256": digest.hexdigest()}))


if __name__ == "__main__":
    main()
