"""Checks of numbers handed to the formulas: each returns the number, or raises ValueError with a
sentence."""

import math
import operator
from typing import SupportsFloat, SupportsIndex

from scale.refusal import Refusal


def number(name: str, value: SupportsFloat) -> float:
    """`value` as a finite float; `name` is the word used in the error."""
    if isinstance(value, bool | str):
        raise Refusal(f"{name} must be a number, not {value!r}.")
    try:
        converted = float(value)
    except (TypeError, OverflowError) as error:
        raise Refusal(f"{name} must be a finite number, not {value!r}.") from error
    if not math.isfinite(converted):
        raise Refusal(f"{name} must be finite, not {converted}.")
    return converted


def positive(name: str, value: SupportsFloat) -> float:
    """`value` as a finite float above zero."""
    converted = number(name, value)
    if converted <= 0:
        raise Refusal(f"{name} must be above zero, not {converted:g}.")
    return converted


def non_negative(name: str, value: SupportsFloat) -> float:
    """`value` as a finite float of zero or more."""
    converted = number(name, value)
    if converted < 0:
        raise Refusal(f"{name} must not be negative, but is {converted:g}.")
    return converted


def whole_number(name: str, value: SupportsIndex, at_least: int = 1) -> int:
    """`value` as an int of `at_least` or more; a float such as 4.0 is refused, because it is not a
    count."""
    if isinstance(value, bool):
        raise Refusal(f"{name} must be a whole number, not {value!r}.")
    try:
        converted = operator.index(value)
    except TypeError as error:
        raise Refusal(f"{name} must be a whole number, not {value!r}.") from error
    if converted < at_least:
        raise Refusal(f"{name} must be at least {at_least}, not {converted}.")
    return converted
