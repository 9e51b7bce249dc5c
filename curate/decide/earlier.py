"""Earlier runs whose documents a run is deduplicated against: their indices, opened and checked."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from curate.config.file import Config
from curate.decide.index import FOLDER, FORMAT, NAME, IndexFacts, about, joining
from curate.document import Address
from curate.errors import UserError, cause
from curate.output import manifest
from curate.stage import CorpusStage, declared


@dataclass(frozen=True)
class Earlier:
    """The documents of earlier runs, numbered in the order of the runs and within each in crawl order."""

    folders: tuple[Path, ...]  # of the parts of all indices
    counts: tuple[int, ...]  # documents in each
    places: tuple[tuple[int, str, str], ...]  # number of a file's first document, source and name

    @property
    def size(self) -> int:
        return sum(self.counts)

    def address(self, number: int) -> Address:
        """Where a document of an earlier run lies."""
        firsts = [place[0] for place in self.places]
        _, source, name = self.places[int(np.searchsorted(firsts, number, "right")) - 1]
        ends = np.cumsum(self.counts)
        part = int(np.searchsorted(ends, number, "right"))
        within = number - (int(ends[part - 1]) if part else 0)
        (offset,) = np.fromfile(self.folders[part] / "offsets", "<i8", 1, offset=8 * within).tolist()
        return Address(source, name, offset)


def join_stages(config: Config) -> list[tuple[str, CorpusStage]]:
    """The corpus stages that earlier runs join: the first ones of a config. Raises UserError where they can't."""
    able = dict(joining(config.corpus_stages))
    joined: list[tuple[str, CorpusStage]] = []
    others: list[str] = []
    for name, stage in config.corpus_stages:
        if declared(stage).scheme is None:
            others.append(name)
            continue
        apart = declared(stage).apart
        if apart is not None:
            raise UserError(f"against: {name}: {apart}")
        if others or name not in able:
            raise UserError(
                f"against: {name} stands after {others[-1] if others else 'a stage that cuts texts'}, of whose work on "
                "the earlier runs nothing is known; put it before"
            )
        joined.append((name, stage))
    if not joined:
        raise UserError("against: no stage of this config can look at earlier runs; add one that drops copies")
    return joined


def check_earlier(config: Config) -> None:
    """Raises UserError where an earlier run that a config names has no index, or another one than is wanted."""
    stages = join_stages(config)
    for run in config.against:
        for fault in _faults(Path(run, FOLDER), _read(run), stages):
            raise UserError(f"against: {run}: {fault}")


@lru_cache(maxsize=2)
def open_earlier(runs: tuple[str, ...]) -> Earlier:
    """The earlier runs in these folders, which have been checked."""
    folders: list[Path] = []
    counts: list[int] = []
    places: list[tuple[int, str, str]] = []
    for run in runs:
        index = _read(run)
        before = sum(counts)
        places += [(before + first, source, name) for source, name, first in index["places"]]
        folders += [Path(run, FOLDER, f"part-{number:05d}") for number in range(len(index["documents"]))]
        counts += index["documents"]
    return Earlier(tuple(folders), tuple(counts), tuple(places))


def _read(run: str) -> IndexFacts:
    """`index.json` of a finished run."""
    manifest.read(Path(run))
    path = Path(run, FOLDER, NAME)
    try:
        index: IndexFacts = json.loads(path.read_text())
    except FileNotFoundError:
        raise UserError(
            f"against: {run} keeps no index of its documents; run it again with write: {{index: true}}"
        ) from None
    except (OSError, ValueError) as error:
        raise UserError(f"against: {path} can't be read ({cause(error)}); run it again with --fresh") from None
    return index


def _faults(folder: Path, index: IndexFacts, stages: Sequence[tuple[str, CorpusStage]]) -> Iterator[str]:
    """Why the sketches of an index do not go together with those of some stages."""
    if index.get("format") != FORMAT:
        yield f"its index has format {index.get('format')}, this version reads {FORMAT}; run it again with --fresh"
        return
    for name, stage in stages:
        mine, theirs = json.loads(json.dumps(about(stage))), index["stages"].get(name)
        if theirs is None:
            known = ", ".join(index["stages"]) or "none"
            yield f"its index has no sketches of {name} (it has: {known}); run it again with that stage"
        elif theirs != mine:
            part = next(part for part, value in theirs.items() if mine[part] != value)
            differs = [option for option in mine["options"] if theirs["options"].get(option) != mine["options"][option]]
            what = f"option '{differs[0]}'" if part == "options" and differs else part
            yield f"its sketches of {name} are of another {what}; run it again with the same, or change this config"
    for file in index["files"]:
        path = folder / file["name"]
        if not path.is_file() or path.stat().st_size != file["bytes"]:
            yield f"{FOLDER}/{file['name']} is missing or has another size; see `curate verify`"
