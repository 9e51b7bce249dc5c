"""Loss scaling, master weights, and fp8 with scales."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scale.floats import BF16, FP8_E4M3, FP8_E5M2, FP16, FP32, FloatFormat, quantize
from scale.precision import (
    LARGEST_FP32_POWER_OF_TWO,
    DynamicLossScaler,
    accumulate_updates,
    fp8_scale,
    quantize_per_block,
    quantize_per_tensor,
    relative_error,
    scaled_gradient_roundtrip,
)

MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(-1e30, 1e30))


def test_too_small_and_too_large_scales_lose_the_gradient() -> None:
    assert scaled_gradient_roundtrip(1e-8, 1.0) == 0.0
    assert scaled_gradient_roundtrip(1.0, 2.0**20) == math.inf
    assert math.isnan(scaled_gradient_roundtrip(1.0, 1024.0, FP8_E4M3))
    both = scaled_gradient_roundtrip(np.array([[1e-8], [-1e-8]]), 65536.0)
    assert both.tolist() == [[9.997165761888027e-09], [-9.997165761888027e-09]]


def test_a_trace_of_the_loss_scale() -> None:
    scaler = DynamicLossScaler(scale=8.0, growth_interval=3)
    trace = []
    for flag in "0000100011000":
        assert scaler.record(overflow=flag == "1") is (flag == "0")
        trace.append(scaler.scale)
    assert trace == [8, 8, 16, 16, 8, 8, 8, 16, 8, 4, 4, 4, 8]


def test_the_scale_has_a_floor_and_a_ceiling() -> None:
    low = DynamicLossScaler(scale=2.0)
    assert [low.update([math.nan]) for _ in range(3)] == [False] * 3 and low.scale == 1.0
    high = DynamicLossScaler(scale=LARGEST_FP32_POWER_OF_TWO, growth_interval=2)
    assert all(high.update([0.0]) for _ in range(4))
    assert (high.scale, high.clean_steps) == (LARGEST_FP32_POWER_OF_TWO, 0)


@pytest.mark.parametrize(
    "settings",
    [
        {"growth_factor": 1.0},
        {"backoff_factor": 1.0},
        {"backoff_factor": 0.0},
        {"growth_interval": 0},
        {"scale": 0.5},
        {"scale": math.inf},
        {"scale": math.nan},
        {"min_scale": 0.0},
    ],
)
def test_impossible_scalers_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        DynamicLossScaler(**settings)


@pytest.mark.parametrize("fmt", [FP16, BF16, FP8_E4M3, FP8_E5M2])
def test_small_updates_are_lost_in_narrow_formats(fmt: FloatFormat) -> None:
    assert accumulate_updates(1.0, 1e-4, 1000, fmt) == 1.0
    assert accumulate_updates(1.0, -fmt.eps / 8, 1000, fmt) == 1.0


def test_updates_over_half_a_step_are_doubled() -> None:
    assert accumulate_updates(1.0, 4.9e-4, 1000, FP16) == 1.9765625
    assert accumulate_updates(1.0, 4.9e-4, 0, FP16) == 1.0
    weight = np.float32(0.1)
    for _ in range(500):
        weight = np.float32(weight + np.float32(-3e-5))
    assert accumulate_updates(0.1, -3e-5, 500, FP32) == float(weight)


@example(np.array([[2.0**-149]]), FP8_E4M3, False, 1, 1)
@given(MATRICES, st.sampled_from([FP8_E4M3, FP8_E5M2]), st.booleans(), st.integers(1, 4), st.integers(1, 4))
def test_scaled_blocks_stay_in_range_and_near(
    values: np.ndarray, fmt: FloatFormat, power_of_two: bool, rows: int, columns: int
) -> None:
    for tensor in (
        quantize_per_tensor(values, fmt, power_of_two),
        quantize_per_block(values, fmt, rows, columns, power_of_two),
    ):
        np.testing.assert_array_equal(quantize(tensor.quantized, fmt), tensor.quantized)
        # Half a step of the fraction, or half a subnormal step at the scale of the largest value.
        largest = np.abs(values).max()
        bound = np.abs(values) * fmt.eps / 2 + largest * fmt.min_subnormal / fmt.max
        bound = bound + fmt.min_subnormal / LARGEST_FP32_POWER_OF_TWO  # no scale is larger, however small the values
        assert (np.abs(tensor.dequantize() - values) <= bound * (1 + 1e-6)).all()


def test_each_block_has_its_own_scale() -> None:
    values = np.ones((2, 5))
    values[0, 0], values[1, 4] = 448.0, 0.5
    tensor = quantize_per_block(values, FP8_E4M3, block_rows=1, block_columns=2)
    assert tensor.scale.tolist() == [[1.0, 448.0, 448.0], [448.0, 448.0, 896.0]]
    assert quantize_per_block(values, FP8_E4M3, 2, 5).scale.tolist() == [[1.0]]
    assert quantize_per_block(values[0], FP8_E4M3, 1, 2).scale.tolist() == [[1.0, 448.0, 448.0]]
    assert quantize_per_block(values[0], FP8_E4M3, 1, 2).dequantize().tolist() == values[0].tolist()


def test_an_outlier_costs_its_own_block_only() -> None:
    values = np.random.default_rng(0).normal(size=(64, 256))
    values[3, 5] = 1e6
    per_tensor, per_block = quantize_per_tensor(values, FP8_E4M3), quantize_per_block(values, FP8_E4M3)
    others = np.ones(values.shape, dtype=bool)
    others[3, :128] = False
    assert (per_tensor.dequantize()[others] == 0).mean() > 0.5
    error = np.abs(per_block.dequantize() - values)[others] / np.abs(values)[others].max()
    assert error.max() < FP8_E4M3.eps / 2
    assert relative_error(values, quantize_per_block(values, FP8_E4M3)) < FP8_E4M3.eps / 2


def test_scales_come_from_the_recent_largest_value() -> None:
    assert fp8_scale([1.0, 7.0, 3.5], FP8_E4M3) == 64.0 and fp8_scale(0.0, FP8_E4M3) == 1.0
    assert fp8_scale(3.0, FP8_E4M3, power_of_two=True) == 128.0
    assert fp8_scale(1e-300, FP8_E5M2) == LARGEST_FP32_POWER_OF_TWO == fp8_scale(5e-324, FP8_E4M3)
    assert fp8_scale(3.0, FP8_E4M3) == float(np.float32(448.0 / 3.0))
    assert 0 < fp8_scale(FP32.max, FP8_E4M3) * FP32.max <= 448 * (1 + FP32.eps)


def test_zeros_and_empty_tensors() -> None:
    assert quantize_per_tensor(np.zeros(3), FP8_E4M3).dequantize().tolist() == [0.0] * 3
    assert quantize_per_tensor([], FP8_E4M3).quantized.shape == (0,)


def test_bad_inputs_are_refused() -> None:
    for call in (
        lambda: scaled_gradient_roundtrip(1.0, 0.0),
        lambda: scaled_gradient_roundtrip(math.nan, 1.0),
        lambda: accumulate_updates(math.inf, 1.0, 1, FP16),
        lambda: accumulate_updates(1.0, 1.0, -1, FP16),
        lambda: fp8_scale([], FP8_E4M3),
        lambda: fp8_scale([-1.0], FP8_E4M3),
        lambda: fp8_scale(math.nan, FP8_E4M3),
        lambda: fp8_scale(1e300, FP8_E4M3),
        lambda: quantize_per_tensor([math.inf], FP8_E4M3),
        lambda: quantize_per_tensor([-1e39], FP8_E4M3),
        lambda: quantize_per_block(np.ones((2, 2, 2)), FP8_E4M3),
        lambda: quantize_per_block(np.ones((0, 2)), FP8_E4M3),
        lambda: quantize_per_block(np.ones((2, 2)), FP8_E4M3, 0),
        lambda: relative_error(np.zeros(2), quantize_per_tensor(np.zeros(2), FP8_E4M3)),
        lambda: relative_error(np.ones(3), quantize_per_tensor(np.ones(2), FP8_E4M3)),
    ):
        with pytest.raises(ValueError, match=r"must|are not those"):
            call()
