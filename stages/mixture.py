"""Mixes groups of documents by weight under a token budget."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from curate.corpus import Corpus
from curate.document import Document
from curate.errors import UserError
from curate.stage import Sketch, Verdicts
from scale.mixture import epochs_per_source

I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]

SHARE = np.dtype([("group", "<u4"), ("tokens", "<i8"), ("hash", "<u8")])
MANY_EPOCHS = 4
"""Repeats up to about here are nearly as good as fresh tokens (Muennighoff et al. 2023, section 1)."""
MOST_EPOCHS = 100_000
"""Beyond any use of repeats: a budget that asks for more is a slip, and `rows` would fill the disk with it."""
MOST_TOKENS = 1 << 40  # of one document; sums over 2**22 of these still fit
DIGIT = 16  # bits of the hash looked at in one pass
Weight = Annotated[float, Field(ge=0, le=1)]


@dataclass
class _Cut:
    """Where the longest prefix that fits ends, for each group; filled in digit by digit."""

    room: I64  # tokens that the prefix may have
    open: npt.NDArray[np.bool_]  # groups of which a part of a pass is taken
    taken: I64  # tokens before `hash`
    hash: U64  # the hash at which the prefix ends, its leading digits so far


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Takes `weights[group] * tokens` tokens from each group of documents that agree in the attribute `by`.

    A group's documents are taken in the order of a hash of `seed` and text, as many as fit. A group that
    holds fewer tokens than its part of the budget is repeated: whole passes and a part of one. Needs the
    attribute `token_count`.
    """

    weights: Mapping[str, Weight]
    """share of the tokens for each group; with `other` they add to 1 within 1e-6"""
    tokens: Annotated[float, Field(ge=1, le=1 << 60)]
    """the budget: tokens in all, repeats counted"""
    by: str = "source"
    """what makes a group: source, or an attribute such as `language`"""
    other: Literal["drop"] | Weight | None = None
    """groups without a weight: drop them, or their weight together (null: they are an error)"""
    repeat: Literal["copies", "rows", "never"] = "copies"
    """a group over one epoch: `copies` as a column, `rows` written repeatedly, or never more than once"""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    """another seed takes other documents"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"copies": pa.int32()}
    fill: ClassVar[Mapping[str, int]] = {"copies": 1}
    reasons: ClassVar[tuple[str, ...]] = ("over_budget", "other_group")
    record: ClassVar[np.dtype[Any] | None] = SHARE

    def __post_init__(self) -> None:
        total = fsum([*self.weights.values(), self.other if isinstance(self.other, float | int) else 0.0])
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the weights must add to 1, not {total:g}; divide them by their sum")

    @cached_property
    def groups(self) -> dict[str, int]:
        """The groups that have a weight, with their index in records; any other has the next index."""
        return {name: index for index, name in enumerate(self.weights)}

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes that earlier stages or sources must have set."""
        return ("token_count",) if self.by == "source" else ("token_count", self.by)

    def sketch(self, doc: Document) -> Sketch:
        tokens = doc.attributes.get("token_count")
        if tokens is None:
            raise UserError("mixture: documents have no token_count; put the stage `tokens` before it")
        if not 0 <= tokens <= MOST_TOKENS:
            place = f"{doc.address.file}:{doc.address.offset}"
            raise UserError(f"mixture: {place}: {tokens} is no token_count; count them anew with the stage `tokens`")
        text = doc.text.encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=8, key=self.seed.to_bytes(8, "little")).digest()
        group = self.groups.get(self._group(doc), len(self.groups))
        record = np.array([(group, tokens, int.from_bytes(digest, "little"))], SHARE)
        return Sketch(np.empty(0, np.uint64), record)

    def _group(self, doc: Document) -> str:
        return doc.address.source if self.by == "source" else _group_name(doc.attributes.get(self.by))

    def decide(self, corpus: Corpus) -> Iterator[Verdicts]:
        documents, tokens = self._totals(corpus)
        if documents[-1] and self.other is None:
            raise UserError(self._unlisted(corpus))
        part = self.other if isinstance(self.other, float | int) else 0.0
        wanted = np.array([round(weight * self.tokens) for weight in [*self.weights.values(), part]], np.int64)
        passes = np.where(tokens > 0, wanted // np.maximum(tokens, 1), 1)
        if self.repeat != "never" and passes.max() > MOST_EPOCHS:
            raise UserError(self._too_often(int(np.argmax(passes)), tokens, wanted))
        room = np.where(tokens > 0, wanted % np.maximum(tokens, 1), 0)
        if self.repeat == "never":
            room = np.where(passes > 0, 0, room)
            passes = np.minimum(passes, 1)
        if self.other == "drop":
            passes[-1] = room[-1] = 0
        partly = (tokens > 0) & ((room > 0) | (passes == 0))
        cut = _find_cut(corpus, _Cut(room, partly, np.zeros_like(room), np.zeros(len(room), np.uint64)))
        taken = np.zeros_like(tokens)
        yield from self._verdicts(corpus, passes, cut, taken)
        self._note(corpus, documents, tokens, wanted, taken)

    def _totals(self, corpus: Corpus) -> tuple[I64, I64]:
        """Living documents and their tokens in each group; the last is that of groups without a weight."""
        documents, tokens = (np.zeros(len(self.groups) + 1, np.int64) for _ in range(2))
        for _, records, living in corpus.blocks():
            some = records[living]
            documents += np.bincount(some["group"], minlength=len(documents))
            np.add.at(tokens, some["group"], some["tokens"])
        return documents, tokens

    def _too_often(self, group: int, tokens: I64, wanted: I64) -> str:
        name = [*self.groups, "other"][group]
        return (
            f"mixture: {wanted[group]} tokens are wanted of the {self.by} '{name}', which holds {tokens[group]}: "
            f"more than {MOST_EPOCHS} epochs; lower `tokens` or its weight, or say `repeat: never`"
        )

    def _unlisted(self, corpus: Corpus) -> str:
        fix = "give it a weight, or say `other: drop` or `other: WEIGHT`"
        first = next(
            start + int(np.argmax(found))
            for start, records, living in corpus.blocks()
            if (found := living & (records["group"] == len(self.groups))).any()
        )
        for chunk in corpus.attribute(self.by):
            if first < len(chunk):
                value = chunk[first].as_py() if isinstance(chunk[first], pa.Scalar) else chunk[first]
                return f"mixture: no weight for the {self.by} {_group_name(value)!r}; {fix}"
            first -= len(chunk)
        return f"mixture: no weight for a {self.by}; {fix}"

    def _verdicts(self, corpus: Corpus, passes: I64, cut: _Cut, taken: I64) -> Iterator[Verdicts]:
        """Copies and drops, block after block; adds what is taken to `taken`."""
        at_cut = cut.taken.copy()
        for start, records, living in corpus.blocks():
            places = np.flatnonzero(living)
            some = records[places]
            group = some["group"].astype(np.int64)
            copies = passes[group] + _inside(some, group, cut, at_cut)
            np.add.at(taken, group, copies * some["tokens"])
            places += start
            other = (group == len(self.groups)) & (self.other == "drop")
            yield Verdicts(places[other], "other_group")
            yield Verdicts(places[(copies == 0) & ~other], "over_budget")
            several = copies > 1
            yield Verdicts(places[several], None, columns={"copies": copies[several]})

    def _note(self, corpus: Corpus, documents: I64, available: I64, wanted: I64, taken: I64) -> None:
        names = [*self.groups, "other"] if documents[-1] or self.other else [*self.groups]
        over = 0
        for index, name in enumerate(names):
            held, share, got = int(available[index]), int(wanted[index]), int(taken[index])
            epochs = epochs_per_source({name: 1.0}, {name: held}, share)[name] if held and share else 0.0
            over += epochs > MANY_EPOCHS and self.repeat != "never"
            short = share - got if self.repeat == "never" or not held else 0
            facts = {
                "documents": int(documents[index]),
                "available_tokens": held,
                "wanted_tokens": share,
                "taken_tokens": got,
                "shortfall_tokens": max(0, short),
                "epochs_thousandths": round(1000 * epochs),
            }
            corpus.notes.update({f"{name}.{fact}": value for fact, value in facts.items()})
        corpus.notes["groups_over_4_epochs"] = over


def _group_name(value: Any) -> str:
    return "null" if value is None else str(value)


def _find_cut(corpus: Corpus, cut: _Cut) -> _Cut:
    """The exact end of each open group's longest prefix by hash, DIGIT bits a pass over the records.

    A pass adds up the tokens of each value of the next digit among the hashes that begin like the cut; the
    digit of the cut is the first at which they outgrow the room.
    """
    groups, values = len(cut.room), 1 << DIGIT
    for shift in range(64 - DIGIT, -1, -DIGIT):
        held = np.zeros(groups * values, np.int64)
        for _, records, living in corpus.blocks():
            group = records["group"].astype(np.int64)
            fits = living & cut.open[group]
            if shift < 64 - DIGIT:
                above = np.uint64(shift + DIGIT)
                fits &= (records["hash"] >> above) == (cut.hash[group] >> above)
            some, group = records[fits], group[fits]
            digit = (some["hash"] >> np.uint64(shift)) & np.uint64(values - 1)
            np.add.at(held, group * values + digit.astype(np.int64), some["tokens"])
        for index in np.flatnonzero(cut.open):
            upto = np.cumsum(held[index * values : (index + 1) * values])
            digit_at = int(np.searchsorted(upto, cut.room[index] - cut.taken[index], "right"))
            cut.taken[index] += upto[digit_at - 1] if digit_at else 0
            cut.hash[index] |= np.uint64(digit_at << shift)
    return cut


def _inside(records: npt.NDArray[Any], group: I64, cut: _Cut, at_cut: I64) -> npt.NDArray[np.bool_]:
    """Which records lie in their group's prefix; `at_cut` counts on over records whose hash is the cut's."""
    inside: npt.NDArray[np.bool_] = cut.open[group] & (records["hash"] < cut.hash[group])
    edge = np.flatnonzero(cut.open[group] & (records["hash"] == cut.hash[group]))
    for index in np.unique(group[edge]):
        mine = edge[group[edge] == index]
        upto = at_cut[index] + np.cumsum(records["tokens"][mine])
        inside[mine] = upto <= cut.room[index]
        at_cut[index] = upto[-1]
    return inside
