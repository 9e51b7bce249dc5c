"""Split matrix multiplies give the unsplit answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.tensor_parallel import column_parallel_matmul, relu, row_parallel_matmul, tensor_parallel_mlp

SIZES = st.tuples(*[st.integers(1, 7)] * 4)


def matrices(seed: int, *shapes: tuple[int, int]) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.integers(-9, 10, shape) for shape in shapes]


@given(SIZES, st.integers(0, 10**6), st.data())
def test_splits_equal_the_unsplit_product(sizes: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    rows, inner, columns, _ = sizes
    x, w = matrices(seed, (rows, inner), (inner, columns))
    by_columns = column_parallel_matmul(x, w, data.draw(st.integers(1, columns)))
    by_rows = row_parallel_matmul(x, w, data.draw(st.integers(1, inner)))
    np.testing.assert_array_equal(by_columns.output, x @ w)
    np.testing.assert_array_equal(by_rows.output, x @ w)
    np.testing.assert_array_equal(np.concatenate(by_columns.parts, axis=1), x @ w)
    np.testing.assert_array_equal(sum(by_rows.parts), x @ w)


@given(SIZES, st.integers(0, 10**6), st.data())
def test_the_split_layer_equals_the_unsplit_one(sizes: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    rows, inner, hidden, outer = sizes
    x, w1, w2 = matrices(seed, (rows, inner), (inner, hidden), (hidden, outer))
    gpus = data.draw(st.integers(1, hidden))
    layer = tensor_parallel_mlp(x, w1, w2, gpus)
    np.testing.assert_array_equal(layer.output, relu(x @ w1) @ w2)
    assert layer.all_reduce_count == 1 and layer.all_reduces[0].steps == 2 * (gpus - 1)
    assert sum(layer.all_reduces[0].sent_elements) == 2 * (gpus - 1) * rows * outer


def test_floats_and_other_activations() -> None:
    generator = np.random.default_rng(5)
    x, w1, w2 = generator.normal(size=8), generator.normal(size=(8, 12)), generator.normal(size=(12, 8))
    layer = tensor_parallel_mlp(x, w1, w2, 4, activation=np.tanh)
    np.testing.assert_allclose(layer.output, np.tanh(x @ w1) @ w2, rtol=1e-12)


@pytest.mark.parametrize(
    "x, w, gpus, sentence",
    [
        ([1, 2, 3], [[1], [2]], 1, "cannot be multiplied"),
        ([1, 2], [1, 2], 1, "weights must hold numbers in 2 dimensions"),
        (1, [[1]], 1, "inputs must hold numbers in 1 or 2 dimensions"),
        ([["a"]], [[1]], 1, "must hold numbers"),
        ([1, 2], [[1, 2], [3, 4]], 3, "cannot be split over 3 GPUs"),
        ([1, 2], [[1, 2], [3, 4]], 0, "gpus must be at least 1"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(x: list[int], w: list[list[int]], gpus: int, sentence: str) -> None:
    for split in (column_parallel_matmul, row_parallel_matmul):
        with pytest.raises(ValueError, match=sentence):
            split(x, w, gpus)
    with pytest.raises(ValueError, match=sentence):
        tensor_parallel_mlp(x, w, np.ones((np.shape(w)[-1], 2)), gpus)


def test_layers_that_do_not_feed_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="do not feed"):
        tensor_parallel_mlp([[1]], [[1, 2]], [[1]], 1)
