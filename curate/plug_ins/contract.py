"""What a stage must keep to, held where its results meet the engine: declarations, types, errors of its code."""

import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from curate.document import Document, Drop
from curate.errors import Stopped, UserError
from curate.plug_ins.code import is_ours
from curate.rules import Rule, RuleStage, rules_of
from curate.text import clean, unstorable

OUTSIDE = (UserError, OSError)  # not the fault of a stage's code
FAILED = "failed"  # reason, under the stage's own name, when a stage raised; never one of its `reasons`


class Undeclared(UserError):
    """A stage dropped for a reason, or set an attribute, that it does not declare: a bug in the stage."""


class Misfit(TypeError):
    """A stage gave back something for one page that no row can hold; the page is entered as `failed`."""


def is_stop(error: BaseException) -> bool:
    """Whether a person stops this process by Ctrl-C or SIGTERM. Where it is deaf to Ctrl-C, a stage raised that."""
    deaf = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    return isinstance(error, Stopped) or (isinstance(error, KeyboardInterrupt) and not deaf)


class Blamed:
    """Turns an error of a stage's own code into one sentence that says where it lies; those of `passing` pass."""

    def __init__(self, place: str, passing: tuple[type[BaseException], ...] = OUTSIDE) -> None:
        self.place = place
        self.passing = (*passing, MemoryError)

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or error is None or isinstance(error, self.passing) or is_stop(error):
            return
        words, file, line = _said(error)
        reason = ": ".join(filter(None, (kind.__name__, " ".join(words.split())[:300])))
        where = f" ({Path(file).name}:{line})" if file else ""
        raise UserError(f"{self.place}: {reason}{where}; mend the stage and run again") from error


def _said(error: BaseException) -> tuple[str, str | None, int | None]:
    """What an error says, and the file and line that it speaks of."""
    if isinstance(error, SyntaxError):  # raised by the importer, not by the file that it lies in
        return error.msg, error.filename, error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return (str(error), frames[-1].filename, frames[-1].lineno) if frames else (str(error), None, None)


def blamed(name: str, stage: object) -> AbstractContextManager[None]:
    """Blames a plug-in for what its code raises; a fault in a stage of ours is a bug that shows its traceback."""
    return nullcontext() if is_ours(stage) else Blamed(f"stage '{name}'")


def fault_of(cls: type[Any]) -> str | None:
    """What a class lacks to be a stage, or None."""
    corpus = hasattr(cls, "decide")
    if not hasattr(cls, "reasons") or not (corpus or hasattr(cls, "apply")):
        return f"{cls.__name__} is no stage; it needs `adds`, `reasons` and `apply`"
    if not is_dataclass(cls):
        return f"{cls.__name__} is no dataclass; write @dataclass(frozen=True, kw_only=True) above it"
    if corpus and not hasattr(cls, "sketch"):
        return f"{cls.__name__} decides but has no `sketch`"
    reasons = getattr(cls, "reasons", None)
    if not isinstance(reasons, tuple | list) or not all(isinstance(reason, str) for reason in reasons):
        return f'the `reasons` of {cls.__name__} must be a tuple of words, such as ("too_long",)'
    if FAILED in reasons:
        return f"'{FAILED}' in the `reasons` of {cls.__name__} is what stages that raise are entered under; rename it"
    for name in ("adds", "measures") if issubclass(cls, RuleStage) else ("adds",):
        types = getattr(cls, name, None)
        if not isinstance(types, Mapping) or not all(
            isinstance(key, str) and isinstance(kind, pa.DataType) for key, kind in types.items()
        ):
            return f'the `{name}` of {cls.__name__} must map names to Arrow types, such as {{"score": pa.float64()}}'
    ruled = rules_of(cls)
    if odd := next((rule for rule in ruled.rules if not _applies(rule, ruled)), None):
        return f"the rule '{odd.reason}' of {cls.__name__} names a measure or an option that the class has not"
    if unknown := next((name for name in ruled.categories if name not in ruled.measures), None):
        return f"'{unknown}' in the `categories` of {cls.__name__} is none of its measures"
    if corpus and not all(is_number(kind) for kind in getattr(cls, "adds", {}).values()):
        return f"a corpus stage adds numbers and booleans, but the `adds` of {cls.__name__} has another type"
    return None


def _applies(rule: Rule, cls: type[RuleStage]) -> bool:
    known = rule.measure in cls.measures or (not rule.measure and cls.judge is not RuleStage.judge)
    return known and rule.option in (None, *(field.name for field in fields(cls)))


def held(name: str, stage: Any, given: Document, outcome: Any) -> Document | Drop:
    """What a stage made of a document, fit to be stored.

    Raises Undeclared for what the stage does not declare, Misfit for what is neither document nor drop, or does
    not fit its declared type.
    """
    if type(outcome) is Drop:
        return _drop(name, stage, outcome)
    if type(outcome) is not Document:
        raise Misfit(f"gave back {_shown(outcome)} and not a Document or a Drop")
    if outcome is given:
        return outcome
    if outcome.address != given.address:
        raise Misfit(f"gave back another document, {outcome.address}")
    for part in ("id", "url", "date"):
        value = getattr(outcome, part)
        if value is not getattr(given, part) and (not isinstance(value, str) or unstorable(value)):
            raise Misfit(f"set {part} to {_shown(value)}")
    if outcome.attributes is not given.attributes:
        _attributes(name, stage, given.attributes, outcome.attributes)
    if outcome.text is given.text:
        return outcome
    if not isinstance(outcome.text, str):
        raise Misfit(f"set the text to {_shown(outcome.text)}")
    return outcome if unstorable(outcome.text) is None else outcome.with_text(clean(outcome.text))


def held_measures(name: str, stage: RuleStage, measures: Any) -> dict[str, Any]:
    """A rule stage's measures. Raises Undeclared and Misfit as `held`."""
    if not isinstance(measures, dict):
        raise Misfit(f"measured {_shown(measures)} and not a dictionary")
    for measure, value in measures.items():
        kind = stage.measures.get(measure)
        if kind is None:
            raise Undeclared(f"stage '{name}' measured '{measure}', which its `measures` do not declare")
        if value is not None and not fits(kind)(value):
            raise Misfit(f"measured {measure} as {_shown(value)}, which is no {kind}")
    return measures


def _attributes(name: str, stage: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    for attribute, value in after.items():
        kind = stage.adds.get(attribute)
        if kind is None:
            if attribute not in before:
                raise Undeclared(f"stage '{name}' set the attribute '{attribute}', which its `adds` do not declare")
            if before[attribute] is not value and before[attribute] != value:
                raise Undeclared(f"stage '{name}' changed the attribute '{attribute}', which its `adds` do not declare")
        elif value is not None and not fits(kind)(value):
            raise Misfit(f"set {attribute} to {_shown(value)}, which is no {kind}")


def _drop(name: str, stage: Any, drop: Drop) -> Drop:
    if drop.reason not in stage.reasons:
        raise Undeclared(f"stage '{name}' dropped a document for '{drop.reason}', which its `reasons` do not declare")
    for part in ("value", "limit"):
        value = getattr(drop, part)
        if value is not None and not fits(pa.float64())(value):
            raise Misfit(f"dropped with the {part} {_shown(value)}, which is no number")
    return drop if isinstance(drop.cause, str) else replace(drop, cause=str(drop.cause))


@lru_cache(maxsize=256)
def fits(kind: pa.DataType) -> Callable[[Any], bool]:
    """Whether a value can stand in a column of a type as it is, without loss."""
    if pa.types.is_boolean(kind):
        return lambda value: isinstance(value, bool | np.bool_)
    if pa.types.is_integer(kind):
        least, most = (-(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1)
        if pa.types.is_unsigned_integer(kind):
            least, most = 0, (1 << kind.bit_width) - 1
        return lambda value: isinstance(value, int | np.integer) and least <= value <= most
    if pa.types.is_floating(kind):
        largest = int(sys.float_info.max)
        return lambda value: (
            isinstance(value, float | np.floating)
            or (isinstance(value, int | np.integer) and -largest <= int(value) <= largest)
        )
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return lambda value: isinstance(value, str) and unstorable(value) is None
    return lambda value: _converts(value, kind)


def _converts(value: Any, kind: pa.DataType) -> bool:
    try:
        pa.array([value], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False
    return True


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers or booleans."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _shown(value: Any) -> str:
    """A value in a sentence: short, and its type."""
    text = " ".join(repr(value).split())
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
