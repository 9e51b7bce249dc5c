"""Judges the measured pages of a run again, with other limits, from what was recorded."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow.compute as pc

from curate.belt import cleans
from curate.config import Config, entry_of
from curate.errors import UserError
from curate.report.limits import Limit, measure_of
from curate.report.recorded import I64, KEPT, UNKNOWN, Mask, Recorded
from curate.stage import CorpusStage, RuleStage
from curate.yaml12 import load

Changes = Mapping[str, Mapping[str, Any]]  # stage -> option -> value


def parse_changes(config: Config, given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`stage.option=value` as new values by stage. Raises UserError where that can't be told without a rerun."""
    changes: dict[str, dict[str, Any]] = {}
    for word in given:
        place, equals, text = word.partition("=")
        stage, dot, option = place.rpartition(".")
        if not equals or not dot:
            raise UserError(f"'{word}': give STAGE.OPTION=VALUE, for example gopher.min_words=30")
        check_limit(config, stage, option, word)
        changes.setdefault(stage, {})[option] = load(text, word)
    for stage, options in changes.items():
        new_stage(config, stage, options)  # a value that the config would refuse is refused here
    return changes


def check_limit(config: Config, stage: str, option: str, word: str) -> None:
    """Raises UserError, with the reason, for an option that must be tried with a rerun."""
    names = [entry.name for entry in config.stages]
    if stage not in names:
        near = get_close_matches(stage, names, n=1)
        raise UserError(f"'{word}': the run has no stage '{stage}'" + (f", did you mean '{near[0]}'?" if near else
                        f"; it has {', '.join(names)}"))  # fmt: skip
    own = next(entry.stage for entry in config.stages if entry.name == stage)
    options = [name for name, told in own.__dataclass_fields__.items() if told.init]  # type: ignore[union-attr]
    if option not in options:
        near = get_close_matches(option, options, n=1, cutoff=0.5)
        raise UserError(
            f"'{word}': {stage} has no option '{option}'" + (f", did you mean '{near[0]}'?" if near else "")
        )
    limits = getattr(own, "limits", ())
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
    arguments = next(told[name] for told in config.canonical()["stages"] if name in told)
    stage = entry_of(name, {**arguments, **options}, "what-if").stage
    assert isinstance(stage, RuleStage)
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
    stage = np.where(recorded.passed, KEPT, recorded.stage)
    judge = _Judge(recorded, changes)
    rows = np.flatnonzero(_touched(recorded, judge))
    reasons, reason = list(recorded.reasons), np.where(recorded.passed, len(recorded.reasons) - 1, recorded.reason)
    languages, language = list(recorded.languages), recorded.language.copy()
    words = recorded.words.copy()
    for row, told in zip(rows.tolist(), recorded.rows(rows), strict=True):
        verdict = judge.verdict(row, told)
        if verdict.stage == stage[row] and verdict.stage != KEPT and verdict.reason == reasons[reason[row]]:
            continue
        stage[row], reason[row] = verdict.stage, _code(reasons, verdict.reason)
        words[row], language[row] = verdict.words, _code(languages, verdict.language)
    return Decided(stage, tuple(reasons), reason, words, language, tuple(languages))


def _code(values: list[Any], value: Any) -> int:
    if value not in values:
        values.append(value)
    return values.index(value)


@dataclass(frozen=True)
class _Verdict:
    stage: int
    reason: str
    words: int
    language: str | None


class _Judge:
    """The document stages with their new limits."""

    def __init__(self, recorded: Recorded, changes: Changes) -> None:
        self.recorded, self.changes = recorded, changes
        self.stages = [
            (code, name, new_stage(recorded.config, name, changes[name]) if name in changes else stage)
            for code, name, stage in recorded.document_stages
        ]
        self.rules = [name for _, name, stage in self.stages if isinstance(stage, RuleStage)]
        self.speaks = next((name for _, name, stage in self.stages if isinstance(stage, RuleStage)
                            and "language" in stage.adds and "language" in stage.measures), None)  # fmt: skip
        self.cleaning = [name for _, name, stage in self.stages if isinstance(stage, RuleStage) and cleans(stage)]

    def verdict(self, row: int, told: Mapping[str, Any]) -> _Verdict:
        """The first stage that drops a page. `told` has all its measures."""
        recorded = self.recorded
        before = KEPT if recorded.passed[row] else int(recorded.stage[row])
        seen = 0  # rule stages so far
        for code, name, stage in self.stages:
            if isinstance(stage, RuleStage):
                if seen >= told["measured"]:  # what ended it then ends it now
                    met = before in (code, *self._nameless)
                    return (
                        self._end(row, told, before, recorded.reasons[recorded.reason[row]])
                        if met
                        else self._unknown(told)
                    )
                seen += 1
                drop = stage.judge({measure: told[f"{name}.{measure}"] for measure in stage.measures})
                if drop and not stage.annotate:
                    return self._end(row, told, code, drop.reason)
            elif before == code:
                return self._end(row, told, before, recorded.reasons[recorded.reason[row]])
            elif before not in (KEPT, *self._nameless) and before < code and not self._lets_pass(stage, code):
                return self._unknown(told)
        if before in self._nameless:  # after the last rule stage
            return self._end(row, told, before, recorded.reasons[recorded.reason[row]])
        return self._end(row, told, KEPT, "")

    @property
    def _nameless(self) -> tuple[int, ...]:
        """Codes of read, guard and caps, which may end a page's path anywhere."""
        return 0, 1, 2

    def _lets_pass(self, stage: Any, code: int) -> bool:
        """Whether a stage that never saw a page can neither drop it nor change what later ones measured."""
        last = all(not isinstance(later, RuleStage) for at, _, later in self.stages if at > code)
        return not stage.reasons and (last or getattr(stage, "keeps_text", False))

    def _unknown(self, told: Mapping[str, Any]) -> _Verdict:
        return _Verdict(UNKNOWN, "", int(told["words"]), self._language(told, len(self.recorded.stages)))

    def _end(self, row: int, told: Mapping[str, Any], code: int, reason: str) -> _Verdict:
        at = len(self.recorded.stages) if code in (KEPT, *self._nameless) else code
        return _Verdict(code, reason, self._words(told, at), self._language(told, at))

    def _words(self, told: Mapping[str, Any], at: int) -> int:
        """Words of the text at a stage: what the last stage left that edited it, else what the first was given."""
        if not self.cleaning:
            return int(told["words"])
        edited = [name for name in self.cleaning if told[f"{name}.words_after"] is not None]
        done = [name for name in edited if self.recorded.stages.index(name) <= at]
        if done:
            return int(told[f"{done[-1]}.words_after"])
        return int(told[f"{edited[0]}.words_before"] if edited else told["words"])

    def _language(self, told: Mapping[str, Any], at: int) -> str | None:
        """The language known at a stage."""
        known = (
            self.speaks is not None
            and self.recorded.stages.index(self.speaks) <= at
            and self.rules.index(self.speaks) < told["measured"]
        )
        language: str | None = told[f"{self.speaks}.language"] if known else told["language"]
        return language


def _touched(recorded: Recorded, judge: _Judge) -> Mask:
    """Pages on whose way a changed limit gives another answer; all measured ones where that can't be told by value."""
    touched = np.zeros(len(recorded), np.bool_)
    old_stages = {name: stage for _, name, stage in recorded.document_stages}
    for name, options in judge.changes.items():
        stage = old_stages[name]
        assert isinstance(stage, RuleStage)
        reached = recorded.measured > judge.rules.index(name)
        for option, value in options.items():
            measure = measure_of(option, name, stage.measures)
            if measure is None or type(stage).__module__.partition(".")[0] != "stages":
                touched |= reached
                continue
            column = recorded.column(f"{name}.{measure}")
            old, new = Limit(option, getattr(stage, option)), Limit(option, value)
            touched |= reached & (_broken(column, old) != _broken(column, new))
    return touched


def _broken(column: Any, limit: Limit) -> Mask:
    """Which values break a limit; nulls do not."""
    if limit.value is None:
        return np.zeros(len(column), np.bool_)
    if limit.field.startswith(("min_", "max_")):
        values = column.to_numpy().astype(np.float64)
        broken: Mask = values < limit.value if limit.field.startswith("min_") else values > limit.value
        return broken
    encoded = column.combine_chunks().dictionary_encode()
    each = [limit.broken(value) for value in encoded.dictionary.to_pylist()]
    found: Mask = np.array([*each, False])[pc.fill_null(encoded.indices, len(each)).to_numpy()]
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
