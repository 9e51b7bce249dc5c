"""Floating-point formats of training, and rounding any float64 to them in one step.

FP16, BF16 and FP32 follow IEEE 754; FP8_E5M2 and FP8_E4M3 follow the Open Compute Project's OFP8
specification (Micikevicius et al. 2022, "FP8 Formats for Deep Learning", Table 1). FP8_E4M3 is the one that
reaches 448 and has no infinity ("e4m3fn" elsewhere); the IEEE-like E4M3 with maximum 240 and the "fnuz"
variants are other formats.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scale.refusal import Refusal
from scale.validation import whole_number

_FLOAT64_FRACTION_BITS = 52
_FLOAT64_BIAS = 1023
_MAGNITUDE_MASK = np.int64(0x7FFF_FFFF_FFFF_FFFF)
_EXPONENT_MASK = np.int64(0x7FF0_0000_0000_0000)
_SIGN_MASK = np.int64(-0x8000_0000_0000_0000)

_BLOCK_VALUES = 8192
"""Values rounded at a time: three blocks of 64 KiB stay in a core's second-level cache."""

OVERFLOW_POLICIES = ("ieee", "saturate")


@dataclass(frozen=True)
class FloatFormat:
    """A binary format of one sign bit, `exponent_bits` and `fraction_bits`, with subnormals.

    With `has_infinity` the highest exponent field holds infinity and NaN (IEEE 754). Without it that field
    holds finite values too, and only the all-ones code is NaN (OFP8 E4M3). Raises ValueError for widths
    outside 2..8 and 1..23.
    """

    name: str
    exponent_bits: int
    fraction_bits: int
    has_infinity: bool = True

    def __post_init__(self) -> None:
        if not 2 <= whole_number("exponent_bits", self.exponent_bits) <= 8:
            raise Refusal(f"exponent_bits must be 2 to 8, not {self.exponent_bits}.")
        if not 1 <= whole_number("fraction_bits", self.fraction_bits) <= 23:
            raise Refusal(f"fraction_bits must be 1 to 23, not {self.fraction_bits}.")

    @property
    def bits(self) -> int:
        """Width of a code."""
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        """Subtracted from the exponent field: 2^(e-1) - 1."""
        return int(2 ** (self.exponent_bits - 1)) - 1

    @property
    def min_exponent(self) -> int:
        """Exponent of the smallest normal number and of all subnormals."""
        return 1 - self.bias

    @property
    def max_exponent(self) -> int:
        """Exponent of the largest finite number."""
        return int(2**self.exponent_bits) - (2 if self.has_infinity else 1) - self.bias

    @property
    def max_code(self) -> int:
        """Code of the largest finite number; codes 0..max_code are the non-negative numbers in ascending
        order."""
        return int(2 ** (self.bits - 1)) - (1 + int(2**self.fraction_bits) if self.has_infinity else 2)

    @property
    def eps(self) -> float:
        """The gap after 1: 2^-fraction_bits."""
        return 2.0**-self.fraction_bits

    @cached_property
    def max(self) -> float:
        """The largest finite number."""
        return self.decode(self.max_code)

    @property
    def min_normal(self) -> float:
        """The smallest normal number."""
        return 2.0**self.min_exponent

    @property
    def min_subnormal(self) -> float:
        """The smallest number above 0; half of it, and anything smaller, rounds to 0."""
        return 2.0 ** (self.min_exponent - self.fraction_bits)

    def codes(self) -> range:
        """Every code, 0 .. 2^bits - 1; the upper half has the sign bit set."""
        return range(2**self.bits)

    @overload
    def decode(self, code: int) -> float: ...
    @overload
    def decode(self, code: NDArray[np.integer[Any]]) -> NDArray[np.float64]: ...
    def decode(self, code: Any) -> Any:
        """The value of a code, or of an integer array of codes (any shape), as float64.

        (-1)^sign 2^(E - bias) (1 + F / 2^f), and 2^(1 - bias) F / 2^f for the exponent field 0.
        Raises ValueError for a code outside 0 .. 2^bits - 1 or an array that is not of integers.
        """
        codes = np.asarray(code)
        if codes.dtype.kind not in "iu":
            raise Refusal(f"codes must be integers, not {codes.dtype}.")
        if codes.size and not (codes.min() >= 0 and codes.max() < 2**self.bits):
            raise Refusal(f"{self.name} codes lie in 0 .. {2**self.bits - 1}.")
        field = codes.astype(np.int64)
        fraction = field & (2**self.fraction_bits - 1)
        exponent = (field >> self.fraction_bits) & (2**self.exponent_bits - 1)
        significand = np.where(exponent > 0, fraction + 2**self.fraction_bits, fraction).astype(np.float64)
        scale = np.maximum(exponent, 1) - self.bias - self.fraction_bits
        magnitude = np.ldexp(significand, scale)
        past_finite = (field & (2 ** (self.bits - 1) - 1)) > self.max_code
        infinite = past_finite & (fraction == 0) & self.has_infinity
        magnitude = np.where(infinite, np.inf, np.where(past_finite, np.nan, magnitude))
        values = np.where(field >> (self.bits - 1), -magnitude, magnitude)
        return values if isinstance(code, np.ndarray) else float(values)


FP32 = FloatFormat("FP32", 8, 23)
BF16 = FloatFormat("BF16", 8, 7)
FP16 = FloatFormat("FP16", 5, 10)
FP8_E5M2 = FloatFormat("FP8_E5M2", 5, 2)
FP8_E4M3 = FloatFormat("FP8_E4M3", 4, 3, has_infinity=False)

FORMATS: dict[str, FloatFormat] = {fmt.name: fmt for fmt in (FP32, BF16, FP16, FP8_E5M2, FP8_E4M3)}


@overload
def quantize(x: float, fmt: FloatFormat, overflow: str = "ieee") -> float: ...
@overload
def quantize(x: NDArray[Any] | list[Any], fmt: FloatFormat, overflow: str = "ieee") -> NDArray[np.float64]: ...
def quantize(x: Any, fmt: FloatFormat, overflow: str = "ieee") -> Any:
    """Round `x` to the nearest number of `fmt`, ties to even, in one step from float64 (IEEE 754-2019,
    section 4.3.1).

    A number gives a float, an array (or list) a float64 array of its shape; both hold values that `fmt` can
    represent. NaN stays NaN and zero keeps its sign, also where a tiny number underflows. Rounding comes
    first, on an unbounded exponent; what then exceeds `fmt.max` overflows: with overflow="ieee" to
    infinity, or to NaN in a format that has none (FP8_E4M3); with "saturate" to the largest number,
    infinities included (the two conversion modes of OFP8).

    Raises ValueError for another policy, for anything but real numbers of at most 64 bits, for masked arrays, and
    for integers that float64 cannot hold, because they would be rounded twice.
    """
    if overflow not in OVERFLOW_POLICIES:
        raise Refusal(f"overflow must be ieee or saturate, not {overflow!r}.")
    if isinstance(x, float):
        return _quantize_number(float(x), fmt, overflow)
    values = _as_float64(x)
    if values.ndim == 0 and not isinstance(x, np.ndarray):
        return _quantize_number(float(values), fmt, overflow)
    return _quantize_array(values, fmt, overflow)


def _as_float64(x: ArrayLike) -> NDArray[np.float64]:
    if isinstance(x, np.ma.MaskedArray):
        raise Refusal("quantize keeps no mask; fill the masked array or drop what it hides.")
    try:
        given = np.asarray(x)
    except ValueError as error:
        raise Refusal("the values to quantize must form an array, not a ragged list.") from error
    if given.dtype.kind not in "iuf" or given.dtype.itemsize > 8:
        raise Refusal(f"quantize takes real numbers of at most 64 bits, not {given.dtype}.")
    values = given.astype(np.float64, order="C", copy=False)
    # From 2^53 on a conversion may round; a float64 of 2^63 or more cannot be cast back, so Python compares.
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8 and bool((np.abs(values) >= 2.0**53).any()):
        large = np.abs(values) >= 2.0**53
        if any(int(a) != int(b) for a, b in zip(given[large].tolist(), values[large].tolist())):
            raise Refusal("an integer beyond 2^53 is not exact in float64 and would be rounded twice.")
    return values


def _quantize_number(x: float, fmt: FloatFormat, overflow: str) -> float:
    if math.isnan(x):
        return x
    magnitude = abs(x)
    if magnitude < 2.0 ** (fmt.max_exponent + 1):
        exponent = max(math.frexp(magnitude)[1] - 1, fmt.min_exponent) - fmt.fraction_bits
        magnitude = math.ldexp(round(math.ldexp(magnitude, -exponent)), exponent)
    if magnitude > fmt.max:
        magnitude = fmt.max if overflow == "saturate" else _overflowed(fmt)
    return math.copysign(magnitude, x)


def _overflowed(fmt: FloatFormat) -> float:
    return math.inf if fmt.has_infinity else math.nan


def _quantize_array(values: NDArray[np.float64], fmt: FloatFormat, overflow: str) -> NDArray[np.float64]:
    values = np.ascontiguousarray(values).reshape(values.shape)
    rounded = np.empty_like(values)
    flat, flat_rounded = values.reshape(-1), rounded.reshape(-1)
    scratch = np.empty(min(_BLOCK_VALUES, flat.size), dtype=np.int64)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, flat.size, _BLOCK_VALUES):
            block = flat[start : start + _BLOCK_VALUES]
            target = flat_rounded[start : start + _BLOCK_VALUES]
            _round_block(block.view(np.int64), target, scratch[: block.size], fmt)
            _overflow_block(target, fmt, overflow)
            signs = np.bitwise_and(block.view(np.int64), _SIGN_MASK, out=scratch[: block.size])
            np.bitwise_or(target.view(np.int64), signs, out=target.view(np.int64))
    return rounded


def _round_block(
    bits: NDArray[np.int64], target: NDArray[np.float64], scratch: NDArray[np.int64], fmt: FloatFormat
) -> None:
    """Write the magnitudes of `bits`, rounded on an unbounded exponent, to `target`.

    For x in [2^e, 2^(e+1)) the sum x + 2^(e + 52 - f) has a last place of 2^(e - f), the step of the
    format, so float64 addition itself rounds to nearest even, and subtracting the power again is exact.
    Below the smallest normal number the step stays that of the subnormals; far above the largest one the
    step does not matter.
    """
    to_magic = (_FLOAT64_FRACTION_BITS - fmt.fraction_bits) << _FLOAT64_FRACTION_BITS
    lowest = np.int64((fmt.min_exponent + _FLOAT64_BIAS) << _FLOAT64_FRACTION_BITS)
    highest = np.int64((fmt.max_exponent + 1 + _FLOAT64_BIAS) << _FLOAT64_FRACTION_BITS)
    np.bitwise_and(bits, _EXPONENT_MASK, out=scratch)
    np.maximum(scratch, lowest, out=scratch)
    np.minimum(scratch, highest, out=scratch)
    np.add(scratch, np.int64(to_magic), out=scratch)
    np.bitwise_and(bits, _MAGNITUDE_MASK, out=target.view(np.int64))
    np.add(target, scratch.view(np.float64), out=target)
    np.subtract(target, scratch.view(np.float64), out=target)


def _overflow_block(magnitudes: NDArray[np.float64], fmt: FloatFormat, overflow: str) -> None:
    if overflow == "saturate":
        np.minimum(magnitudes, fmt.max, out=magnitudes)
    else:
        np.putmask(magnitudes, magnitudes > fmt.max, _overflowed(fmt))
