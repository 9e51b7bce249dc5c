"""The belt as a function: pages in memory in, one verdict a page out."""

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from curate.belt import Belt, Passage, may_give_text
from curate.config.file import Config, parse_config
from curate.decide.cut_text import counted_again, counted_names, cut_out, sketch_living
from curate.decide.cuts import SortedCuts
from curate.decide.decide import decide
from curate.document import Address, Document, Drop
from curate.errors import UserError
from curate.executors.executor import Executor, Serial
from curate.plug_ins.registry import recipe
from curate.scan.blocks import BLOCK
from curate.scan.sketch_writer import SketchWriter, sketch_all, sketched_after
from curate.scan.sketches import gather
from curate.sizes import figure
from curate.sources.dates import utc
from curate.sources.sniff import is_page
from curate.stage import GUARD, CorpusStage, Verdicts, declared
from curate.text import clean

Page = str | bytes | Mapping[str, Any]
Stages = list[tuple[str, CorpusStage]]

NO_TEXT = "is HTML, which no stage turns into text; put 'extract' first, or give {'text': ...} to judge it as it is"

RECIPE = "pages"  # the recipe of `curate(pages)` without a config


@dataclass(frozen=True)
class Verdict:
    """What became of one page. `matched` is the index of the page that a duplicate is a copy of."""

    stage: str | None = None
    reason: str | None = None
    value: float | None = None
    limit: float | None = None
    matched: int | None = None
    score: float | None = None
    text: str = ""

    @property
    def kept(self) -> bool:
        return self.reason is None

    def __bool__(self) -> bool:
        return self.kept

    def __str__(self) -> str:
        if self.kept:
            return "kept"
        limit = ""
        if self.value is not None and self.limit is not None:
            limit = f" ({figure(float(self.value))}, limit {figure(float(self.limit))})"
        twin = f" of page {self.matched}" if self.matched is not None else ""
        return f"{self.stage}: {self.reason}{limit}{twin}"


def curate(pages: Iterable[Page], config: Config | Mapping[str, Any] | None = None) -> list[Verdict]:
    """Runs pages through a config's stages and returns one verdict a page, in order.

    A page is a text, HTML (bytes, or a string that begins as an HTML document does), or a mapping with `text` or `html`
    and perhaps `url` and attributes. `config` is a Config, the mapping of a config file (input and output may be left
    out), or None for the stages of the recipe `pages`: language (by stop words, English), gopher, exact_dedup and
    near_dedup.

    That recipe has no `extract`, so it takes texts alone. Raises UserError for HTML where no stage turns it into text,
    for what is no page, and for one page where several are asked for.
    """
    if isinstance(pages, (str, bytes, Mapping)):  # else each of its letters, bytes or keys would be a page
        raise UserError("pages: is one page; give a list of pages, such as [page]")
    read = _config(config)
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory(prefix="curate-") as folder:
        sketched = Sketched(read, Path(folder))
        for passage in _passages(read, pages):
            drop, text = passage.drop, passage.doc.text
            if drop is None:
                sketched.add(len(verdicts), passage.doc)
                verdicts.append(Verdict(text=text))
            else:
                verdicts.append(Verdict(passage.stage or GUARD, drop.reason, drop.value, drop.limit, text=text))
        for index, verdict in sketched.decided():
            verdicts[index] = replace(verdict, text=verdicts[index].text)
        for index, doc in sketched.edited.items():
            verdicts[index] = replace(verdicts[index], text=doc.text)
    return verdicts


def _passages(config: Config, pages: Iterable[Page]) -> Iterator[Passage]:
    """How each page fared in the document stages; one by one, or many where a stage takes many at once."""
    belt = Belt.of(config)
    extracts = any(may_give_text(stage) for _, stage in config.document_stages)
    waiting: list[Document] = []
    for index, page in enumerate(pages):
        document = _document(index, page)
        if document.html is not None and not extracts:
            raise UserError(f"page {index}: {NO_TEXT}")
        waiting.append(document)
        if len(waiting) >= (BLOCK if belt.together else 1):
            yield from belt.run_all(waiting)
            waiting = []
    yield from belt.run_all(waiting)


class Sketched:
    """The pages that passed the document stages, sketched block by block as a scan task does."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder = config, folder
        self.stages, self.decide = config.corpus_stages, folder / "decide"
        self.first = sketched_after(self.stages, -1)
        self.cutting = any(declared(stage).spans for _, stage in self.stages)
        self.writers = self._writers(self.first)
        self.pages: list[int] = []
        self.block: list[Document] = []
        self.held: list[Document] = []  # all of them, where a stage cuts
        self.edited: dict[int, Document] = {}  # by page
        self.rejected: dict[int, Drop] = {}  # what a stage said of what it had cut, by place

    def _writers(self, stages: Stages) -> list[SketchWriter]:
        folder = self.folder / f"scan-{stages[0][0] if stages else ''}"
        folder.mkdir()
        return [SketchWriter(folder, name, stage) for name, stage in stages]

    def add(self, page: int, doc: Document) -> None:
        self.pages.append(page)
        self.block.append(doc)
        if self.cutting:
            self.held.append(doc)
        if len(self.block) >= BLOCK:
            self._flush()

    def _flush(self) -> None:
        for (_, stage), writer in zip(self.first, self.writers):
            for sketch in sketch_all(stage, self.block):
                writer.add(writer.documents, sketch)
        self.block.clear()

    def _gather(self, stages: Stages, writers: list[SketchWriter]) -> None:
        for writer in writers:
            writer.commit()
            writer.close()
        for name, stage in stages:
            gather(Serial(), self.decide, name, stage, [self.folder / f"scan-{stages[0][0]}"], [len(self.pages)], 1)

    def begin(self, index: int) -> None:
        """Nothing: texts are edited in their order."""

    def apply(self, executor: Executor, index: int, cuts: SortedCuts) -> tuple[dict[str, int], list[Verdicts]]:
        """Cuts in memory what a run would in its work folder."""
        (name, stage), later, verdicts = self.stages[index], sketched_after(self.stages, index), []
        counting = [(word, one) for word, one in self.config.document_stages if declared(one).counts]
        dropped = np.fromfile(self.decide / "verdicts" / "stage.column", np.uint8)
        docs = {place: doc for place, doc in enumerate(self.held) if not dropped[place]}
        items = cuts.of(0, len(self.held))
        for place in np.unique(items["document"]).tolist():
            if place not in docs:
                continue
            doc, mine = docs[place], items[items["document"] == place]
            cut = cut_out(name, stage, doc, mine)
            if cut.drop:
                self.rejected[place] = cut.drop
                verdicts.append(Verdicts(np.array([place]), cut.drop.reason, mine["matched"][:1]))
                del docs[place]
                continue
            doc = counted_again(counting, counted_names(counting, doc.attributes), cut.edited)
            docs[place] = self.held[place] = self.edited[self.pages[place]] = doc
        if later:
            writers = self._writers(later)
            sketch_living(later, writers, docs, len(self.held))
            self._gather(later, writers)
        return {}, verdicts

    def decided(self) -> Iterator[tuple[int, Verdict]]:
        """Pages that a corpus stage drops, with the verdict on each."""
        self._flush()
        self._gather(self.first, self.writers)
        count = len(self.pages)
        table = decide(Serial(), self.decide, self.stages, count, editing=self)
        rows = table.slice(0, count)
        for number in np.flatnonzero(rows.stage).tolist():
            place, matched, score = int(rows.stage[number]) - 1, int(rows.matched[number]), float(rows.score[number])
            drop = self.rejected.get(number)
            yield (
                self.pages[number],
                Verdict(
                    table.stages[place],
                    table.reasons[place][int(rows.reason[number])],
                    drop.value if drop else None,
                    drop.limit if drop else None,
                    matched=self.pages[matched] if matched >= 0 else None,
                    score=None if math.isnan(score) else score,
                ),
            )


def _config(config: Config | Mapping[str, Any] | None) -> Config:
    if isinstance(config, Config):
        return config
    given = {"stages": recipe(RECIPE)} if config is None else config
    if not isinstance(given, Mapping):
        raise UserError("config: must be a mapping with 'stages', or what read_config(FILE) of curate.config gives")
    return parse_config({"input": "memory", "output": "memory", **given})


def _document(index: int, page: Page) -> Document:
    address = Address("memory", "page", index)
    if isinstance(page, str):
        page = {"html": page} if is_page(page) else {"text": page}
    if isinstance(page, bytes):
        return Document(address, id=str(index), html=page)
    if not isinstance(page, Mapping) or not ({"text", "html"} & set(page)):
        raise UserError(f"page {index}: must be a text, HTML bytes, or a mapping with 'text' or 'html'")
    html = page.get("html")
    own = ("text", "html", "url", "date", "id", "charset")
    return Document(
        address,
        id=str(page.get("id", index)),
        url=str(page.get("url", "")),
        date=utc(str(page.get("date", ""))),
        html=html.encode() if isinstance(html, str) else html,
        charset="utf-8" if isinstance(html, str) else page.get("charset"),
        text=clean(str(page.get("text", ""))),
        attributes={k: v for k, v in page.items() if k not in own},
    )
