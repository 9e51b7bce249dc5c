"""Is a finished run whole? The manifest against the files: hashes, rows, schemas, sums."""

from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from curate.errors import UserError
from curate.export.export import NAME, opened
from curate.inspect.opened import OpenedRun
from curate.output.facts import ListedFile, ListedShard
from curate.output.folder import EXPORT
from curate.output.manifest import FORMAT
from curate.output.schema import LEDGER, measures_schema


def verify(run: OpenedRun) -> Iterator[str]:
    """Every fault found, a sentence each; nothing where the run is whole."""
    yield from _shards(run)
    yield from _tables(run)
    yield from _sums(run)
    yield from _listed(run)


def _listed(run: OpenedRun) -> Iterator[str]:
    """What the manifest lists beside the shards."""
    for file in (*run.manifest.get("export", ()), *run.manifest.get("index", ()), *_exported_later(run)):
        path = run.folder / file["name"]
        if ".." in PurePosixPath(file["name"]).parts or PurePosixPath(file["name"]).is_absolute():
            yield f"manifest: '{file['name']}' leads out of the folder"
        elif not path.is_file():
            yield f"{file['name']}: is missing"
        elif _sha256(path) != file["sha256"]:
            yield f"{file['name']}: its SHA-256 is not the manifest's"


def _exported_later(run: OpenedRun) -> Iterator[ListedFile]:
    """The files of exports that the command made after the run."""
    listed = {file["name"] for file in run.manifest.get("export", ())}
    for path in sorted((run.folder / EXPORT).glob(f"*/{NAME}")):
        folder = path.parent.relative_to(run.folder).as_posix()
        if f"{folder}/{NAME}" not in listed:
            for file in opened(path.parent)["files"]:
                yield {"name": f"{folder}/{file['name']}", "bytes": file["bytes"], "sha256": file["sha256"]}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _shards(run: OpenedRun) -> Iterator[str]:
    listed = {shard["name"]: shard for shard in run.manifest["shards"]}
    folder = run.folder / "shards"
    found = {path.relative_to(folder).as_posix() for path in run.tables("shards")}
    for name in sorted(found - set(listed)):
        yield f"shards/{name}: is not in the manifest"
    schemas: dict[str, pa.Schema] = {}
    for name, shard in listed.items():
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            yield f"manifest: '{name}' leads out of the folder"
        elif name not in found:
            yield f"shards/{name}: is missing"
        else:
            yield from _shard(folder / name, shard, schemas)


def _shard(path: Path, shard: ListedShard, schemas: dict[str, pa.Schema]) -> Iterator[str]:
    name = f"shards/{shard['name']}"
    if _sha256(path) != shard["sha256"]:
        yield f"{name}: its SHA-256 is not the manifest's"
    try:
        metadata, schema = pq.read_metadata(path), pq.read_schema(path)
    except (pa.ArrowInvalid, OSError) as error:
        yield f"{name}: can't be opened as Parquet ({str(error).splitlines()[0]})"
        return
    if metadata.num_rows != shard["rows"]:
        yield f"{name}: has {metadata.num_rows} rows, the manifest says {shard['rows']}"
    first, expected = next(iter(schemas.items()), (name, schema))
    schemas.setdefault(name, schema)
    if not schema.equals(expected):
        yield f"{name}: its columns differ from those of {first}"


def _tables(run: OpenedRun) -> Iterator[str]:
    for kind, schema in (("ledger", LEDGER), ("measures", measures_schema(run.config))):
        for path in sorted((run.folder / kind).glob("part-*.parquet")):
            try:
                found = pq.read_schema(path)
            except (pa.ArrowInvalid, OSError) as error:
                yield f"{kind}/{path.name}: can't be opened as Parquet ({str(error).splitlines()[0]})"
                continue
            if run.manifest["format"] == FORMAT and not found.equals(schema):
                yield f"{kind}/{path.name}: its columns are not those of this version"


def _sums(run: OpenedRun) -> Iterator[str]:
    rows = run.manifest["rows"]
    try:
        stats = run.stats
    except UserError as error:
        yield str(error).partition("; run ")[0]
        return
    dropped = sum(row["documents"] for row in stats["dropped"])
    ledger = 0
    for path in (run.folder / "ledger").glob("part-*.parquet"):
        try:
            ledger += pq.read_metadata(path).num_rows
        except (pa.ArrowInvalid, OSError):
            return  # said above
    if rows["read"] != rows["kept"] + rows["dropped"]:
        yield f"manifest: read {rows['read']} is not kept {rows['kept']} + dropped {rows['dropped']}"
    if not ledger == dropped == rows["dropped"]:
        yield f"ledger: {ledger} rows, stats.json says {dropped} dropped, the manifest {rows['dropped']}"
    written = sum(shard["rows"] for shard in run.manifest["shards"])
    if not written == rows["written"] == stats["kept"]["rows"]:
        yield f"shards: {written} rows listed, the manifest says {rows['written']}, stats.json {stats['kept']['rows']}"
    if rows["kept"] != stats["kept"]["documents"] or rows["read"] != stats["read"]["documents"]:
        yield "stats.json: counts other documents than the manifest"
