"""What a condition means: true, false, or unknown (None) where a value that it needs is not there, as in SQL."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Values = Mapping[str, Any]
Literals = float | str | bool
Truth = bool | None

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True)
class Failure:
    """Why a condition does not hold: its text, and value and limit where it compares numbers."""

    cause: str
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Test:
    """A test of one value: `name <= 5`, `name in (...)`, `name contains '...'`, `name is null`."""

    name: str
    kind: Literal["compare", "between", "in", "contains", "null"]
    sign: str  # of a comparison
    against: tuple[Literals, ...]
    negated: bool
    source: str  # as it is written

    def holds(self, values: Values) -> Truth:
        """The truth of it; unknown without a value, or where value and literal are of different kinds."""
        value = values.get(self.name)
        if self.kind == "null":
            return (value is None) != self.negated
        if value is None or not all(comparable(value, one) for one in self.against):
            return None
        return self._compared(value) != self.negated

    def _compared(self, value: Any) -> bool:
        if self.kind == "compare":
            return COMPARED[self.sign](value, self.against[0])
        if self.kind == "between":
            low, high = self.against
            return bool(COMPARED["<="](low, value) and COMPARED["<="](value, high))
        return value in self.against if self.kind == "in" else any(str(one) in value for one in self.against)

    def failure(self, values: Values) -> Failure:
        value: Any = values.get(self.name)
        if not is_number(value) or self.kind not in ("compare", "between"):
            return Failure(self.source)
        numbers = [float(one) for one in self.against if is_number(one)]
        if not numbers:
            return Failure(self.source)
        return Failure(self.source, value, numbers[-1] if value > numbers[-1] else numbers[0])  # the nearer end


@dataclass(frozen=True)
class Not:
    part: "Condition"
    source: str

    def holds(self, values: Values) -> Truth:
        truth = self.part.holds(values)
        return None if truth is None else not truth

    def failure(self, values: Values) -> Failure:
        return Failure(self.source)


@dataclass(frozen=True)
class Joined:
    """Parts joined by `and` (every) or by `or`."""

    every: bool
    parts: tuple["Condition", ...]
    source: str

    def holds(self, values: Values) -> Truth:
        unknown = False
        for part in self.parts:
            truth = part.holds(values)
            if truth is (not self.every):
                return truth
            unknown = unknown or truth is None
        return None if unknown else self.every

    def failure(self, values: Values) -> Failure:
        """Of an `and` that of its first part that does not hold."""
        if not self.every:
            return Failure(self.source)
        truths = [(part, part.holds(values)) for part in self.parts]
        false = [part for part, truth in truths if truth is False]
        return (false or [part for part, truth in truths if truth is None])[0].failure(values)


Condition = Test | Not | Joined


def is_number(value: Any) -> bool:
    """Whether a value is a number and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def comparable(value: Any, literal: Literals) -> bool:
    """Whether a value and a literal are both numbers, both texts, or both truth values."""
    return is_number(value) == is_number(literal) and isinstance(value, str) == isinstance(literal, str)


def every_test(condition: Condition) -> list[Test]:
    """All tests of a condition, as they are written."""
    if isinstance(condition, Test):
        return [condition]
    parts = condition.parts if isinstance(condition, Joined) else (condition.part,)
    return [test for part in parts for test in every_test(part)]
