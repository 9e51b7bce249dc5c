"""Tensor parallelism: one matrix multiply split over GPUs, and the feed-forward layer built of two
splits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scale.data_parallel import RingAllReduce, ring_all_reduce
from scale.refusal import Refusal
from scale.validation import whole_number

Activation = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True)
class SplitMatmul:
    """What each GPU computed, and the whole product."""

    parts: list[NDArray[Any]]
    output: NDArray[Any]


@dataclass(frozen=True)
class TensorParallelMlp:
    """The output of the split layer, the same on every GPU, and its all-reduces."""

    output: NDArray[Any]
    all_reduces: list[RingAllReduce]

    @property
    def all_reduce_count(self) -> int:
        """All-reduces in the forward pass."""
        return len(self.all_reduces)


def relu(values: NDArray[Any]) -> NDArray[Any]:
    """max(0, x), element by element, so that each GPU can apply it to its own columns."""
    return np.asarray(np.maximum(values, 0))


def _matrix(name: str, values: ArrayLike, dimensions: tuple[int, ...]) -> NDArray[Any]:
    matrix = np.asarray(values)
    if matrix.dtype.kind not in "iuf" or matrix.ndim not in dimensions:
        allowed = " or ".join(str(count) for count in dimensions)
        raise Refusal(f"{name} must hold numbers in {allowed} dimensions, not {matrix.dtype} in {matrix.ndim}.")
    return matrix


def _factors(inputs: ArrayLike, weights: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    x, w = _matrix("inputs", inputs, (1, 2)), _matrix("weights", weights, (2,))
    if x.shape[-1] != w.shape[0]:
        raise Refusal(f"inputs of shape {x.shape} cannot be multiplied by weights of shape {w.shape}.")
    return x, w


def _degree(gpus: int, size: int, what: str) -> int:
    degree = whole_number("gpus", gpus)
    if degree > size:
        raise Refusal(f"{size} {what} cannot be split over {degree} GPUs.")
    return degree


def column_parallel_matmul(inputs: ArrayLike, weights: ArrayLike, gpus: int) -> SplitMatmul:
    """X W with the columns of W split over GPUs (Shoeybi et al. 2019, section 3).

    `inputs` has shape (k,) or (n, k) and is on every GPU, `weights` (k, m). GPU g's part is its columns of
    the output; `output` is the parts side by side. If the GPUs do not divide m, the first ones hold one
    column more. Raises ValueError for shapes that do not fit or more GPUs than columns.
    """
    x, w = _factors(inputs, weights)
    blocks = np.array_split(w, _degree(gpus, w.shape[1], "columns"), axis=1)
    parts = [x @ block for block in blocks]
    return SplitMatmul(parts, np.concatenate(parts, axis=-1))


def row_parallel_matmul(inputs: ArrayLike, weights: ArrayLike, gpus: int) -> SplitMatmul:
    """X W with the rows of W, and the columns of X, split over GPUs (Shoeybi et al. 2019, section 3).

    Shapes as in `column_parallel_matmul`. GPU g's part is a partial sum of the whole output; `output` is
    their sum, for which real GPUs need an all-reduce. Exact for integers; for floats equal to X W up to the
    order of addition. Raises ValueError for shapes that do not fit or more GPUs than rows.
    """
    x, w = _factors(inputs, weights)
    degree = _degree(gpus, w.shape[0], "rows")
    columns, rows = np.array_split(x, degree, axis=-1), np.array_split(w, degree, axis=0)
    parts = [left @ right for left, right in zip(columns, rows)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return SplitMatmul(parts, total)


def tensor_parallel_mlp(
    inputs: ArrayLike,
    first_weights: ArrayLike,
    second_weights: ArrayLike,
    gpus: int,
    activation: Activation = relu,
) -> TensorParallelMlp:
    """activation(X W1) W2 with W1 split by columns and W2 by rows: one all-reduce (Shoeybi et al. 2019,
    figure 3a).

    `inputs` has shape (k,) or (n, k), `first_weights` (k, f), `second_weights` (f, m). The activation must
    work element by element: then each GPU goes from its columns of X W1 to its partial sum of Y without a
    word to the others, and a simulated ring all-reduce adds the partial sums. Raises ValueError for shapes
    that do not fit or gpus above f.
    """
    x, w1 = _factors(inputs, first_weights)
    w2 = _matrix("second_weights", second_weights, (2,))
    if w1.shape[1] != w2.shape[0]:
        raise Refusal(f"first_weights of shape {w1.shape} do not feed second_weights of shape {w2.shape}.")
    hidden = column_parallel_matmul(x, w1, gpus).parts
    rows = np.array_split(w2, gpus, axis=0)
    partial_sums = [activation(part) @ block for part, block in zip(hidden, rows)]
    all_reduces = [ring_all_reduce([partial.reshape(-1) for partial in partial_sums])]
    return TensorParallelMlp(all_reduces[0].results[0].reshape(partial_sums[0].shape), all_reduces)
