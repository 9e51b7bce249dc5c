"""Judges the measured pages of a run again, with other limits, from what was recorded.

A rerun would send each page down the line of document stages until one drops it. What was recorded tells what each
stage measured of a page, also of stages after the one that dropped it (as long as nothing but a limit stopped the
page there). So the line is walked stage by stage for all pages at once, and of each page one of four things is known
at a stage: the new limits drop it; it passes; it never came so far in the run, and ends as it ended there (`same`);
or it would come so far only now, and nobody measured it (`lost`: UNKNOWN). Only pages for which a changed limit gives
another answer are walked at all (`_touched`): the others end as they ended.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curate.belt import cleans
from curate.config.file import Config, entry_of
from curate.errors import UserError, hint
from curate.inspect.recorded import I64, KEPT, UNKNOWN, Mask, Recorded
from curate.rules import ENDS, Rule, RuleStage, breaks, judges_by_rules, rules_of
from curate.stage import CAPS, OPENING, CorpusStage, declared
from curate.what_if.which import named
from curate.yaml12 import load

Changes = Mapping[str, Mapping[str, Any]]  # stage -> option -> value
NAMELESS = range(len(OPENING))  # codes of read, guard and caps: every run's stages begin with them


def parse_changes(config: Config, given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`stage.option=value` as new values by stage. Raises UserError where that can't be told without a rerun."""
    changes: dict[str, dict[str, Any]] = {}
    for word in given:
        place, equals, text = word.partition("=")
        if not equals:
            raise UserError(f"'{word}': give STAGE.OPTION=VALUE, for example gopher.min_words=30")
        stage, option = named(config, place, word)
        check_limit(config, stage, option, word)
        changes.setdefault(stage, {})[option] = load(text, word)
    for stage, options in changes.items():
        new = new_stage(config, stage, options)  # a value that the config would refuse is refused here
        rerun = declared(new).rerun
        why = rerun(next(entry.stage for entry in config.stages if entry.name == stage)) if rerun else None
        if why is not None:
            raise UserError(f"{stage}: {why}, so that needs a rerun")
    return changes


def check_limit(config: Config, stage: str, option: str, word: str) -> None:
    """Raises UserError, with the reason, for an option that must be tried with a rerun."""
    names = [entry.name for entry in config.stages]
    if stage not in names:
        raise UserError(f"'{word}': the run has no stage '{stage}', {hint(stage, names)}")
    own = next(entry.stage for entry in config.stages if entry.name == stage)
    options = [field.name for field in fields(own) if field.init]  # type: ignore[arg-type]
    if option not in options:
        raise UserError(f"'{word}': {stage} has no option '{option}', {hint(option, options)}")
    limits = rules_of(type(own)).limits
    if option in limits:
        return
    some = ", ".join(limits[:4]) + (f", … (`curate stages {stage}`)" if len(limits) > 4 else "")
    known = f"{stage} has the limits {some}" if limits else "take the limits of a rule stage"
    if isinstance(own, CorpusStage):
        raise UserError(f"'{word}': {stage} compares documents, whose texts were not kept; that needs a rerun")
    if isinstance(own, RuleStage):
        raise UserError(f"'{word}': {option} changes what is measured, so that needs a rerun; {known}")
    raise UserError(f"'{word}': {stage} records no measures, so that needs a rerun; {known}")


def new_stage(config: Config, name: str, options: Mapping[str, Any]) -> RuleStage:
    """A stage of the config with other values for some options. Raises UserError for values that it refuses."""
    arguments = next(entry[name] for entry in config.canonical()["stages"] if name in entry)
    stage = entry_of(name, {**arguments, **options}, "what-if").stage
    if not isinstance(stage, RuleStage):
        raise UserError(f"what-if: {name} has no limits; give one of a rule stage")
    return stage


@dataclass(frozen=True)
class Decided:
    """The verdicts of the document stages under other limits, one item a measured page, codes as in Recorded.

    `stage` is KEPT for pages that pass all document stages and UNKNOWN for those that would meet a stage which did
    not see them. `words` are those of the text at the verdict.
    """

    stage: I64
    reasons: tuple[str, ...]
    reason: I64
    words: I64
    language: I64
    languages: tuple[str | None, ...]

    @property
    def passed(self) -> Mask:
        """Pages that pass all document stages."""
        passed: Mask = self.stage == KEPT
        return passed


def redecide(recorded: Recorded, changes: Changes) -> Decided:
    """The verdicts of a rerun's document stages with changed limits."""
    line = _StageLine(recorded, changes)
    rows = np.flatnonzero(_touched(recorded, line))
    stage = np.where(recorded.passed, KEPT, recorded.stage)
    reason = np.where(recorded.passed, len(recorded.reasons) - 1, recorded.reason)
    words, language = recorded.words.copy(), recorded.language.copy()
    reasons, languages = list(recorded.reasons), list(recorded.languages)
    verdict = line.judged(rows, reasons)
    moved = (verdict.stage != stage[rows]) | (verdict.reason != reason[rows])
    rows, verdict = rows[moved], Codes(verdict.stage[moved], verdict.reason[moved])
    stage[rows], reason[rows] = verdict
    words[rows] = line.words(rows, verdict.stage)
    empty = rows[(verdict.stage == KEPT) & (words[rows] == 0)]
    stage[empty], reason[empty] = OPENING.index(CAPS), _code(reasons, "no_text")
    language[rows] = line.language(rows, verdict.stage, languages)
    return Decided(stage, tuple(reasons), reason, words, language, tuple(languages))


class Codes(NamedTuple):
    """Stage and reason of some pages, as codes."""

    stage: I64
    reason: I64


class _StageLine:
    """The document stages with their new limits, put to pages column by column."""

    def __init__(self, recorded: Recorded, changes: Changes) -> None:
        self.recorded, self.changes = recorded, changes
        self.stages = [
            (code, name, new_stage(recorded.config, name, changes[name]) if name in changes else stage)
            for code, name, stage in recorded.document_stages
        ]
        self.rules = [name for _, name, stage in self.stages if isinstance(stage, RuleStage)]
        self.speaks = next(
            (
                name
                for _, name, stage in self.stages
                if isinstance(stage, RuleStage) and "language" in stage.adds and "language" in stage.measures
            ),
            None,
        )
        self.cleaning = [name for _, name, stage in self.stages if isinstance(stage, RuleStage) and cleans(stage)]

    def judged(self, rows: I64, reasons: list[str]) -> Codes:
        """The first stage that drops each page; new reasons are added to `reasons`."""
        recorded = self.recorded
        before = np.where(recorded.passed[rows], KEPT, recorded.stage[rows])
        recorded_codes = Codes(
            before, np.where(recorded.passed[rows], len(recorded.reasons) - 1, recorded.reason[rows])
        )
        ended = np.isin(before, NAMELESS)  # where on the way is not recorded: after the last stage that measured it
        stage, reason = np.full(len(rows), KEPT), np.full(len(rows), len(recorded.reasons) - 1)
        way = np.ones(len(rows), np.bool_)  # still on the way
        for code, name, own in self.stages:
            if isinstance(own, RuleStage):
                seen = recorded.measured[rows] > self.rules.index(name)
                same, lost = way & ~seen & ((before == code) | ended), way & ~seen & (before != code) & ~ended
                drops = np.full(len(rows), -1)
                asked = way & seen
                if name not in self.changes:  # it dropped these, and let those pass that went on
                    drops[asked & (before == code)] = recorded_codes.reason[asked & (before == code)]
                    asked &= (before < code) & (before != KEPT) & ~ended
                if not own.annotate:
                    drops[asked] = self._drops(own, name, rows[asked], reasons)
                stage[drops >= 0], reason[drops >= 0] = code, drops[drops >= 0]
                way &= seen & (drops < 0)
            else:
                same = way & (before == code)
                blind = (before != KEPT) & ~ended & (before < code)
                lost = way & blind & (not self._lets_pass(own, code))
                way &= ~same & ~lost
            stage[same], reason[same] = recorded_codes.stage[same], recorded_codes.reason[same]
            stage[lost] = UNKNOWN
        stage[way & ended], reason[way & ended] = recorded_codes.stage[way & ended], recorded_codes.reason[way & ended]
        return Codes(stage, reason)

    def _drops(self, stage: RuleStage, name: str, rows: I64, reasons: list[str]) -> I64:
        """Code of the reason for which a stage drops each page, -1 for none."""
        columns = {
            measure: self.recorded.column(f"{name}.{measure}").take(pa.array(rows)) for measure in stage.measures
        }
        drops = np.full(len(rows), -1)
        if not judges_by_rules(stage):
            values = zip(*(column.to_pylist() for column in columns.values()), strict=True)
            for row, measured in enumerate(values):
                drop = stage.judge(dict(zip(columns, measured, strict=True)))
                if drop:
                    drops[row] = _code(reasons, drop.reason)
            return drops
        for rule in stage.rules:
            broken = breaking(columns[rule.measure], rule, stage) & (drops < 0)
            if broken.any():
                drops[broken] = _code(reasons, rule.reason)
        return drops

    def _lets_pass(self, stage: Any, code: int) -> bool:
        """Whether a stage that never saw a page can neither drop it nor change what later ones measured."""
        last = all(not isinstance(later, RuleStage) for at, _, later in self.stages if at > code)
        return not stage.reasons and (last or declared(stage).keeps_text)

    def words(self, rows: I64, stage: I64) -> I64:
        """Words of the text at a verdict: what the last stage before it left that edited it, else what the first was
        given."""
        words = self.recorded.words[rows]
        for place, name in enumerate(self.cleaning):
            names = ("before", "after") if place == 0 else ("after",)
            for side in names:
                column = self.recorded.column(f"{name}.words_{side}").take(pa.array(rows))
                known = column.is_valid().to_numpy()
                if side == "after":
                    known &= np.isin(stage, (KEPT, UNKNOWN, *NAMELESS)) | (stage >= self.recorded.stages.index(name))
                words = np.where(known, column.fill_null(0).to_numpy(), words)
        return words

    def language(self, rows: I64, stage: I64, languages: list[str | None]) -> I64:
        """Code of the language that was known at a verdict; new ones are added to `languages`."""
        language = self.recorded.language[rows]
        if self.speaks is None:
            return language
        known = self.recorded.measured[rows] > self.rules.index(self.speaks)
        known &= np.isin(stage, (KEPT, UNKNOWN, *NAMELESS)) | (stage >= self.recorded.stages.index(self.speaks))
        encoded = (
            self.recorded.column(f"{self.speaks}.language").take(pa.array(rows)).combine_chunks().dictionary_encode()
        )
        codes = np.array(
            [*(_code(languages, value) for value in encoded.dictionary.to_pylist()), _code(languages, None)]
        )
        return np.where(known, codes[encoded.indices.fill_null(len(codes) - 1).to_numpy()], language)


def _code(values: list[Any], value: Any) -> int:
    if value not in values:
        values.append(value)
    return values.index(value)


def _touched(recorded: Recorded, line: _StageLine) -> Mask:
    """Pages on whose way a changed limit gives another answer; all measured ones where that can't be told by value."""
    touched = np.zeros(len(recorded), np.bool_)
    old_stages = {name: stage for _, name, stage in recorded.document_stages if isinstance(stage, RuleStage)}
    new_stages = {name: stage for _, name, stage in line.stages if isinstance(stage, RuleStage)}
    for name, options in line.changes.items():
        old, new = old_stages[name], new_stages[name]
        reached = recorded.measured > line.rules.index(name)
        for option in options:
            rules = [rule for rule in old.rules if rule.option == option]
            if not rules or not all(_by_value(rule, old, new) for rule in rules):
                touched |= reached
                continue
            for rule in rules:
                column = recorded.column(f"{name}.{rule.measure}")
                touched |= reached & (breaking(column, rule, old) != breaking(column, rule, new))
    return touched


def _by_value(rule: Rule, old: RuleStage, new: RuleStage) -> bool:
    """Whether a change of a rule's limit matters only to the pages whose measure breaks one and not the other.

    A stage that judges in its own way may have another limit, of a page's language say, in place of a null.
    """
    if judges_by_rules(old):
        return True
    is_limit = bool(rule.measure) and rule.option is not None and rule.option.startswith(ENDS)
    return is_limit and None not in (rule.limit(old), rule.limit(new))


def breaking(column: pa.ChunkedArray, rule: Rule, stage: RuleStage) -> Mask:
    """Which values of a measure break a rule of a stage; nulls do not."""
    limit = rule.limit(stage)
    if rule.option is not None and limit is None:
        return np.zeros(len(column), np.bool_)
    if rule.option is not None and rule.option.startswith(ENDS):
        broken: Mask = breaks(rule.option, column.to_numpy().astype(np.float64), limit)
        return broken
    encoded = column.combine_chunks().dictionary_encode()
    each = [rule.broken(value, limit) for value in encoded.dictionary.to_pylist()]
    found: Mask = np.array([*each, False])[encoded.indices.fill_null(len(each)).to_numpy()]
    return found


def counted(groups: I64, mask: Mask, words: I64, size: int) -> list[tuple[int, int]]:
    """Documents and words of the masked pages by group."""
    documents = np.bincount(groups[mask], minlength=size)
    sums = np.bincount(groups[mask], words[mask], minlength=size)
    return list(zip(documents.tolist(), sums.astype(np.int64).tolist(), strict=True))


def total(mask: Mask, words: I64) -> tuple[int, int]:
    """Documents and words of the masked pages."""
    return int(mask.sum()), int(words[mask].sum())


def names(values: Iterable[str | None]) -> list[str]:
    """Groups as people read them."""
    return ["(not known)" if value is None else value for value in values]
