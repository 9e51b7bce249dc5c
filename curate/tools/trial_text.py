"""What `curate try` says: the stations of a page that was put on the belt just now."""

from collections.abc import Iterable, Sequence

from curate.belt import Belt, Step
from curate.config.file import Config
from curate.document import Document
from curate.errors import one_line
from curate.inspect.limits import limits_of
from curate.inspect.path import DROPPED, MEASURED, PASSED, Measure, Station
from curate.inspect.path_text import dropped_for, station_lines
from curate.inspect.reopen import plain
from curate.inspect.tables import shown
from curate.output.facts import Options
from curate.sizes import numbered
from curate.stage import READ, RuleStage
from curate.tools.trial import Nearest, TrialPage

NEEDS_OTHERS = "needs the other documents"


class Trial:
    """A page on the belt of a config. `document` is the page as the last stage left it, `stations` the verdicts."""

    def __init__(self, config: Config, page: TrialPage) -> None:
        self.config, self.page = config, page
        self.options: dict[str, Options] = {
            name: arguments for entry in config.canonical()["stages"] for name, arguments in entry.items()
        }
        self.document: Document | None = page.document
        self.stations: list[Station] = []
        self.verdict = "passes all document stages"
        self.dropped = page.drop is not None or page.document is None
        if page.drop is not None:
            self.stations.append(Station(READ, DROPPED, page.drop.reason))
            self._judge(READ, page.drop.reason, page.drop.value, page.drop.limit, page.drop.cause)
        elif page.document is not None:
            self.stations.append(Station(READ, PASSED))
            self._take(Belt.of(config).steps(page.document))

    def _take(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.stations.append(_station(step, self.dropped, self.options.get(step.stage, {}), self.config))
            if self.dropped:
                continue
            self.document = step.doc
            if step.drop:
                self.dropped = True
                self._judge(step.stage, step.drop.reason, step.drop.value, step.drop.limit, step.drop.cause)

    def _judge(self, stage: str, reason: str, value: float | None, limit: float | None, cause: str) -> None:
        verdict = f"dropped by {stage}: {reason}{dropped_for(self.stations, value, limit)}"
        self.verdict = verdict + (f" ({plain(cause)})" if cause else "")

    def lines(self, found: Sequence[Nearest], compared_with: str | None) -> list[str]:
        """The trial as text. `found` is what the corpus stages say of it, beside the documents of `compared_with`."""
        lines = [f"page     {one_line(self.page.name)}"]
        document = self.document
        if document is not None and document.url:
            lines.append(f"url      {plain(document.url)}")
        copy = next((one for one in found if one.reason), None)
        if copy:
            lines.append(f"verdict  dropped by {copy.stage}: {copy.reason}, {shown(copy.score)} alike")
        elif compared_with and not self.dropped:
            lines.append(f"verdict  passes, beside the kept documents of {compared_with}")
        else:
            lines.append(f"verdict  {self.verdict}")
        lines += [f"{'copy of' if one.reason else 'nearest':<8} {_alike(one)}" for one in found if one.compared]
        if document is not None and document.text:
            size = numbered(len(document.text.encode()), "byte")
            lines.append(f"size     {numbered(len(document.words), 'word')}, {size} of text")
        return [*lines, "", *station_lines([*self.stations, *self._corpus(found)])]

    def _corpus(self, found: Sequence[Nearest]) -> list[Station]:
        if self.dropped:
            return []
        by_stage = {one.stage: one for one in found}
        return [_corpus_station(name, by_stage.get(name)) for name, _ in self.config.corpus_stages]


def _station(step: Step, dropped_before: bool, options: Options, config: Config) -> Station:
    limits = limits_of(step.stage, options, step.measures) if step.measures else {}
    measures = tuple(Measure(name, value, tuple(limits[name])) for name, value in step.measures.items())
    if dropped_before:
        return Station(step.stage, MEASURED, step.drop.reason if step.drop else None, measures)
    if step.drop:
        return Station(step.stage, DROPPED, step.drop.reason, measures)
    stage = next((stage for name, stage in config.document_stages if name == step.stage), None)
    note = step.doc.attributes.get(f"{step.stage}_reason") if isinstance(stage, RuleStage) and stage.annotate else None
    return Station(step.stage, f"annotated {note}" if note else PASSED, None, measures)


def _corpus_station(name: str, found: Nearest | None) -> Station:
    if found is None or not found.compared:
        return Station(name, NEEDS_OTHERS)
    return Station(name, DROPPED if found.reason else PASSED, found.reason)


def _alike(found: Nearest) -> str:
    """The most similar document that a corpus stage found."""
    if found.twin is None:
        return f"for {found.stage}: none of {numbered(found.compared, 'document')} is alike"
    place = f"{plain(found.twin['url'] or '(no URL)')} ({one_line(found.twin['file_path'])}:{found.twin['offset']})"
    return f"for {found.stage}: {shown(found.score)} alike, {place}"
