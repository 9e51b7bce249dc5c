"""The index of a run: the sketches of all documents that reached the corpus stages, for later runs to join in.

`index/index.json` says what is there, last. `index/part-00000/` holds 2^20 documents: for each stage the files of its
sketches as a scan task leaves them (`<stage>.keys`, `.counts`, `.records`), so that a later run gathers them as if
they were a task's; and `offsets`, the place of each document in its file. Documents that a corpus stage dropped are in
it, too: what they were dropped for is decided anew, together with the documents of the later run.
"""

import shutil
from collections.abc import Iterator, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypedDict

import numpy as np

from curate.decide.survivors import Survivors, load_survivors
from curate.durable import write_json
from curate.executors.executor import Executor, results
from curate.output.facts import ListedFile
from curate.scan.sketch_writer import COUNT, KEY, sketched_after
from curate.sources.reader import as_json
from curate.stage import CorpusStage, declared

FOLDER, NAME, FORMAT = "index", "index.json", 1
DOCUMENTS = 1 << 20  # of a part
COPIED_AT_ONCE = 1 << 22  # bytes copied at once


class StageTask(NamedTuple):
    """The sketches of one stage, of all scan tasks of a run."""

    work: str
    name: str
    target: str


def joining(stages: Sequence[tuple[str, CorpusStage]]) -> list[tuple[str, CorpusStage]]:
    """The corpus stages whose sketches are those of the scan, and that earlier runs may join."""
    return [(name, stage) for name, stage in sketched_after(stages, -1) if declared(stage).scheme is not None]


class StageIndex(TypedDict):
    """What must be equal for the sketches of two runs to go together."""

    scheme: int | None
    options: dict[str, Any]
    record: Any


class IndexFacts(TypedDict):
    """`index.json`: documents of each part, and [source, name, number of the first document] of each input file."""

    format: int
    documents: list[int]
    stages: dict[str, StageIndex]
    places: list[list[Any]]
    files: list[ListedFile]


def about(stage: CorpusStage) -> StageIndex:
    """Of a stage as it is configured."""
    record = None if stage.record is None else np.dtype(stage.record).descr
    return {"scheme": declared(stage).scheme, "options": as_json(stage), "record": as_json(record)}


def write_index(executor: Executor, survivors: Survivors, final: Path) -> list[ListedFile]:
    """Writes the index of a run whose scan is done; returns its files with bytes and SHA-256, for the manifest."""
    target, temporary = final / FOLDER, final / f".{FOLDER}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    stages = joining(survivors.config.corpus_stages)
    counts = [min(DOCUMENTS, survivors.size - first) for first in range(0, survivors.size, DOCUMENTS)]
    for number in range(len(counts)):
        (temporary / _part(number)).mkdir(parents=True)
    temporary.mkdir(exist_ok=True)
    results(executor, write_stage, [StageTask(str(survivors.work), name, str(temporary)) for name, _ in stages])
    for number, first in enumerate(range(0, survivors.size, DOCUMENTS)):
        survivors.offsets[first : first + DOCUMENTS].tofile(temporary / _part(number) / "offsets")
    paths = sorted(path for path in temporary.rglob("*") if path.is_file())
    files = results(executor, described, [(str(path), path.relative_to(temporary).as_posix()) for path in paths])
    index: IndexFacts = {
        "format": FORMAT,
        "documents": counts,
        "stages": {name: about(stage) for name, stage in stages},
        "places": _places(survivors),
        "files": files,
    }
    write_json(temporary / NAME, index)
    shutil.rmtree(target, ignore_errors=True)
    temporary.rename(target)
    itself = described((str(target / NAME), NAME))
    listed: list[ListedFile] = [*files, itself]
    return [{**file, "name": f"{FOLDER}/{file['name']}"} for file in listed]


def _part(number: int) -> str:
    return f"part-{number:05d}"


def _places(survivors: Survivors) -> list[list[Any]]:
    """Source and name of each input file that has documents, and the number of its first one."""
    places: list[list[Any]] = []
    starts = survivors.pieces[0]
    for start in starts[np.diff(starts, append=survivors.size) > 0].tolist():
        file = survivors.file(start)
        if not places or places[-1][:2] != [file.source, file.name]:
            places.append([file.source, file.name, start])
    return places


def described(task: tuple[str, str]) -> ListedFile:
    """Name, bytes and SHA-256 of a file."""
    path, name = task
    with Path(path).open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
        return {"name": name, "bytes": file.tell(), "sha256": digest}


def write_stage(task: StageTask) -> None:
    """Joins one stage's files of all scan tasks and cuts them at every part."""
    survivors = load_survivors(task.work)
    stage = dict(survivors.config.corpus_stages)[task.name]
    itemsize = 0 if stage.record is None else np.dtype(stage.record).itemsize
    number = held = 0
    for folder, count in zip((scan.folder for scan in survivors.tasks), survivors.counts):
        lengths = np.fromfile(folder / f"{task.name}.counts", COUNT)
        with (folder / f"{task.name}.keys").open("rb") as keys, (folder / f"{task.name}.records").open("rb") as records:
            for some in _cut(count, held):
                part = lengths[:some]
                lengths = lengths[some:]
                _append(task, number, "counts", part.tobytes())
                _copy(task, number, "keys", keys, int(part.sum()) * KEY.itemsize)
                _copy(task, number, "records", records, some * itemsize)
                held += some
                if held == DOCUMENTS:
                    number, held = number + 1, 0


def _cut(count: int, held: int) -> Iterator[int]:
    """`count` documents in pieces that end where a part is full, which holds `held` already."""
    while count:
        some = min(count, DOCUMENTS - held)
        yield some
        count, held = count - some, 0


def _append(task: StageTask, number: int, kind: str, data: bytes) -> None:
    with Path(task.target, _part(number), f"{task.name}.{kind}").open("ab") as file:
        file.write(data)


def _copy(task: StageTask, number: int, kind: str, source: BinaryIO, size: int) -> None:
    with Path(task.target, _part(number), f"{task.name}.{kind}").open("ab") as file:
        while size:
            block = source.read(min(size, COPIED_AT_ONCE))
            file.write(block)
            size -= len(block)
