"""What a run would have kept with other limits, told from what it recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import I64, UNKNOWN, Recorded
from curate.inspect.tables import lines
from curate.sizes import numbered
from curate.what_if.about import HOW, Estimate, Pair, estimates, twins
from curate.what_if.redecide import Changes, Decided, counted, names, redecide, total


@dataclass(frozen=True)
class Group:
    """A language or source: what passes the document stages, and what is left at the end. `unknown` may pass or not."""

    name: str
    passed_before: Pair
    passed: Pair
    unknown: Pair
    kept_before: Pair
    kept: Pair
    exact: bool  # whether `kept` is more than an estimate


@dataclass(frozen=True)
class Answer:
    """The answer. `dropped` has (stage, reason, before, after) of the document stages, largest change first."""

    read: int
    passed_before: Pair
    passed: Pair
    unknown: Pair
    dropped: tuple[tuple[str, str, Pair, Pair], ...]
    corpus: tuple[Estimate, ...]
    unmeasured: tuple[tuple[str, int], ...]  # pages that no rule stage measured, by the stage that dropped them
    languages: tuple[Group, ...]
    sources: tuple[Group, ...]


class WhatIf:
    """A run's measures, read once for any number of questions."""

    def __init__(self, run: OpenedRun) -> None:
        self.run = run
        self.recorded = Recorded.of(run)
        self.twin = twins(run, self.recorded)

    def ask(self, changes: Changes, with_groups: bool = True) -> Answer:
        """What comes of the changed limits. Exact for the document stages, an estimate for corpus stages."""
        recorded, decided = self.recorded, redecide(self.recorded, changes)
        unknown = decided.stage == UNKNOWN
        everything = np.zeros(len(recorded), np.int64)
        return Answer(
            self.run.stats["read"]["documents"],
            total(recorded.passed, recorded.words),
            total(decided.passed, decided.words),
            total(unknown, decided.words),
            self._dropped(decided),
            tuple(self._estimates(decided, everything, 1)),
            self._unmeasured(),
            self._groups(decided, decided.language, names(decided.languages)) if with_groups else (),
            self._groups(decided, recorded.source, list(recorded.sources)) if with_groups else (),
        )

    def _estimates(self, decided: Decided, groups: I64, size: int) -> list[Estimate]:
        unknown = decided.stage == UNKNOWN
        return estimates(self.recorded, self.twin, decided.words, groups, size, decided.passed, unknown)

    def _groups(self, decided: Decided, groups: I64, titles: list[str]) -> tuple[Group, ...]:
        recorded, size = self.recorded, len(titles)
        passed, unknown = decided.passed, decided.stage == UNKNOWN
        before = counted(groups, recorded.passed, recorded.words, size)
        after, perhaps = counted(groups, passed, decided.words, size), counted(groups, unknown, decided.words, size)
        kept_before = counted(groups, recorded.stage == -1, recorded.words, size)
        last = self._estimates(decided, groups, size)[-1:]
        kept, exact = (last[0].groups, last[0].exact) if last else (tuple(after), not unknown.any())
        found = (Group(titles[i], before[i], after[i], perhaps[i], kept_before[i], kept[i], exact) for i in range(size))
        seen = [group for group in found if group.passed_before[0] or group.passed[0] or group.unknown[0]]
        return tuple(sorted(seen, key=lambda group: (-group.passed[0], group.name)))

    def _dropped(self, decided: Decided) -> tuple[tuple[str, str, Pair, Pair], ...]:
        recorded = self.recorded
        found = []
        for code, name in enumerate(recorded.stages):
            if any(code == own for own, *_ in recorded.corpus_stages):
                continue
            for reason in sorted({*recorded.reasons, *decided.reasons}):
                before = _masked(recorded.stage, recorded.reason, code, recorded.reasons, reason)
                after = _masked(decided.stage, decided.reason, code, decided.reasons, reason)
                pairs = total(before, recorded.words), total(after, decided.words)
                if pairs[0][0] or pairs[1][0]:
                    found.append((name, reason, *pairs))
        return tuple(found)

    def _unmeasured(self) -> tuple[tuple[str, int], ...]:
        """Pages without measures: those that the run dropped, less those of them that were measured."""
        left = dict.fromkeys(self.recorded.stages, 0)
        for row in self.run.stats["dropped"]:
            left[row["stage"]] += row["documents"]
        for code, name in enumerate(self.recorded.stages):
            left[name] -= int((self.recorded.stage == code).sum())
        return tuple((name, count) for name, count in left.items() if count)


def _masked(stage: I64, reason: I64, code: int, reasons: Sequence[str], wanted: str) -> Any:
    place = reasons.index(wanted) if wanted in reasons else -1
    return (stage == code) & (reason == place)


def answer_lines(outcome: Answer) -> list[str]:
    """The answer as text."""
    moved = [row for row in outcome.dropped if row[2] != row[3]]
    rows = [_row(f"dropped by {stage}: {reason}", before, after) for stage, reason, before, after in moved]
    rest = [after for *_, before, after in outcome.dropped if before == after]
    same = sum(documents for documents, _ in rest), sum(words for _, words in rest)
    rows += [_row(f"dropped for {numbered(len(rest), 'other reason')}", same, same)] if rest else []
    rows.append(_row("pass the document stages", outcome.passed_before, outcome.passed))
    rows += [_row(f"kept after {row.stage}", row.before, row.after, row.exact) for row in outcome.corpus]
    answer = lines(rows, ("", "the run", "then", "change", "words then"))
    answer += HOW if not all(row.exact for row in outcome.corpus) else ()
    if outcome.unknown[0]:
        unseen = numbered(outcome.unknown[0], "page")
        answer.append(f"not known: {unseen} would go on to a stage that did not see them in the run")
    if outcome.unmeasured:
        where = ", ".join(f"{stage} {count:,}" for stage, count in outcome.unmeasured)
        pages = sum(count for _, count in outcome.unmeasured)
        answer.append(f"unknown: {numbered(pages, 'page')} not measured, so still dropped (by {where})")
    for title, groups in (("language", outcome.languages), ("source", outcome.sources)):
        answer += ["", *_group_lines(title, groups)] if groups else []
    return answer


def _row(title: str, before: Pair, after: Pair, exact: bool = True) -> dict[str, Any]:
    change = f"{after[0] - before[0]:+,}" if after[0] != before[0] else "="
    return {
        "": title,
        "the run": before[0],
        "then": about(after[0], exact),
        "change": change if exact else f"about {after[0] - before[0]:+,}",
        "words then": about(after[1], exact),
    }


def _group_lines(title: str, groups: Sequence[Group]) -> list[str]:
    rows = [
        {
            title: group.name,
            "passed": group.passed_before[0],
            "then": group.passed[0],
            "words": group.passed_before[1],
            "words then": group.passed[1],
            "kept": group.kept_before[0],
            "kept then": about(group.kept[0], group.exact),
            "words kept then": about(group.kept[1], group.exact),
        }
        for group in groups
    ]
    return lines(rows, (title, "passed", "then", "words", "words then", "kept", "kept then", "words kept then"))


def about(value: int, exact: bool) -> str:
    """A count, or an estimate that says that it is one."""
    return f"{value:,}" if exact else f"about {value:,}"
