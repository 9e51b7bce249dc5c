"""Training in few bits: loss scaling, the master copy of the weights, and fp8 with scale factors."""

import math
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scale.floats import FP8_E4M3, FP8_E5M2, FP16, FP32, FloatFormat, quantize
from scale.refusal import Refusal
from scale.validation import non_negative, number, positive, whole_number

FP8_RATE_OVER_16_BIT = 2.0
"""Matrix-multiply rate of fp8 over bf16 on the same GPU (NVIDIA H100 data sheet: 1,979 and 989 dense
TFLOP/s)."""

FP8_FORMAT_OF = {"weights": FP8_E4M3, "activations": FP8_E4M3, "gradients": FP8_E5M2}
"""E4M3 where precision counts, E5M2 where range does (Micikevicius et al. 2022, section 3)."""

LARGEST_FP32_POWER_OF_TWO = 2.0**127


@overload
def scaled_gradient_roundtrip(gradient: float, scale: float, fmt: FloatFormat = FP16) -> float: ...
@overload
def scaled_gradient_roundtrip(gradient: NDArray[Any], scale: float, fmt: FloatFormat = FP16) -> NDArray[np.float64]: ...
def scaled_gradient_roundtrip(gradient: Any, scale: float, fmt: FloatFormat = FP16) -> Any:
    """Scale a gradient, store it in `fmt`, and divide the scale out again in float64 (Micikevicius et al.
    2018, 3.2).

    A number gives a float, an array an array of its shape. Too small a scale returns 0, too large a one
    infinity (NaN in a format without infinities). Raises ValueError for a scale that is not finite and
    above zero.
    """
    factor = positive("scale", scale)
    values = gradient if isinstance(gradient, np.ndarray) else number("gradient", gradient)
    return quantize(values * factor, fmt) / factor


@dataclass
class DynamicLossScaler:
    """A loss scale that halves on overflow and doubles after a run of clean steps (Micikevicius et al.
    2018, 3.2).

    The rules, stated because implementations differ:

    * A step with any infinite or NaN gradient is skipped, the scale is multiplied by `backoff_factor`, and the
      count of clean steps starts again at 0.
    * At the `growth_interval`-th clean step in a row the scale is multiplied by `growth_factor` and the count
      starts again, also when the ceiling kept the scale from growing.
    * The scale never goes below `min_scale` (1.0, as in DeepSpeed; PyTorch has no floor), where overflowing
      steps are still skipped, nor above `max_scale` (2^127: doubled once more it is not finite in fp32, as in
      PyTorch).

    Raises ValueError for a growth factor of 1 or less, a backoff factor outside (0, 1), an interval below
    1, or a scale outside its bounds.
    """

    scale: float = 65536.0
    growth_interval: int = 2000
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    min_scale: float = 1.0
    max_scale: float = LARGEST_FP32_POWER_OF_TWO
    clean_steps: int = 0

    def __post_init__(self) -> None:
        whole_number("growth_interval", self.growth_interval)
        if number("growth_factor", self.growth_factor) <= 1:
            raise Refusal(f"growth_factor must be above 1, not {self.growth_factor}.")
        if not 0 < number("backoff_factor", self.backoff_factor) < 1:
            raise Refusal(f"backoff_factor must be between 0 and 1, not {self.backoff_factor}.")
        if not positive("min_scale", self.min_scale) <= positive("scale", self.scale) <= self.max_scale:
            raise Refusal(f"scale {self.scale:g} must lie in {self.min_scale:g} .. {self.max_scale:g}.")

    def update(self, gradients: ArrayLike) -> bool:
        """Look at the scaled gradients of a step, adapt the scale, and return whether to take the step."""
        return self.record(overflow=not bool(np.isfinite(np.asarray(gradients, dtype=np.float64)).all()))

    def record(self, overflow: bool) -> bool:
        """`update` for a step whose gradients were already checked, by all GPUs together."""
        if overflow:
            self.scale = max(self.scale * self.backoff_factor, self.min_scale)
            self.clean_steps = 0
            return False
        self.clean_steps += 1
        if self.clean_steps >= self.growth_interval:
            self.clean_steps = 0
            grown = self.scale * self.growth_factor
            self.scale = grown if grown <= self.max_scale else self.scale
        return True


def accumulate_updates(start: float, update: float, steps: int, fmt: FloatFormat) -> float:
    """The weight after adding the same `update` `steps` times, rounded to `fmt` after each addition.

    Start and update are rounded to `fmt` first. An update below half a step of the format is lost every
    time (Micikevicius et al. 2018, section 3.1), which is why the master copy stays in fp32. Float64 holds
    more than twice the bits of every format, so each sum is rounded as if once (Figueroa 1995). Raises
    ValueError for values that are not finite or negative steps.
    """
    weight, added = quantize(number("start", start), fmt), quantize(number("update", update), fmt)
    for _ in range(whole_number("steps", steps, at_least=0)):
        weight = quantize(weight + added, fmt)
    return weight


@dataclass(frozen=True)
class ScaledTensor:
    """A tensor in a narrow format: values of that format, and the fp32 scale of each block of rows and
    columns."""

    quantized: NDArray[np.float64]
    scale: NDArray[np.float64]
    block_shape: tuple[int, int] | None

    def dequantize(self) -> NDArray[np.float64]:
        """The values with their scale divided out, in the shape of the original."""
        return self.quantized / _spread(self.scale, self.block_shape, self.quantized.shape)


def fp8_scale(recent_largest: ArrayLike, fmt: FloatFormat, power_of_two: bool = False) -> float:
    """The factor that puts the largest of the recent largest magnitudes on `fmt.max` (Micikevicius et al.
    2022, section 2).

    One magnitude is current scaling, the history of the last steps is delayed scaling. The factor is an
    fp32 number, 1 if everything was 0; with `power_of_two` it is rounded down to one, so that scaling is
    exact (DeepSeek-AI 2024, V3 report, section 3.3, for some activations). Raises ValueError for an empty
    history, or one negative or not finite.
    """
    history = np.atleast_1d(np.asarray(recent_largest, dtype=np.float64))
    if not history.size:
        raise Refusal("recent_largest must hold at least one magnitude.")
    largest = max(non_negative("each of recent_largest", magnitude) for magnitude in history.ravel().tolist())
    return float(_scales(_within_fp32(largest), fmt, power_of_two))


def quantize_per_tensor(values: ArrayLike, fmt: FloatFormat, power_of_two: bool = False) -> ScaledTensor:
    """A tensor of any shape in `fmt`, with one scale from its largest magnitude (Micikevicius et al. 2022,
    section 2).

    One outlier costs all other values their range. Raises ValueError for values that are not finite
    numbers.
    """
    tensor = _within_fp32(values)
    scale = _scales(np.abs(tensor).max(initial=0.0), fmt, power_of_two)
    return ScaledTensor(quantize(tensor * scale, fmt, "saturate"), scale, None)


def quantize_per_block(
    values: ArrayLike,
    fmt: FloatFormat,
    block_rows: int = 1,
    block_columns: int = 128,
    power_of_two: bool = False,
) -> ScaledTensor:
    """A matrix in `fmt` with one scale per block, so that an outlier costs its own block only.

    1 x 128 tiles are DeepSeek-V3's choice for activations, 128 x 128 blocks that for weights (DeepSeek-AI
    2024, section 3.3.2, figure 7). A vector counts as one row; blocks at the edges may be smaller. `scale`
    has the shape (block rows, block columns). Raises ValueError for values that are not finite, other
    shapes, empty ones, or blocks below 1.
    """
    tensor = _within_fp32(values)
    if tensor.ndim not in (1, 2) or not tensor.size:
        raise Refusal(f"values must be a vector or a matrix and not empty, not of shape {tensor.shape}.")
    shape = (whole_number("block_rows", block_rows), whole_number("block_columns", block_columns))
    largest = np.abs(np.atleast_2d(tensor))
    for axis, size in enumerate(shape):
        largest = np.maximum.reduceat(largest, np.arange(0, largest.shape[axis], size), axis=axis)
    scale = _scales(largest, fmt, power_of_two)
    return ScaledTensor(quantize(tensor * _spread(scale, shape, tensor.shape), fmt, "saturate"), scale, shape)


def _within_fp32(values: ArrayLike) -> NDArray[np.float64]:
    tensor = np.array(values, dtype=np.float64)
    if not (np.abs(tensor) <= FP32.max).all():
        raise Refusal("values must be finite in fp32: a step that overflowed is skipped, not scaled.")
    return tensor


def _scales(largest: NDArray[np.float64], fmt: FloatFormat, power_of_two: bool) -> NDArray[np.float64]:
    # A magnitude so small that the factor would leave fp32 gets the largest factor that stays in it.
    usable = np.maximum(largest, fmt.max / LARGEST_FP32_POWER_OF_TWO)
    factors = np.where(largest > 0, fmt.max / usable, 1.0)
    if power_of_two:
        return np.asarray(2.0 ** (np.frexp(factors)[1] - 1.0))
    return quantize(factors, FP32)


def _spread(
    scale: NDArray[np.float64], block_shape: tuple[int, int] | None, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """One scale per value, from one per block."""
    if block_shape is None:
        return np.broadcast_to(scale, shape)
    per_value = scale.repeat(block_shape[0], axis=0).repeat(block_shape[1], axis=1)
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    return per_value[:rows, :columns].reshape(shape)


def relative_error(values: ArrayLike, tensor: ScaledTensor) -> float:
    """Root mean square error of a scaled tensor over the root mean square of the values it came from.

    Raises ValueError for values of another shape, not finite, or all zero.
    """
    original = _within_fp32(values)
    if original.shape != tensor.quantized.shape:
        raise Refusal(f"values of shape {original.shape} are not those of {tensor.quantized.shape}.")
    norm = positive("the largest magnitude of the values", float(np.abs(original).max(initial=0.0)))
    error = np.linalg.norm((original - tensor.dequantize()) / norm)
    return float(error / math.sqrt(float(np.square(original / norm).sum())))
