"""Where two sets of document rules disagree on the pages of a finished run.

Where both are the run's own config with other limits, what the run recorded answers for every page that it measured.
Else pages drawn by a hash of where they lie are read again from the input, and go through both sets of stages.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curate.belt import Belt
from curate.caps import Caps
from curate.config import recipes
from curate.config.file import Config, Entry, entry_of, parse_config, read_config
from curate.document import Document
from curate.errors import UserError, hint
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import KEPT, UNKNOWN, Recorded
from curate.inspect.reopen import Gone, Reopened
from curate.inspect.tables import lines
from curate.sizes import numbered
from curate.stage import CAPS, DocumentStage, rules_of
from curate.what_if.propose import mixed
from curate.what_if.redecide import Changes, redecide
from curate.yaml12 import load

EXAMPLES = 5  # pages named for each way of disagreeing
Line = list[tuple[str, DocumentStage]]


class SideVerdict(NamedTuple):
    """What one side says of a page: None where it keeps it, else `stage: reason`, with value and limit where known."""

    dropped: str | None
    value: float | None = None
    limit: float | None = None


class ComparedPage(NamedTuple):
    """A page on which both sides were asked."""

    place: str  # FILE:OFFSET
    a: SideVerdict
    b: SideVerdict


@dataclass(frozen=True)
class RulesDifference:
    """The answer. `from_records`: every measured page, by what was recorded; else a sample that was read again."""

    from_records: bool
    pages: int
    both_keep: int
    both_drop: int
    other_reason: int  # of `both_drop`: dropped for different reasons
    only_a: tuple[tuple[str, int], ...]  # kept by a alone: the reasons of b
    only_b: tuple[tuple[str, int], ...]
    examples: tuple[ComparedPage, ...]
    left_out: int  # pages that one side's stages did not see in the run, or that could not be read again


def side(run: OpenedRun, word: str, without: Sequence[str] = ()) -> Config:
    """What a word names: `run`, a config file, a recipe, or the run's config with STAGE.OPTION=VALUE (more by commas).

    Raises UserError where it names nothing.
    """
    if word == "run":
        return run.config
    if Path(word).is_file():
        return read_config(word)
    if "=" in word:
        return _changed(run.config, word)
    found = recipes.recipe(word)
    recipe = found.without([name for name in without if name in found.stages])
    return parse_config(load(recipe.text, word), f"recipe {word}")


def _changed(config: Config, word: str) -> Config:
    """The run's config with other options for some stages."""
    entries: dict[str, Entry] = {entry.name: entry for entry in config.stages}
    arguments = {name: dict(given) for one in config.canonical()["stages"] for name, given in one.items()}
    for part in _parts(word):
        place, equals, text = part.partition("=")
        stage, dot, option = place.strip().rpartition(".")
        if not equals or not dot:
            raise UserError(f"'{part}': give STAGE.OPTION=VALUE, for example gopher.profile=dolma")
        if stage not in entries:
            raise UserError(f"'{part}': the run has no stage '{stage}', {hint(stage, list(entries))}")
        arguments[stage][option] = load(text, part)
        entries[stage] = entry_of(stage, arguments[stage], part)
    return replace(config, stages=tuple(entries[entry.name] for entry in config.stages))


def _parts(word: str) -> Iterator[str]:
    """The changes of a word, parted by commas that stand before another STAGE.OPTION= (a value may hold commas)."""
    part = ""
    for piece in word.split(","):
        head = piece.partition("=")[0]
        if part and "=" in piece and "." in head and not set(head) & set("[]{}\"' "):
            yield part
            part = piece
        else:
            part = f"{part},{piece}" if part else piece
    yield part


def difference(
    run: OpenedRun, a: Config, b: Config, pages: int, tell: Callable[[str], None] = lambda _: None
) -> RulesDifference:
    """Where two sides disagree, from the records if those can answer, else on so many pages read again."""
    changes = _limits_only(run.config, a), _limits_only(run.config, b)
    if changes[0] is not None and changes[1] is not None and "measured" in run.columns("measures"):
        found, lost = _recorded(run, changes[0], changes[1])
        return _summed(found, lost, from_records=True)
    tell(f"reading {numbered(pages, 'page')} again, since what the run recorded does not tell")
    found, lost = _read_again(run, a.document_stages, b.document_stages, pages)
    return _summed(found, lost, from_records=False)


def _limits_only(config: Config, other: Config) -> Changes | None:
    """The limits in which another config differs from that of the run; None where more than limits do."""
    own, new = config.document_stages, other.document_stages
    if [name for name, _ in own] != [name for name, _ in new] or own == []:
        return None
    changes: dict[str, dict[str, Any]] = {}
    for (name, old), (_, now) in zip(own, new, strict=True):
        if type(old) is not type(now):
            return None
        differ = [f.name for f in fields(old) if f.init and getattr(old, f.name) != getattr(now, f.name)]  # type: ignore[arg-type]
        if any(option not in rules_of(type(old)).limits for option in differ):
            return None
        if differ:
            changes[name] = {option: getattr(now, option) for option in differ}
    return changes


def _recorded(run: OpenedRun, a: Changes, b: Changes) -> tuple[list[ComparedPage], int]:
    """Both verdicts on every page that the run measured, and how many of them one side can't be told of."""
    recorded = Recorded.of(run)
    sides = [redecide(recorded, changes) for changes in (a, b)]
    known = (sides[0].stage != UNKNOWN) & (sides[1].stage != UNKNOWN)
    corpus = [code for code, *_ in recorded.corpus_stages]
    by_side = []
    for one in sides:
        kept = (one.stage == KEPT) | np.isin(one.stage, corpus)
        named = [f"{recorded.stages[stage]}: {one.reasons[reason]}" for stage, reason in zip(one.stage, one.reason)]
        by_side.append(
            [SideVerdict(None) if keep else SideVerdict(name) for keep, name in zip(kept, named, strict=True)]
        )
    places = run.read("measures", ["file_path", "offset"]).to_pylist()
    found = [
        ComparedPage(f"{place['file_path']}:{place['offset']}", one, two)
        for place, one, two, sure in zip(places, *by_side, known, strict=True)
        if sure
    ]
    return found, int((~known).sum())


def _read_again(run: OpenedRun, a: Line, b: Line, count: int) -> tuple[list[ComparedPage], int]:
    """Both verdicts on drawn pages, read again in the order of the crawl, and how many could not be."""
    both, reopened = _Both(a, b, run.config.caps), Reopened(run)
    found, lost, why = list[ComparedPage](), 0, ""
    for file, offset in _drawn(run, count):
        try:
            doc = reopened.document(file, offset)
        except Gone as gone:
            lost, why = lost + 1, str(gone)
            continue
        found.append(ComparedPage(f"{file}:{offset}", *both.verdicts(doc)))
    if lost and not found:
        raise UserError(f"{why}; pages are read again from where the run read them")
    return found, lost


class _Both:
    """Two rows of document stages; what both begin with is done once a page."""

    def __init__(self, a: Line, b: Line, caps: Caps) -> None:
        common = next((at for at, (one, two) in enumerate(zip(a, b)) if one != two), min(len(a), len(b)))
        self.first = Belt(a[:common], caps, False)
        self.rest = [Belt(line[common:], caps, False) for line in (a, b)]
        self.from_the_start = [Belt(line, caps, False) for line in (a, b)]

    def verdicts(self, doc: Document) -> tuple[SideVerdict, SideVerdict]:
        """What each says of a page."""
        passage = self.first.run(doc)
        if passage.drop and passage.stage == CAPS:  # without text so far; the stages that follow may make it
            ends = [belt.run(doc) for belt in self.from_the_start]
        else:
            ends = [passage if passage.drop else belt.run(passage.doc) for belt in self.rest]
        one, two = (
            SideVerdict(f"{end.stage}: {end.drop.reason}", end.drop.value, end.drop.limit)
            if end.drop
            else SideVerdict(None)
            for end in ends
        )
        return one, two


def _drawn(run: OpenedRun, count: int) -> list[tuple[str, int]]:
    """Places of so many records of the run, those with the smallest hashes, in the order of the crawl."""
    columns = ["file_path", "offset"]
    tables = [run.read(kind, columns) for kind in ("shards", "ledger")]
    order = {name: number for number, name in enumerate(run.files)}
    rows = {
        (order[row["file_path"]], row["offset"], row["file_path"])
        for table in tables
        for row in table.to_pylist()
        if row["file_path"] in order
    }
    places = sorted(rows)
    keys = np.array([(number << 40) + (offset or 0) for number, offset, _ in places], np.int64)
    chosen = sorted(np.argsort(mixed(keys), kind="stable")[:count].tolist())
    return [(places[at][2], places[at][1]) for at in chosen]


def _summed(found: Sequence[ComparedPage], lost: int, from_records: bool) -> RulesDifference:
    only_a = [page for page in found if page.a.dropped is None and page.b.dropped is not None]
    only_b = [page for page in found if page.b.dropped is None and page.a.dropped is not None]
    both = [page for page in found if page.a.dropped is not None and page.b.dropped is not None]
    return RulesDifference(
        from_records,
        len(found),
        len(found) - len(only_a) - len(only_b) - len(both),
        len(both),
        sum(page.a.dropped != page.b.dropped for page in both),
        _counted(page.b for page in only_a),
        _counted(page.a for page in only_b),
        (*only_a[:EXAMPLES], *only_b[:EXAMPLES]),
        lost,
    )


def _counted(verdicts: Iterator[SideVerdict]) -> tuple[tuple[str, int], ...]:
    counts = Counter(verdict.dropped or "" for verdict in verdicts)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def difference_lines(answer: RulesDifference, a: str, b: str) -> list[str]:
    """The answer as text."""
    how = "all that the run measured, from what it recorded" if answer.from_records else "a sample, read again"
    found = [f"a: {a}", f"b: {b}", f"{numbered(answer.pages, 'page')} ({how})", ""]
    only_a, only_b = (sum(count for _, count in part) for part in (answer.only_a, answer.only_b))
    found += lines(
        [
            {"": "a keeps", "b keeps": answer.both_keep, "b drops": only_a},
            {"": "a drops", "b keeps": only_b, "b drops": answer.both_drop},
        ],
        ("", "b keeps", "b drops"),
    )
    for title, part in (("a keeps what b drops for", answer.only_a), ("b keeps what a drops for", answer.only_b)):
        if part:
            found += ["", *lines([{title: reason, "pages": count} for reason, count in part], (title, "pages"))]
    if answer.other_reason:
        found += ["", f"dropped by both for different reasons: {answer.other_reason:,}"]
    if answer.left_out:
        found += ["", f"not told: {numbered(answer.left_out, 'page')}"]
    if answer.examples:
        rows = [{"page": page.place, "a": _said(page.a), "b": _said(page.b)} for page in answer.examples]
        found += ["", *lines(rows, ("page", "a", "b"))]
    return found


def _said(verdict: SideVerdict) -> str:
    if verdict.dropped is None:
        return "keeps"
    numbers = "" if verdict.value is None else f" ({verdict.value:.4g}, limit {verdict.limit:.4g})"
    return f"{verdict.dropped}{numbers if verdict.limit is not None else ''}"
