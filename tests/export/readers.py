"""Readers of the six formats in NumPy, written from the layouts: each gives the sequences of a split in order."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

Sequences = list[list[int]]
TYPES = {"uint16": "<u2", "uint32": "<u4"}


def megatron(folder: Path, split: str) -> Sequences:
    index, data = (folder / f"{split}.idx").read_bytes(), (folder / f"{split}.bin").read_bytes()
    assert index[:9] == b"MMIDIDX\0\0"
    version, code = int.from_bytes(index[9:17], "little"), index[17]
    assert version == 1
    count, documents = np.frombuffer(index, "<u8", 2, 18).tolist()
    lengths = np.frombuffer(index, "<i4", count, 34)
    offsets = np.frombuffer(index, "<i8", count, 34 + 4 * count)
    starts = np.frombuffer(index, "<i8", documents, 34 + 12 * count)
    assert len(index) == 34 + 12 * count + 8 * documents and starts.tolist() == list(range(count + 1))
    dtype = {8: "<u2", 4: "<i4"}[code]
    return [np.frombuffer(data, dtype, n, at).tolist() for n, at in zip(lengths.tolist(), offsets.tolist())]


def mds(folder: Path, split: str) -> Sequences:
    index = json.loads((folder / split / "index.json").read_text())
    assert index["version"] == 2
    found: Sequences = []
    for shard in index["shards"]:
        data = (folder / split / shard["raw_data"]["basename"]).read_bytes()
        assert len(data) == shard["raw_data"]["bytes"] and shard["column_names"] == ["tokens"]
        count = int.from_bytes(data[:4], "little")
        offsets = np.frombuffer(data, "<u4", count + 1, 4).tolist()
        head = json.loads(data[8 + 4 * count : offsets[0]])
        assert count == shard["samples"] and head["column_encodings"] == shard["column_encodings"]
        dtype = TYPES[head["column_encodings"][0].partition(":")[2]]
        for start, end in pairwise(offsets):
            assert int.from_bytes(data[start : start + 4], "little") == end - start - 4
            assert data[start + 4] >> 2 == 1
            width = 1 << (data[start + 4] & 3)
            size = int.from_bytes(data[start + 5 : start + 5 + width], "little")
            found.append(np.frombuffer(data, dtype, size, start + 5 + width).tolist())
    return found


def litdata(folder: Path, split: str) -> Sequences:
    index = json.loads((folder / split / "index.json").read_text())
    dtype = {"no_header_tensor:20": "<u2", "no_header_tensor:15": "<i4"}[index["config"]["data_format"][0]]
    found: Sequences = []
    for chunk in index["chunks"]:
        data = (folder / split / chunk["filename"]).read_bytes()
        count = int.from_bytes(data[:4], "little")
        offsets = np.frombuffer(data, "<u4", count + 1, 4).tolist()
        assert (count, len(data)) == (chunk["chunk_size"], chunk["chunk_bytes"]) and offsets[0] == 8 + 4 * count
        rows = [np.frombuffer(data[start:end], dtype).tolist() for start, end in pairwise(offsets)]
        assert sum(map(len, rows)) == chunk["dim"]
        found += rows
    return found


def nanotron(folder: Path, split: str) -> Sequences:
    found: Sequences = []
    for path in sorted((folder / split).glob("*.ds")):
        about, count, _ = path.with_name(f"{path.name}.metadata").read_text().split("\n")
        tokens = np.fromfile(path, {"2": "<u2", "4": "<u4"}[about.rpartition("|")[2]])
        ends = np.fromfile(path.with_name(f"{path.name}.index"), "<u8").tolist()
        assert len(tokens) == int(count) == ends[-1]
        found += [tokens[start:end].tolist() for start, end in zip([0, *ends], ends)]
    return found


def jsonl(folder: Path, split: str) -> Sequences:
    return [json.loads(line)["tokens"] for path in sorted(folder.glob(f"{split}-*.jsonl")) for line in path.open()]


def flat(folder: Path, split: str) -> Sequences:
    """One sequence: the file knows no borders. The type of its tokens stands in `export.json` alone."""
    dtype = TYPES[json.loads((folder / "export.json").read_text())["tokenizer"]["type"]]
    return [np.fromfile(folder / {"train": "train.bin", "validation": "val.bin"}[split], dtype).tolist()]


READERS: dict[str, Callable[[Path, str], Sequences]] = {
    "bin": flat,
    "jsonl": jsonl,
    "litdata": litdata,
    "mds": mds,
    "megatron": megatron,
    "nanotron": nanotron,
}
