"""Formats against numpy, ml_dtypes and gfloat; rounding over all codes, midpoints and their neighbours."""

import math

import gfloat
import ml_dtypes
import numpy as np
import pytest
from gfloat import formats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scale.floats import BF16, FORMATS, FP8_E4M3, FP8_E5M2, FP16, FP32, FloatFormat, quantize

Values = NDArray[np.float64]

SMALL = [BF16, FP16, FP8_E5M2, FP8_E4M3]
ALL = [FP32, *SMALL]
NATIVE = {
    "FP32": (np.uint32, np.float32),
    "BF16": (np.uint16, ml_dtypes.bfloat16),
    "FP16": (np.uint16, np.float16),
    "FP8_E5M2": (np.uint8, ml_dtypes.float8_e5m2),
    "FP8_E4M3": (np.uint8, ml_dtypes.float8_e4m3fn),
}
GFLOAT = {
    "FP32": formats.format_info_binary32,
    "BF16": formats.format_info_bfloat16,
    "FP16": formats.format_info_binary16,
    "FP8_E5M2": formats.format_info_ocp_e5m2,
    "FP8_E4M3": formats.format_info_ocp_e4m3,
}


def assert_same_bits(got: Values, expected: Values) -> None:
    """Equal in every bit; all NaN count as one."""
    assert got.dtype == expected.dtype == np.float64 and got.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(got[numbers].view(np.int64), expected[numbers].view(np.int64))


def sampled_codes(fmt: FloatFormat) -> NDArray[np.int64]:
    """Every non-negative finite code; of FP32 the ends and random middles of every exponent."""
    if fmt is not FP32:
        return np.arange(fmt.max_code + 1)
    fractions = np.random.default_rng(1).integers(0, 2**23, 400)
    fractions = np.unique(np.concatenate([fractions, [0, 1, 2, 2**23 - 2, 2**23 - 1]]))
    return (np.arange(255)[:, None] * 2**23 + fractions).reshape(-1)


def next_up(fmt: FloatFormat, codes: NDArray[np.int64]) -> Values:
    """The number after each code; after the largest, the one that an unbounded exponent would give."""
    beyond = fmt.max + 2.0 ** (fmt.max_exponent - fmt.fraction_bits)
    return np.where(codes == fmt.max_code, beyond, fmt.decode(np.minimum(codes + 1, fmt.max_code)))


def random_doubles(fmt: FloatFormat, count: int = 40_000) -> Values:
    """Uniform in exponent from below the subnormals to above the maximum, both signs."""
    generator = np.random.default_rng(7)
    low = fmt.min_exponent - fmt.fraction_bits - 3
    magnitude = np.ldexp(generator.uniform(1, 2, count), generator.integers(low, fmt.max_exponent + 3, count))
    return magnitude * generator.choice([-1.0, 1.0], count)


@pytest.mark.parametrize("fmt", ALL, ids=lambda fmt: fmt.name)
def test_codes_decode_as_in_numpy_and_ml_dtypes(fmt: FloatFormat) -> None:
    if fmt is FP32:
        finite = sampled_codes(FP32)
        codes = np.concatenate([finite, finite + 2**31, [0x7F800000, 0xFF800000, 0x7FC00000]])
    else:
        codes = np.array(fmt.codes())
    unsigned, native = NATIVE[fmt.name]
    with np.errstate(invalid="ignore"):
        expected = codes.astype(unsigned).view(native).astype(np.float64)
    assert_same_bits(fmt.decode(codes), expected)
    assert fmt.decode(int(codes[3])) == fmt.decode(codes)[3]


@pytest.mark.parametrize(
    "fmt, finite, nan", [(BF16, 65280, 254), (FP16, 63488, 2046), (FP8_E5M2, 248, 6), (FP8_E4M3, 254, 2)]
)
def test_counts_of_finite_and_nan_codes(fmt: FloatFormat, finite: int, nan: int) -> None:
    values = fmt.decode(np.array(fmt.codes()))
    assert (np.isfinite(values).sum(), np.isnan(values).sum()) == (finite, nan)
    assert np.isinf(values).any() == fmt.has_infinity
    assert values[np.isfinite(values)].max() == fmt.max == fmt.decode(fmt.max_code)
    assert fmt.min_subnormal == fmt.decode(1) and fmt.min_normal == fmt.decode(2**fmt.fraction_bits)
    assert fmt.eps == fmt.decode((fmt.bias << fmt.fraction_bits) + 1) - 1.0


@pytest.mark.parametrize("overflow", ["ieee", "saturate"])
@pytest.mark.parametrize("fmt", ALL, ids=lambda fmt: fmt.name)
def test_every_number_of_a_format_is_kept(fmt: FloatFormat, overflow: str) -> None:
    values = fmt.decode(sampled_codes(fmt))
    for signed in (values, -values):
        assert_same_bits(quantize(signed, fmt, overflow), signed)


@pytest.mark.parametrize("overflow", ["ieee", "saturate"])
@pytest.mark.parametrize("fmt", ALL, ids=lambda fmt: fmt.name)
def test_midpoints_go_to_even_and_their_neighbours_to_the_nearest(fmt: FloatFormat, overflow: str) -> None:
    codes = sampled_codes(fmt)
    lower, upper = fmt.decode(codes), next_up(fmt, codes)
    middle = lower / 2 + upper / 2
    overflowed = {"saturate": fmt.max, "ieee": math.inf if fmt.has_infinity else math.nan}[overflow]
    upper = np.where(upper > fmt.max, overflowed, upper)
    even = np.where(codes % 2 == 0, lower, upper)
    for sign in (1.0, -1.0):
        assert_same_bits(quantize(sign * np.nextafter(middle, 0), fmt, overflow), sign * lower)
        assert_same_bits(quantize(sign * middle, fmt, overflow), sign * even)
        assert_same_bits(quantize(sign * np.nextafter(middle, math.inf), fmt, overflow), sign * upper)


def edge_inputs(fmt: FloatFormat) -> Values:
    """Numbers, midpoints, their float64 neighbours, random doubles, and special values, of both signs."""
    codes = sampled_codes(fmt)
    lower = fmt.decode(codes)
    middle = lower / 2 + next_up(fmt, codes) / 2
    special = [0.0, math.inf, math.nan, 5e-324, 1.7976931348623157e308, fmt.min_subnormal / 2, 464.0]
    around = [np.nextafter(middle, 0), middle, np.nextafter(middle, math.inf)]
    positive = np.concatenate([lower, *around, random_doubles(fmt), special])
    return np.concatenate([positive, -positive])


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("fmt", ALL, ids=lambda fmt: fmt.name)
def test_float64_inputs_round_as_in_gfloat(fmt: FloatFormat, saturate: bool) -> None:
    x = edge_inputs(fmt)
    x = x[~np.isinf(x)] if saturate else x
    with np.errstate(over="ignore", invalid="ignore"):
        expected = gfloat.round_ndarray(GFLOAT[fmt.name], x, sat=saturate)
    assert_same_bits(quantize(x, fmt, "saturate" if saturate else "ieee"), expected)


@pytest.mark.parametrize("fmt, native", [(FP16, np.float16), (FP32, np.float32)])
def test_float64_inputs_round_as_in_numpy(fmt: FloatFormat, native: type[np.floating]) -> None:
    x = edge_inputs(fmt)
    with np.errstate(over="ignore"):
        expected = x.astype(native).astype(np.float64)
    assert_same_bits(quantize(x, fmt), expected)


@pytest.mark.parametrize("fmt", SMALL, ids=lambda fmt: fmt.name)
def test_float32_inputs_round_as_in_ml_dtypes(fmt: FloatFormat) -> None:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        x = edge_inputs(fmt).astype(np.float32)
        expected = x.astype(NATIVE[fmt.name][1]).astype(np.float64)
    assert_same_bits(quantize(x, fmt), expected)


def test_float64_is_rounded_once() -> None:
    just_below = float.fromhex("0x1.7ffffffffffffp-9")
    assert quantize(just_below, FP8_E4M3) == 2.0**-9
    with_float32_between = float(np.float32(just_below).astype(ml_dtypes.float8_e4m3fn))
    assert with_float32_between == 2.0**-8


@pytest.mark.parametrize("fmt", ALL, ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("overflow", ["ieee", "saturate"])
def test_numbers_and_arrays_agree(fmt: FloatFormat, overflow: str) -> None:
    x = edge_inputs(fmt)[::23]
    one_by_one = np.array([quantize(float(value), fmt, overflow) for value in x])
    assert_same_bits(quantize(x, fmt, overflow), one_by_one)


@pytest.mark.parametrize(
    "x, fmt, ieee, saturate",
    [
        (464.0, FP8_E4M3, 448.0, 448.0),
        (465.0, FP8_E4M3, math.nan, 448.0),
        (-1e9, FP8_E4M3, math.nan, -448.0),
        (math.inf, FP8_E4M3, math.nan, 448.0),
        (math.nextafter(61440.0, 0.0), FP8_E5M2, 57344.0, 57344.0),
        (61440.0, FP8_E5M2, math.inf, 57344.0),
        (-math.inf, FP8_E5M2, -math.inf, -57344.0),
        (65520.0, FP16, math.inf, 65504.0),
        (math.nextafter(65520.0, 0.0), FP16, 65504.0, 65504.0),
        (2.0**128 * (1 - 2.0**-9), BF16, math.inf, BF16.max),
        (math.nan, FP16, math.nan, math.nan),
    ],
)
def test_overflow_comes_after_rounding(x: float, fmt: FloatFormat, ieee: float, saturate: float) -> None:
    for given_input in (x, np.array([x])):
        assert_same_bits(np.atleast_1d(quantize(given_input, fmt)), np.array([ieee]))
        assert_same_bits(np.atleast_1d(quantize(given_input, fmt, "saturate")), np.array([saturate]))


@pytest.mark.parametrize("fmt", ALL, ids=lambda fmt: fmt.name)
def test_zero_and_underflow_keep_their_sign(fmt: FloatFormat) -> None:
    for tiny in (0.0, 5e-324, fmt.min_subnormal / 2):
        assert math.copysign(1, quantize(tiny, fmt)) == 1 and math.copysign(1, quantize(-tiny, fmt)) == -1
        assert_same_bits(quantize(np.array([tiny, -tiny]), fmt), np.array([0.0, -0.0]))


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.sampled_from(ALL))
def test_rounding_is_idempotent_monotone_and_odd(a: float, b: float, fmt: FloatFormat) -> None:
    low, high = quantize(min(a, b), fmt, "saturate"), quantize(max(a, b), fmt, "saturate")
    assert low <= high and quantize(low, fmt) == low
    assert quantize(-a, fmt, "saturate") == -quantize(a, fmt, "saturate")


def test_arrays_keep_their_shape_and_are_not_changed() -> None:
    x = np.random.default_rng(0).normal(size=(300, 70))
    before = x.copy()
    assert_same_bits(quantize(x[::2, ::-3].T, BF16), np.ascontiguousarray(quantize(x, BF16)[::2, ::-3].T))
    np.testing.assert_array_equal(x, before)
    assert quantize(np.empty((0, 3)), FP16).shape == (0, 3)
    zero_dimensional = quantize(np.array(1 / 3), BF16)
    assert isinstance(zero_dimensional, np.ndarray) and zero_dimensional.shape == ()
    assert zero_dimensional == 0.333984375
    assert isinstance(quantize(np.float32(1.1), BF16), float) and isinstance(quantize(7, BF16), float)
    assert quantize([1, 257, 258], BF16).tolist() == [1.0, 256.0, 258.0]
    assert quantize(np.arange(250, 260, dtype=np.uint16), BF16)[7] == 256.0


NOT_FLOAT64 = ["1.0", True, None, 1j, [1.0, None], [[1.0], [1.0, 2.0]], np.longdouble(1), 10**400, 2**53 + 1]


MASKED = np.ma.masked_array([1.0, 2.0], [False, True])  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("x", [*NOT_FLOAT64, np.array([2**63 - 1]), np.array([True]), MASKED])
def test_other_inputs_are_refused(x: object) -> None:
    with pytest.raises(ValueError):
        quantize(x, FP16)  # type: ignore[call-overload]


def test_large_integers_that_float64_holds_are_taken() -> None:
    assert quantize(2**60, BF16) == 2.0**60
    assert quantize(np.array([2**62, -(2**63), 3]), BF16).tolist() == [2.0**62, -(2.0**63), 3.0]


def test_unknown_policies_codes_and_widths_are_refused() -> None:
    with pytest.raises(ValueError, match="ieee or saturate"):
        quantize(1.0, FP16, "clip")
    for code in (-1, 256):
        with pytest.raises(ValueError, match="FP8_E4M3 codes lie in 0"):
            FP8_E4M3.decode(code)
    with pytest.raises(ValueError, match="integers"):
        FP16.decode(np.array([1.0]))  # type: ignore[arg-type]
    for widths in ((9, 7), (1, 7), (8, 0), (8, 24)):
        with pytest.raises(ValueError, match="must be"):
            FloatFormat("odd", *widths)


def test_formats_are_listed_by_name() -> None:
    assert list(FORMATS.values()) == [FP32, BF16, FP16, FP8_E5M2, FP8_E4M3]
    assert [fmt.bits for fmt in FORMATS.values()] == [32, 16, 16, 8, 8]
