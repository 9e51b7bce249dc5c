"""One page through the belt: where it comes from, what each stage says, and which kept documents it resembles."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curate.config.file import Config
from curate.document import Address, Document, Drop
from curate.errors import UserError, cause
from curate.inspect.lookup import ending_with
from curate.inspect.opened import OpenedRun
from curate.output.facts import StoredRow
from curate.scan.crawl import input_files
from curate.scan.sketch_writer import sketch_all
from curate.sources import SourceConfig, find_files, reader
from curate.sources.formats import by_suffix
from curate.sources.reader import InputFile, Slice, Span
from curate.sources.sniff import MAGIC
from curate.stage import CorpusStage, declared

SKETCHED_AT_ONCE = 256  # kept documents sketched at once


class TrialPage(NamedTuple):
    """A page to try: the document, or the reader's own verdict on the record (with the document where there is one)."""

    name: str
    document: Document | None
    drop: Drop | None = None


def page_at(config: Config, place: str) -> TrialPage:
    """The page at a place: `-` (HTML on standard input), FILE#URL, FILE:OFFSET, or a file that is one page.

    A crawl file of the config may be named by its last parts. Raises UserError where there is no such page.
    """
    if place == "-":
        return TrialPage("standard input", Document(Address("try", "-", 0), html=sys.stdin.buffer.read()))
    name, hash_mark, url = place.partition("#")
    if hash_mark and not Path(place).is_file():
        return _first(
            config,
            name,
            Slice(),
            f"{place}: no page of this file has that URL",
            lambda span: span.document is not None and span.document.url == url,
        )
    name, colon, offset = place.rpartition(":")
    if colon and offset.isdecimal() and not Path(place).is_file():
        part = Slice(int(offset), int(offset) + 1)
        return _first(
            config,
            name,
            part,
            f"{place}: no page starts here",
            lambda span: span.offset == part.start and bool(span.document or span.drop),
        )
    return _page_file(place)


def _page_file(path: str) -> TrialPage:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"{path}: can't be read ({cause(error)}); give a page, FILE#URL or FILE:OFFSET") from None
    if by_suffix(path) or data.startswith(MAGIC):
        raise UserError(f"{path}: is no page; one record of a crawl file is named FILE#URL or FILE:OFFSET")
    address = Address("try", path, 0)
    if path.endswith(".txt"):
        return TrialPage(path, Document(address, id=path, text=data.decode("utf-8", "replace")))
    return TrialPage(path, Document(address, id=path, html=data))


def _first(config: Config, name: str, part: Slice, missing: str, wanted: Callable[[Span], bool]) -> TrialPage:
    """The first page wanted of a file, read as the config would: as the source it belongs to, else by its defaults."""
    file, source = _input(config, name)
    for span in reader(source, file).read(file, part):
        if wanted(span):
            span = span.settled()
            return TrialPage(f"{file.name}:{span.offset}", span.document, span.drop)
    raise UserError(f"{missing}; `curate why` and the ledger have URLs and offsets as they are")


def _input(config: Config, name: str) -> tuple[InputFile, SourceConfig]:
    try:
        files = {file.name: file for file in input_files(config)}
    except UserError:  # the config's own input may be elsewhere
        files = {}
    known = ending_with(list(files), name)
    if known:
        return files[known], config.input[files[known].source]
    sources = list(config.input.values())
    source = replace(sources[0], path=name, paths=None, cdx=()) if len(sources) == 1 else SourceConfig(path=name)
    try:
        found = find_files("try", source)
    except UserError:
        way_out = "give a file of the config's input or another crawl file"
        raise UserError(f"{name}: there is no such file; {way_out}") from None
    if len(found) > 1:
        raise UserError(f"{name}: stands for {len(found)} files; name one, such as {found[0].name}")
    return found[0], source


@dataclass(frozen=True)
class Nearest:
    """What a corpus stage finds among the kept documents of a run: the most similar one, `copy` where it is one."""

    stage: str
    reason: str | None
    score: float | None = None
    twin: StoredRow | None = None  # url, file_path, offset
    compared: int = 0


def against(config: Config, document: Document, run: OpenedRun) -> list[Nearest]:
    """Compares a page that passed the document stages with the kept documents of a run, for each corpus stage."""
    found = [_Comparison(name, stage, document) for name, stage in config.corpus_stages]
    for docs, rows in _kept(run, document.address):
        for comparison in found:
            comparison.take(docs, rows)
    return [comparison.result() for comparison in found]


def _kept(run: OpenedRun, itself: Address) -> Iterator[tuple[list[Document], list[dict[str, Any]]]]:
    """Kept documents in blocks, but for the page itself."""
    place = (itself.file, itself.offset)
    for path in run.parts("shards"):
        with run.open_part(path) as part:
            for batch in part.iter_batches(SKETCHED_AT_ONCE, columns=["text", "url", "file_path", "offset"]):
                rows = [row for row in batch.to_pylist() if (row["file_path"], row["offset"]) != place]
                texts = [row.pop("text") for row in rows]
                yield (
                    [
                        Document(Address("", row["file_path"], row["offset"]), url=row["url"] or "", text=text)
                        for row, text in zip(rows, texts, strict=True)
                    ],
                    rows,
                )


class _Comparison:
    """One corpus stage: the page's sketch, and the most similar of the documents seen so far."""

    def __init__(self, name: str, stage: CorpusStage, document: Document) -> None:
        self.name, self.stage = name, stage
        self.able = bool(stage.reasons) and stage.record is not None  # what has no record has no twin to show
        self.mine = sketch_all(stage, [document])[0] if self.able else None
        self.able = self.mine is not None and len(self.mine.keys) > 0
        alike_from = declared(stage).alike_from
        self.alike_from = 1.0 if alike_from is None else alike_from
        self.best: tuple[bool, float] = (False, -1.0)
        self.twin: StoredRow | None = None
        self.compared = 0

    def take(self, docs: list[Document], rows: list[StoredRow]) -> None:
        """Compares a block of documents."""
        if not self.able or self.mine is None:
            return
        for sketch, row in zip(sketch_all(self.stage, docs), rows, strict=True):
            self.compared += 1
            score = self._score(self.mine.record, sketch.record)
            met = not set(self.mine.keys.tolist()).isdisjoint(sketch.keys.tolist())
            copy = met and score >= self.alike_from
            if (copy, score) > self.best:
                self.best, self.twin = (copy, score), row

    def _score(self, *records: Any) -> float:
        """Similarity of two records: the stage's own, else whether they are equal."""
        similarity = declared(self.stage).similarity
        one, other = (np.asarray(r, self.stage.record).reshape(1) for r in records)
        if similarity is None:
            return float(one.tobytes() == other.tobytes())
        return float(similarity(one, other)[0])

    def result(self) -> Nearest:
        """The most similar document, with the stage's reason where the page is a copy of it."""
        copy, score = self.best
        if not copy and score <= 0:
            return Nearest(self.name, None, None, None, self.compared)
        return Nearest(self.name, self.stage.reasons[0] if copy else None, score, self.twin, self.compared)
