"""What a run recorded of every page that a rule stage measured, as arrays in crawl order."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from curate.config.file import Config
from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.stage import CorpusStage, DocumentStage, RuleStage

I64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
KEPT, UNKNOWN = -1, -2  # codes of a verdict's stage; others are places in Recorded.stages
OFFSET_BITS = 40  # of a place packed into one number: files of up to 1 TiB
BASE = ["source", "file_path", "offset", "language", "words", "stage", "reason", "measured"]


@dataclass(frozen=True)
class Recorded:
    """One item a measured page. `stage` and `reason` are codes: places in `stages` and `reasons`."""

    run: OpenedRun
    stages: tuple[str, ...]  # read, guard, caps, then those of the config
    reasons: tuple[str, ...]
    stage: I64
    reason: I64
    words: I64
    measured: I64
    source: I64  # place in `sources`
    language: I64  # place in `languages`; the last one is None
    sources: tuple[str, ...]
    languages: tuple[str | None, ...]
    key: I64  # ascending: file and offset

    @classmethod
    def of(cls, run: OpenedRun) -> "Recorded":
        """Reads the measures of a run. Raises UserError where it recorded none."""
        if "measured" not in run.columns("measures"):
            raise UserError(f"{run.folder}: recorded no measures (no rule stage, or an older version); run it again")
        table = run.read("measures", BASE)
        stages = tuple(run.stats["stages"])
        stage, found = _codes(table["stage"])
        reason, reasons = _codes(table["reason"])
        source, sources = _codes(table["source"])
        language, languages = _codes(table["language"])
        place = np.array([*(stages.index(name) for name in found), KEPT])
        return cls(
            run,
            stages,
            (*reasons, ""),
            place[stage],
            reason,
            table["words"].to_numpy(),
            table["measured"].to_numpy().astype(np.int64),
            source,
            language,
            sources,
            (*languages, None),
            keys(run, table["file_path"], table["offset"]),
        )

    def __len__(self) -> int:
        return len(self.stage)

    @cached_property
    def config(self) -> Config:
        """The config of the run."""
        return self.run.config

    @cached_property
    def document_stages(self) -> list[tuple[int, str, DocumentStage | RuleStage]]:
        """Code, name and stage of the document stages, in order."""
        return [(self.stages.index(name), name, stage) for name, stage in self.config.document_stages]

    @cached_property
    def corpus_stages(self) -> list[tuple[int, str, CorpusStage]]:
        """Code, name and stage of the corpus stages, in order."""
        return [(self.stages.index(name), name, stage) for name, stage in self.config.corpus_stages]

    def column(self, name: str) -> pa.ChunkedArray:
        """One measure of all pages."""
        return self.run.read("measures", [name]).column(0)

    @cached_property
    def passed(self) -> Mask:
        """Pages that came through all document stages."""
        corpus = [code for code, *_ in self.corpus_stages]
        passed: Mask = (self.stage == KEPT) | np.isin(self.stage, corpus)
        return passed


def _codes(column: pa.ChunkedArray) -> tuple[I64, tuple[str, ...]]:
    """Values as places in a tuple of all values; null is one past its end."""
    encoded = column.combine_chunks().dictionary_encode()
    values = tuple(encoded.dictionary.to_pylist())
    return encoded.indices.fill_null(len(values)).to_numpy().astype(np.int64), values


def keys(run: OpenedRun, files: pa.ChunkedArray, offsets: pa.ChunkedArray) -> I64:
    """One number for file and offset of each page of a run, ascending in crawl order."""
    return packed({name: number for number, name in enumerate(run.files)}, files, offsets)


def packed(order: Mapping[str, int], files: pa.ChunkedArray, offsets: pa.ChunkedArray) -> I64:
    """One number for file (by its number in `order`) and offset; below 0 where the file is null or not among them."""
    code, names = _codes(files)
    place = np.array([*(order.get(name, -1) for name in names), -1], np.int64)
    offset = offsets.fill_null(0).to_numpy()
    if len(offset) and int(offset.max()) >> OFFSET_BITS:
        raise UserError(
            f"a document lies at {int(offset.max()):,} of its file; runs over files of more than 1 TiB "
            "can't be looked into: split them"
        )
    numbers: I64 = (place[code] << OFFSET_BITS) + offset
    return numbers
