"""Mixes groups of documents by weight under a token budget, in one phase or several."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from curate.corpus import Corpus
from curate.document import Document
from curate.errors import UserError
from curate.stage import Alarm, Columns, Sketch, Verdicts
from scale.mixture import epochs_per_source
from stages.mixing.pool import CLUSTER, REHYDRATION, Pool, Rehydrate, Table, grouped
from stages.mixing.prefix import PrefixShare
from stages.mixing.shares import Alpha, Phase, Weight, adds_to_one, wanted

I64 = npt.NDArray[np.int64]

SHARE = np.dtype([("group", "<u4"), ("tokens", "<i8"), ("hash", "<u8")])
MANY_EPOCHS = 4
"""Repeats up to about here are nearly as good as fresh tokens (Muennighoff et al. 2023, section 1)."""
MOST_EPOCHS = 100_000
"""Beyond any use of repeats: a budget that asks for more is a slip, and `rows` would fill the disk with it."""
MOST_TOKENS = 1 << 40  # of one document; sums over 2**22 of these still fit
PHASE_BITS = 8  # of the internal column `phase` for each phase: how often a document is read in it
MOST_PHASES = 7
MOST_IN_PHASE = (1 << PHASE_BITS) - 1


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Takes a share of `tokens` from each group of documents that agree in the attribute `by`.

    A group's documents are taken in the order of a hash of `seed` and text, as many as fit. A group that
    holds fewer tokens than its part of the budget is repeated: whole passes and a part of one. Needs the
    attribute `token_count`.
    """

    weights: Mapping[str, Weight] | None = None
    """share of the tokens for each group; with `other` they add to 1 within 1e-6"""
    tokens: Annotated[float, Field(ge=1, le=1 << 60)] | None = None
    """the budget: tokens in all, repeats counted (not with `epochs`)"""
    by: str = "source"
    """what makes a group: source, or an attribute such as `language`"""
    other: Literal["drop"] | Weight | None = None
    """groups without a weight: drop them, or their weight together (null: they are an error)"""
    repeat: Literal["copies", "rows", "never"] = "copies"
    """a group over one epoch: `copies` as a column, `rows` written repeatedly, or never more than once"""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    """another seed takes other documents"""
    alpha: Alpha | None = None
    """instead of weights: share of each group by its tokens to this power (1: as they are, 0: equal)"""
    epochs: Mapping[str, Annotated[float, Field(ge=0, le=MOST_EPOCHS)]] | None = None
    """instead of weights and tokens: how often each group is read"""
    phases: Annotated[tuple[Phase, ...], Field(min_length=1, max_length=MOST_PHASES)] | None = None
    """instead of weights: {share, weights} or {share, alpha} for one phase of training after the other"""
    max_epochs: Annotated[float, Field(gt=0)] | None = None
    """most passes over a group; what it lacks then is a shortfall"""
    rehydrate: Rehydrate | None = None
    """copies by `cluster_size`: {size: copies} from each size on, or `fineweb2` or `txt360`; may stand alone"""

    adds: ClassVar[Mapping[str, pa.DataType]] = {"copies": pa.int32(), "phase": pa.int64()}
    fill: ClassVar[Mapping[str, int]] = {"copies": 1}
    reasons: ClassVar[tuple[str, ...]] = ("over_budget", "other_group")
    record: ClassVar[np.dtype[Any] | None] = SHARE
    alarms: ClassVar[Mapping[str, str]] = {
        "shortfall": "{dropped} of the {of} tokens wanted are missing ({share})",
        "over_4_epochs": "{dropped} of {of} groups are read more than four times",
    }

    def __post_init__(self) -> None:
        given = [name for name in ("weights", "alpha", "epochs", "phases") if getattr(self, name) is not None]
        if len(given) > 1 or (not given and self.rehydrate is None):
            raise ValueError("give one of weights, alpha, epochs and phases (none is needed with rehydrate alone)")
        if (self.tokens is None) == (given not in (["epochs"], [])):
            raise ValueError("tokens: the budget is needed with weights, alpha and phases, and with them alone")
        other = [self.other] if isinstance(self.other, float | int) else []
        for weights in (self.weights, *(phase.weights for phase in self.phases or ())):
            if weights is not None:
                adds_to_one([*weights.values(), *other], "the weights")
        if self.phases:
            adds_to_one([phase.share for phase in self.phases], "the shares of the phases")
        if isinstance(self.rehydrate, Mapping) and not all(size > 0 < times for size, times in self.rehydrate.items()):
            raise ValueError("rehydrate: sizes and copies must be above 0")
        if not self.phases:  # then there is no such column
            object.__setattr__(self, "adds", {"copies": self.adds["copies"]})

    @cached_property
    def _phases(self) -> tuple[Phase, ...]:
        if self.phases or (self.weights is None and self.alpha is None):
            return self.phases or ()
        return (Phase(share=1.0, weights=self.weights, alpha=self.alpha),)

    @cached_property
    def groups(self) -> dict[str, int]:
        """The groups that are named, with their index in records; any other has the next index."""
        named = (self.epochs or {}, *(phase.weights or {} for phase in self._phases))
        return {name: index for index, name in enumerate(dict.fromkeys(name for some in named for name in some))}

    @cached_property
    def _open(self) -> bool:
        """Whether groups are those that are found, not those that are named."""
        return any(phase.alpha is not None for phase in self._phases)

    @cached_property
    def _table(self) -> Table | None:
        return REHYDRATION[self.rehydrate] if isinstance(self.rehydrate, str) else self.rehydrate

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes that earlier stages or sources must have set."""
        found = ("token_count", *((self.by,) if self.by != "source" else ()))
        return (*found, CLUSTER) if self.rehydrate is not None else found

    @staticmethod
    def alarmed(notes: Mapping[str, int]) -> Iterator[Alarm]:
        """Groups that gave at least a hundredth less than was wanted, and those read over four times."""
        for fact, short in sorted(notes.items()):
            name, _, kind = fact.rpartition(".")
            wanted = notes.get(f"{name}.wanted_tokens", 0)
            if kind == "shortfall_tokens" and 0 < wanted <= short * 100:
                yield Alarm("shortfall", short, wanted, name)
        if notes.get("groups_over_4_epochs"):
            groups = len({fact.rpartition(".")[0] for fact in notes} - {""})
            yield Alarm("over_4_epochs", notes["groups_over_4_epochs"], groups)

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
        names, found = grouped(corpus, self.by, _group_name) if self._open else (tuple(self.groups), None)
        pool = Pool(corpus, names, found, self._table)
        if pool.totals[0][-1] and self.other is None and names:
            raise UserError(self._unlisted(corpus))
        wants = self._wanted(pool)
        limits = self._limited(pool, wants)
        shares = [PrefixShare.of(pool, limit) for limit in limits]
        if self.other == "drop":
            for share in shares:
                share.passes[-1], share.cut.open[-1] = 0, False
        taken = np.zeros_like(wants)
        yield from self._verdicts(pool, shares, taken)
        self._note(pool, wants[-1], taken)

    def _wanted(self, pool: Pool) -> I64:
        """Tokens wanted of each group by the end of each phase."""
        tokens = pool.totals[1]
        if self.tokens is None:  # epochs, or each document as its cluster is worth
            epochs = [(self.epochs or {}).get(name, 0.0) for name in pool.names]
            part = float(self.other) if isinstance(self.other, float | int) else 0.0
            each = np.array([*epochs, part if self.epochs else 1.0])
            return np.rint(each * tokens).astype(np.int64)[None]
        part = float(self.other) if isinstance(self.other, float | int) else 0.0
        return wanted(self._phases, pool.names, tokens, self.tokens, part)

    def _limited(self, pool: Pool, wants: I64) -> I64:
        """The same, with no more passes than are allowed. Raises UserError where nothing bounds them."""
        tokens = pool.totals[1]
        passes = np.where(tokens > 0, wants // np.maximum(tokens, 1), 0)
        most = 1.0 if self.repeat == "never" else self.max_epochs
        if most is not None:
            return np.minimum(wants, np.floor(most * tokens.astype(np.float64)).astype(np.int64))
        if passes.max() > MOST_EPOCHS:
            group = int(np.argmax(passes[-1]))
            raise UserError(
                f"mixture: {wants[-1][group]} tokens are wanted of the {self.by} '{self._name(pool, group)}', which "
                f"holds {tokens[group]}: more than {MOST_EPOCHS} epochs; lower `tokens` or its weight, or say "
                "`repeat: never`"
            )
        return wants

    def _name(self, pool: Pool, group: int) -> str:
        return [*pool.names, "other" if pool.names else "all"][group]

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

    def _verdicts(self, pool: Pool, shares: list[PrefixShare], taken: I64) -> Iterator[Verdicts]:
        """Copies and drops, block after block; adds what is taken to `taken`."""
        for block in pool.blocks():
            places = np.flatnonzero(block.living)
            group, times = block.group[places], block.times[places]
            upto = np.stack([share.times(block) for share in shares])
            for phase, read in enumerate(upto):
                np.add.at(taken[phase], group, read * block.tokens[places])
            each = np.diff(upto, axis=0, prepend=0) * times
            copies = each.sum(axis=0)
            places += block.start
            other = (group == len(pool.names)) & (self.other == "drop")
            yield Verdicts(places[other], "other_group")
            yield Verdicts(places[(copies == 0) & ~other], "over_budget")
            repeated = copies > (0 if self.phases else 1)
            columns = {"copies": copies[repeated], **({"phase": _packed(each[:, repeated])} if self.phases else {})}
            yield Verdicts(places[repeated], None, columns=columns)

    def spread(self, columns: Columns) -> tuple[np.ndarray, Columns] | None:
        """A row for each phase that a document is read in, and for each time where `repeat` is `rows`."""
        copies = columns["copies"].astype(np.int64)
        if not self.phases:
            again = np.repeat(np.arange(len(copies)), copies)
            return (again, {"copies": np.ones(len(again), np.int32)}) if self.repeat == "rows" else None
        shifts = PHASE_BITS * np.arange(len(self.phases))
        each = (columns["phase"][:, None] >> shifts) & MOST_IN_PHASE
        again, phase = np.nonzero(each)
        times = each[again, phase]
        if self.repeat == "rows":
            again, phase = np.repeat(again, times), np.repeat(phase, times)
            times = np.ones(len(again), np.int64)
        return again, {"copies": times.astype(np.int32), "phase": phase.astype(np.int64)}

    def _note(self, pool: Pool, wants: I64, taken: I64) -> None:
        documents, available = pool.totals
        names = [*pool.names, *(["other"] if documents[-1] or self.other else [])] if pool.names else ["all"]
        over, notes = 0, pool.corpus.notes
        for index, name in enumerate(names):
            held, share, got = int(available[index]), int(wants[index]), int(taken[-1][index])
            epochs = epochs_per_source({name: 1.0}, {name: held}, share)[name] if held and share else 0.0
            over += epochs > MANY_EPOCHS and self.repeat != "never"
            short = share - got if self.repeat == "never" or self.max_epochs or not held else 0
            facts = {
                "documents": int(documents[index]),
                "available_tokens": held,
                "wanted_tokens": share,
                "taken_tokens": got,
                "shortfall_tokens": max(0, short),
                "epochs_thousandths": round(1000 * epochs),
            }
            notes.update({f"{name}.{fact}": value for fact, value in facts.items()})
            for phase in range(len(taken)) if self.phases else ():
                before = int(taken[phase - 1][index]) if phase else 0
                notes[f"{name}.phase_{phase}_tokens"] = int(taken[phase][index]) - before
        notes["groups_over_4_epochs"] = over


def _packed(each: I64) -> I64:
    """How often documents are read in each phase, shape (phases, n), in one number each."""
    if each.max(initial=0) > MOST_IN_PHASE:
        raise UserError(f"mixture: a group is read more than {MOST_IN_PHASE} times in one phase; lower its weight")
    packed: I64 = (each << (PHASE_BITS * np.arange(len(each)))[:, None]).sum(axis=0)
    return packed


def _group_name(value: Any) -> str:
    return "null" if value is None else str(value)
