"""First half of an export: tokenises shards, one task some row groups, each task's documents in their final order.

A task leaves `tokens-00000.bin` (the documents' tokens, one after the other) and `documents-00000.arrow` (one row a
document: where it goes and what it is). A document of n copies stands there n times.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from curate.durable import once
from curate.errors import UserError, cause
from curate.export.settings import ExportSettings
from curate.export.tokenizer import load
from curate.routed.routed_file import RoutedFile

BATCH_CHARACTERS = 1 << 19  # of texts encoded at once: the library needs some 200 bytes a token meanwhile
ROWS = 1 << 10
TEXT, PHASE, COPIES = "text", "phase", "copies"
ABOUT = ("id", "url", "file_path", "offset")

U64 = npt.NDArray[np.uint64]


class TokeniseTask(NamedTuple):
    """Row groups of one shard."""

    settings: ExportSettings
    shard: str
    groups: tuple[int, ...]
    first_row: int  # of all rows of the run
    rows: int  # of the run
    work: str
    number: int


def tokens_path(work: str, number: int) -> Path:
    """The tokens that a task left."""
    return Path(work, f"tokens-{number:05d}.bin")


def documents_path(work: str, number: int) -> Path:
    """Where a task says what its tokens are."""
    return Path(work, f"documents-{number:05d}.arrow")


@contextmanager
def open_shard(path: Path) -> Iterator[RoutedFile]:
    """One shard of the run. Raises UserError where it is damaged, then or while the block reads it."""
    try:
        with RoutedFile(path) as shard:
            yield shard
    except (OSError, pa.ArrowException) as error:
        way_out = "run `curate verify` on the run for all that is wrong, or `curate run` with --fresh to make it anew"
        raise UserError(f"{path}: can't be read ({cause(error)}); {way_out}") from None


def tokenise(task: TokeniseTask) -> dict[str, int]:
    """Does one task, unless it is done already; returns its documents and those without any token."""
    facts_path = Path(task.work, f"tokenised-{task.number:05d}.json")
    return once(facts_path, documents_path(task.work, task.number), lambda: _tokenise(task))


def _tokenise(task: TokeniseTask) -> dict[str, int]:
    encoded: list[bytes] = []
    tables: list[pa.Table] = []
    with open_shard(Path(task.shard)) as shard:
        columns = [name for name in (TEXT, *ABOUT, PHASE, COPIES) if name in shard.schema_arrow.names]
        for batch in shard.iter_batches(ROWS, row_groups=list(task.groups), columns=columns):
            encoded += _encoded(task.settings, batch.column(TEXT).to_pylist())
            tables.append(pa.Table.from_batches([batch]).drop_columns([TEXT]))
    documents = pa.concat_tables(tables).combine_chunks()
    rows, about = _placed(task, documents, np.fromiter(map(len, encoded), np.int64, len(encoded)))
    _write(task, [encoded[row] for row in rows.tolist()], about)
    return {"documents": len(encoded), "empty": sum(not data for data in encoded)}


def _encoded(settings: ExportSettings, texts: list[str]) -> Iterator[bytes]:
    """The tokens of each document with its marks, or the bytes of its text."""
    if settings.tokenizer is None:
        yield from (text.encode() for text in texts)
        return
    tokenizer = load(settings.tokenizer)
    begin, end = (
        b"" if mark is None else np.array([mark], tokenizer.dtype).tobytes()
        for mark in (tokenizer.mark(settings.begin, "begin"), tokenizer.mark(settings.end, "end"))
    )
    for some in _batches(texts):
        yield from (begin + data + end for data in tokenizer.encode(some))


def _batches(texts: list[str]) -> Iterator[list[str]]:
    waiting: list[str] = []
    size = 0
    for text in texts:
        if waiting and size + len(text) > BATCH_CHARACTERS:
            yield waiting
            waiting, size = [], 0
        waiting.append(text)
        size += len(text)
    if waiting:
        yield waiting


def _placed(task: TokeniseTask, documents: pa.Table, sizes: npt.NDArray[np.int64]) -> tuple[np.ndarray, pa.Table]:
    """Rows in final order, each as often as it has copies, and what is told of each."""
    count, settings = documents.num_rows, task.settings
    ids = _hashes(documents.column("id"))
    validation = ids < np.uint64(min(int(settings.validation * 2.0**64), 2**64 - 1))
    copies = np.ones(count, np.int64)
    if COPIES in documents.column_names:
        copies = _integers(documents.column(COPIES), 1)
    copies = np.where(validation, _turn(ids) == 0, copies)  # its rows for other phases and copies stand right after
    rows = np.repeat(np.arange(count), np.where(sizes > 0, copies, 0))
    phase = _integers(documents.column(PHASE), 0) if PHASE in documents.column_names else np.zeros(count, np.int64)
    phase = np.where(validation, 0, phase)[rows]
    if settings.order == "crawl":
        shift = 64 - max(1, task.rows).bit_length()
        keys = (np.uint64(task.first_row) + rows.astype(np.uint64)) << np.uint64(shift)
    else:
        keys = _shuffled(ids[rows], _turn(ids[rows]), settings.seed)
    order = np.lexsort((keys, phase, validation[rows]))
    rows = rows[order]
    about = documents.select(list(ABOUT)).take(pa.array(rows))
    itemsize = 1 if settings.tokenizer is None else load(settings.tokenizer).dtype.itemsize
    lengths = sizes[rows] // itemsize
    placed = {"validation": validation[rows], "phase": phase[order], "key": keys[order], "length": lengths}
    for place, (name, values) in enumerate(placed.items()):
        about = about.add_column(place, name, pa.array(values))
    return rows, about


def _hashes(column: pa.ChunkedArray) -> U64:
    hashes = (xxhash.xxh3_64_intdigest((value or "").encode()) for value in column.to_pylist())
    return np.fromiter(hashes, np.uint64, len(column))


def _integers(column: pa.ChunkedArray, default: int) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = column.cast(pa.int64()).fill_null(default).to_numpy()
    return numbers


def _turn(hashes: U64) -> U64:
    """How many documents of the same id stand directly before each: copies of one go to different places."""
    place = np.arange(len(hashes))
    fresh = np.ones(len(hashes), np.bool_)
    fresh[1:] = hashes[1:] != hashes[:-1]
    return (place - np.maximum.accumulate(np.where(fresh, place, 0))).astype(np.uint64)


def _shuffled(hashes: U64, turn: U64, seed: int) -> U64:
    """The keys that documents are sorted by: the finalizer of MurmurHash3 over id, turn and seed."""
    keys = hashes ^ np.uint64(xxhash.xxh3_64_intdigest(str(seed).encode())) ^ (turn * np.uint64(0x9E3779B97F4A7C15))
    for multiplier in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        keys = (keys ^ (keys >> np.uint64(33))) * np.uint64(multiplier)
    shuffled: U64 = keys ^ (keys >> np.uint64(33))
    return shuffled


def _write(task: TokeniseTask, encoded: list[bytes], about: pa.Table) -> None:
    """Tokens first: that the documents are there says that all is."""
    tokens, documents = tokens_path(task.work, task.number), documents_path(task.work, task.number)
    temporary = tokens.with_suffix(".tmp")
    with temporary.open("wb") as file:
        file.writelines(encoded)
    temporary.replace(tokens)
    temporary = documents.with_suffix(".tmp")
    with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, about.schema) as writer:
        writer.write_table(about.combine_chunks())
    temporary.replace(documents)
