"""Second half of an export: plans its parts, and writes each out of what the tasks of the first half left."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from curate.durable import atomic, once
from curate.export.formats import Block, ExportLayout, Part, PartFacts, named
from curate.export.packing import Packed, as_documents, best_fit, concatenated
from curate.export.settings import ExportSettings
from curate.export.tokenise import ABOUT, documents_path, tokens_path

BINS_BITS = 16  # parts are cut at multiples of 2^48 of the sort key
SPLITS = ("train", "validation")


class DocumentGroup(NamedTuple):
    """Documents that are ordered among themselves: one phase of the training split, or the validation split."""

    validation: bool
    phase: int


class PartTask(NamedTuple):
    """One part: the documents of a group whose keys lie in [first, last] (bins of keys)."""

    settings: ExportSettings
    layout: ExportLayout
    final: str
    work: str
    sources: int  # tasks of the first half
    number: int
    group: DocumentGroup
    first: int
    last: int
    pad: int | None

    @property
    def part(self) -> Part:
        split = SPLITS[self.group.validation]
        return Part(Path(self.final), Path(self.work), split, self.number, self.layout)


class WrittenPart(TypedDict):
    """What a part came to, as `export.json` names it."""

    split: str
    phase: int
    documents: int  # a document of several copies counts each time
    padded: int
    index: str
    facts: PartFacts


class Sums:
    """Tokens and documents of each group, by bins of their keys: 1 MiB a group, however many documents there are."""

    def __init__(self, work: str, sources: int) -> None:
        self.tokens: dict[DocumentGroup, npt.NDArray[np.int64]] = {}
        for number in range(sources):
            table = _documents(work, number)
            lengths = table.column("length").to_numpy()
            bins = (table.column("key").to_numpy() >> np.uint64(64 - BINS_BITS)).astype(np.int64)
            for group, here in _groups(table):
                held = self.tokens.setdefault(group, np.zeros(1 << BINS_BITS, np.int64))
                np.add.at(held, bins[here], lengths[here])

    def parts(self, part_tokens: int) -> Iterator[tuple[DocumentGroup, int, int]]:
        """Groups in order, each cut into parts of about equally many tokens: group, first and last bin."""
        for group in sorted(self.tokens):
            held = self.tokens[group]
            total = int(held.sum())
            wanted = max(1, -(-total // part_tokens))
            before = np.cumsum(held) - held
            part_of = np.minimum(before * wanted // max(1, total), wanted - 1)
            full = np.flatnonzero(held)
            for part in np.unique(part_of[full]):
                mine = full[part_of[full] == part]
                yield group, int(mine[0]), int(mine[-1])


def _documents(work: str, number: int) -> pa.Table:
    """The documents of a task of the first half, memory-mapped."""
    with pa.memory_map(str(documents_path(work, number))) as source:
        return pa.ipc.open_file(source).read_all()


def _groups(table: pa.Table) -> Iterator[tuple[DocumentGroup, slice]]:
    """Where each group lies among a task's documents, which are sorted by it."""
    validation = table.column("validation").to_numpy()
    phase = table.column("phase").to_numpy()
    edges = np.flatnonzero((validation[1:] != validation[:-1]) | (phase[1:] != phase[:-1])) + 1
    for start, stop in zip([0, *edges.tolist()], [*edges.tolist(), len(phase)]):
        if stop > start:
            yield DocumentGroup(bool(validation[start]), int(phase[start])), slice(start, stop)


def plan(
    settings: ExportSettings, layout: ExportLayout, final: str, work: str, sources: int, pad: int | None
) -> list[PartTask]:
    """The parts of an export in order: numbered within their split."""
    numbers = dict.fromkeys(SPLITS, 0)
    tasks = []
    for group, first, last in Sums(work, sources).parts(settings.part_tokens):
        split = SPLITS[group.validation]
        tasks.append(PartTask(settings, layout, final, work, sources, numbers[split], group, first, last, pad))
        numbers[split] += 1
    return tasks


def write_part(task: PartTask) -> WrittenPart:
    """Writes one part and its index, unless it is whole already."""
    part = task.part
    facts_path = Path(task.work, f"{part.split}-{task.number:05d}.json")
    return once(facts_path, named(task.settings.format).path(part), lambda: _write_part(task))


def _write_part(task: PartTask) -> WrittenPart:
    part = task.part
    tokens, ends, documents = _gathered(task)
    packed = _packed(task, tokens, ends)
    index = Path(task.final, "index", f"{part.split}-{task.number:05d}.parquet")
    _write_index(index, packed, documents)
    writer = named(task.settings.format).open(part)
    names = documents.select(["id", "url"]) if task.settings.pack == "none" else None
    writer.write(Block(packed.tokens, packed.ends, names))
    return {
        "split": part.split,
        "phase": task.group.phase,
        "documents": documents.num_rows,
        "padded": packed.padded,
        "index": f"index/{index.name}",
        "facts": writer.close(),
    }


def _gathered(task: PartTask) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64], pa.Table]:
    """Tokens, ends and descriptions of a part's documents in final order."""
    pieces: list[bytes | memoryview] = []
    tables: list[pa.Table] = []
    for number in range(task.sources):
        table = _documents(task.work, number)
        here = _mine(task, table)
        if here is None:
            continue
        lengths = table.column("length").to_numpy()
        start = int(lengths[: here.start].sum())
        some = table.slice(here.start, here.stop - here.start)
        size = task.layout.dtype.itemsize
        with tokens_path(task.work, number).open("rb") as file:
            file.seek(start * size)
            data = memoryview(file.read(int(lengths[here].sum()) * size))
        cuts = np.concatenate([[0], np.cumsum(lengths[here])]) * size
        pieces += [data[a:b] for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist())]
        tables.append(some.select([*ABOUT, "key", "length"]))
    documents = pa.concat_tables(tables).combine_chunks()
    order = np.argsort(documents.column("key").to_numpy(), kind="stable")  # of equal keys the earlier row
    tokens = np.frombuffer(b"".join([pieces[place] for place in order.tolist()]), task.layout.dtype)
    documents = documents.take(pa.array(order))
    return tokens, np.cumsum(documents.column("length").to_numpy()), documents


def _mine(task: PartTask, table: pa.Table) -> slice | None:
    """Which of a task's documents belong to a part."""
    for group, here in _groups(table):
        if group == task.group:
            bins = table.column("key").to_numpy()[here] >> np.uint64(64 - BINS_BITS)
            start, stop = np.searchsorted(bins, [task.first, task.last + 1])
            return slice(here.start + int(start), here.start + int(stop)) if stop > start else None
    return None


def _packed(task: PartTask, tokens: npt.NDArray[Any], ends: npt.NDArray[np.int64]) -> Packed:
    length, pad = task.settings.length, task.pad
    if task.settings.pack == "none" or length is None or pad is None:
        return as_documents(tokens, ends)
    return (concatenated if task.settings.pack == "concat" else best_fit)(tokens, ends, length, pad)


def _write_index(path: Path, packed: Packed, documents: pa.Table) -> None:
    """One row a piece of a document: where it lies in its part, in tokens, and where the document is from."""
    about = documents.select(list(ABOUT)).take(pa.array(packed.document))
    table = about.add_column(0, "start", pa.array(packed.starts)).add_column(1, "end", pa.array(packed.stops))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", row_group_size=1 << 16)


def files_of(parts: Sequence[WrittenPart]) -> dict[str, int]:
    """Tokens before each part in its file, by the part's index."""
    base: dict[str, int] = {}
    starts = {}
    for part in parts:
        file = part["facts"]["file"]
        starts[part["index"]] = base.get(file, 0)
        base[file] = base.get(file, 0) + part["facts"]["tokens"]
    return starts
