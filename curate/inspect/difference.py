"""Two runs side by side: which documents changed sides and why, the funnels, the configs."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from curate.errors import UserError, one_line
from curate.inspect.funnel import rows
from curate.inspect.lookup import row_at
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import OFFSET_BITS, packed
from curate.inspect.tables import lines, shown
from curate.output.fingerprint import changes, difference
from curate.sizes import numbered

I64 = npt.NDArray[np.int64]
KEPT, ABSENT = "kept", "not read"
Verdict = tuple[str, str]  # stage and reason; ("kept", "") and ("not read", "") for the two others


@dataclass(frozen=True)
class Move:
    """How many documents went from one verdict to another, and the places of the first few in the two runs' files."""

    before: Verdict
    after: Verdict
    documents: int
    places: tuple[tuple[str, int], ...]

    @property
    def side(self) -> bool:
        """Whether they changed sides: kept before and not after, or the other way round."""
        return (self.before[0] == KEPT) != (self.after[0] == KEPT)


@dataclass(frozen=True)
class Ends:
    """The verdict of every document of a run: ascending keys of file and offset, and a code into `names`."""

    key: I64
    code: I64
    names: tuple[Verdict, ...]

    @classmethod
    def of(cls, run: OpenedRun, order: dict[str, int]) -> "Ends":
        """Reads them from shards and ledger. `order` numbers the files of both runs."""
        names: list[Verdict] = [(KEPT, "")]
        parts: list[tuple[I64, I64]] = []
        for path in run.parts("shards"):
            place = np.unique(_key(run.read_part(path, ["file_path", "offset"]), order))  # copies are one document
            parts.append((place, np.zeros(len(place), np.int64)))
        for path in run.parts("ledger"):
            table = run.read_part(path, ["file_path", "offset", "stage", "reason"])
            verdict = [table[name].combine_chunks().dictionary_encode() for name in ("stage", "reason")]
            stage, reason = (one.indices.to_numpy().astype(np.int64) for one in verdict)
            stages, reasons = (one.dictionary.to_pylist() for one in verdict)
            values, place = np.unique(stage * len(reasons) + reason, return_inverse=True)
            own = [(stages[value // len(reasons)], reasons[value % len(reasons)]) for value in values.tolist()]
            names += [name for name in own if name not in names]
            parts.append((_key(table, order), np.array([names.index(name) for name in own], np.int64)[place]))
        key = np.concatenate([key for key, _ in parts]) if parts else np.empty(0, np.int64)
        code = np.concatenate([code for _, code in parts]) if parts else np.empty(0, np.int64)
        ascending = np.argsort(key, kind="stable")
        return cls(key[ascending], code[ascending], tuple(names))


def _key(table: Any, order: dict[str, int]) -> I64:
    return packed(order, table["file_path"], table["offset"])


@dataclass(frozen=True)
class Difference:
    """Two finished runs of the same input, or of inputs that share files."""

    before: OpenedRun
    after: OpenedRun

    @cached_property
    def names(self) -> tuple[dict[str, int], list[tuple[str | None, str | None]]]:
        """A number for each file of either run, and the file's name in each run.

        A file is the same one by its path; where no path is shared, by its last part.
        """
        ours, theirs = list(self.before.files), list(self.after.files)
        same = str if set(ours) & set(theirs) else lambda name: PurePosixPath(name).name
        place: dict[str, int] = {}
        pairs: list[tuple[str | None, str | None]] = []
        order: dict[str, int] = {}
        for side, files in ((0, ours), (1, theirs)):
            for name in files:
                number = place.setdefault(same(name), len(pairs))
                if number == len(pairs):
                    pairs.append((None, None))
                pairs[number] = (name, pairs[number][1]) if side == 0 else (pairs[number][0], name)
                order[name] = number
        if not any(one and other for one, other in pairs):
            raise UserError(f"{self.before.folder} and {self.after.folder} read no file in common; nothing to compare")
        return order, pairs

    def moves(self, examples: int) -> list[Move]:
        """All pairs of verdicts, largest first, those that changed sides before others."""
        order, pairs = self.names
        one, other = Ends.of(self.before, order), Ends.of(self.after, order)
        key = np.union1d(one.key, other.key)
        codes = [_spread(verdicts, key) for verdicts in (one, other)]
        width = len(other.names) + 1
        pair = codes[0] * width + codes[1]
        both, count = np.unique(pair, return_counts=True)
        labels = [[*verdicts.names, (ABSENT, "")] for verdicts in (one, other)]
        found = []
        for value, documents in zip(both.tolist(), count.tolist(), strict=True):
            first, second = labels[0][value // width], labels[1][value % width]
            members: list[int] = np.flatnonzero(pair == value)[:examples].tolist() if first != second else []
            places = tuple(
                (_name(pairs[number]), offset)
                for number, offset in (divmod(int(key[at]), 1 << OFFSET_BITS) for at in members)
            )
            found.append(Move(first, second, documents, places))
        return sorted(found, key=lambda move: (not move.side, -move.documents, move.before, move.after))

    def config(self) -> list[str]:
        """How the configs differ, and whatever else of what shapes the output does, a line each."""
        one, other = self.before.manifest, self.after.manifest
        changed = [f"config: {line}" for line in changes(one["config"], other["config"])] or ["config: no difference"]
        parts = ("inputs", "named_files", "code", "versions", "limit")
        rest = difference({p: one.get(p) for p in parts}, {p: other.get(p) for p in parts})
        return [*changed, *([f"else: {rest}"] if rest else [])]

    def funnel(self) -> list[dict[str, Any]]:
        """Documents by stage and reason in both runs."""
        sides = [{(row["stage"], row["reason"]): row for row in rows(run.stats)} for run in (self.before, self.after)]
        found = []
        for stage, reason in _merged(list(sides[0]), list(sides[1])):
            numbers = [side.get((stage, reason)) for side in sides]
            shown = [(row["kept"] if stage == KEPT else row["dropped"]) or 0 if row else 0 for row in numbers]
            words = [row["words"] if row else 0 for row in numbers]
            found.append(
                {
                    "stage": stage,
                    "reason": reason,
                    "before": shown[0],
                    "after": shown[1],
                    "change": shown[1] - shown[0],
                    "words_before": words[0],
                    "words_after": words[1],
                }
            )
        return found


def _name(pair: tuple[str | None, str | None]) -> str:
    return pair[1] or pair[0] or ""


def _spread(verdicts: Ends, key: I64) -> I64:
    """The code at each of the keys; one past the names where the run did not read it."""
    code = np.full(len(key), len(verdicts.names), np.int64)
    code[np.searchsorted(key, verdicts.key)] = verdicts.code
    return code


def _merged(one: list[Any], other: list[Any]) -> list[Any]:
    """Both lists in an order that fits both, as far as one does."""
    merged = list(one)
    for place, item in enumerate(other):
        if item not in merged:
            before = other[place - 1] if place else None
            merged.insert(merged.index(before) + 1 if before in merged else 0, item)
    return merged


def explained(run: OpenedRun, file: str, offset: int) -> dict[str, Any] | None:
    """URL, stage, reason, value, limit and twin of a page in one of the runs; None where it was not read."""
    name = next((own for own in run.files if own == file or own.endswith(f"/{PurePosixPath(file).name}")), file)
    row = row_at(run, "ledger", name, offset)
    return row if row else row_at(run, "shards", name, offset)


def difference_lines(compared: Difference, examples: int) -> Iterator[str]:
    """The difference as text."""
    yield from compared.config()
    yield ""
    funnel = [
        {
            **row,
            "stage": f"  {row['reason']}" if row["reason"] else row["stage"],
            "change": f"{row['change']:+,}" if row["change"] else "=",
        }
        for row in compared.funnel()
    ]
    titles = {"stage": "dropped", "words_before": "words before", "words_after": "words after"}
    yield from lines(funnel, ("stage", "before", "after", "change", "words_before", "words_after"), titles)
    moves = [move for move in compared.moves(examples) if move.before != move.after]
    for title, among in (
        ("changed sides", [m for m in moves if m.side]),
        ("dropped otherwise", [m for m in moves if not m.side]),
    ):
        yield ""
        yield f"{title}: {numbered(sum(move.documents for move in among), 'document')}"
        for move in among:
            yield f"  {move.documents:>8,}  {_words(move.before)} -> {_words(move.after)}"
            yield from (f"            {_example(compared, *place)}" for place in move.places)


def _words(verdict: Verdict) -> str:
    return f"{verdict[0]}: {verdict[1]}" if verdict[1] else verdict[0]


def _example(compared: Difference, file: str, offset: int) -> str:
    verdicts = [explained(run, file, offset) for run in (compared.before, compared.after)]
    url = next((row["url"] for row in verdicts if row and row["url"]), "(no URL)")
    why = [
        f"{shown(row['value'])} (limit {shown(row['limit'])})"
        for row in verdicts
        if row and row.get("value") is not None and row.get("limit") is not None
    ]
    twins = [
        f"copy of {row['matched_file']}:{row['matched_offset']}" for row in verdicts if row and row.get("matched_file")
    ]
    return "  ".join(map(one_line, [url, f"{file}:{offset}", *why, *twins]))
