"""The ring all-reduce and averaged gradients."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scale.data_parallel import (
    all_reduce_traffic,
    linear_regression_gradient,
    ring_all_reduce,
    zero_traffic_ratio,
)

VECTORS = st.tuples(st.integers(1, 9), st.integers(0, 40)).flatmap(
    lambda shape: hnp.arrays(np.int64, shape, elements=st.integers(-(10**6), 10**6))
)


@given(VECTORS)
def test_every_gpu_ends_with_the_sum(vectors: np.ndarray) -> None:
    before = vectors.copy()
    ring = ring_all_reduce(list(vectors))
    assert len(ring.results) == len(vectors)
    for result in ring.results:
        np.testing.assert_array_equal(result, before.sum(axis=0))
    np.testing.assert_array_equal(vectors, before)


@given(VECTORS)
def test_traffic_is_that_of_the_formula_up_to_uneven_chunks(vectors: np.ndarray) -> None:
    gpus, length = vectors.shape
    ring = ring_all_reduce(list(vectors))
    assert ring.steps == 2 * (gpus - 1)
    assert sum(ring.sent_elements) == pytest.approx(gpus * all_reduce_traffic(gpus, length))
    for sent in ring.sent_elements:
        assert abs(sent - all_reduce_traffic(gpus, length)) < 2
        assert length % gpus or sent == all_reduce_traffic(gpus, length)


@given(st.integers(1, 8), st.integers(0, 30), st.integers(0, 10**6))
def test_float_sums_are_close_and_the_same_on_all_gpus(gpus: int, length: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(gpus, length)).astype(np.float32)
    results = ring_all_reduce(list(vectors)).results
    np.testing.assert_allclose(results[0], vectors.sum(axis=0), rtol=1e-5, atol=1e-5)
    assert all(result.dtype == np.float32 and result.tobytes() == results[0].tobytes() for result in results)


def test_counts_when_the_gpus_do_not_divide_the_length() -> None:
    ring = ring_all_reduce([np.arange(7.0)] * 3)
    assert ring.reduce_scatter_sent_elements == [5, 5, 4] and ring.all_gather_sent_elements == [5, 4, 5]
    assert ring.sent_bytes == [80, 72, 72]


def test_one_gpu_sends_nothing() -> None:
    ring = ring_all_reduce([[1.5, 2.5]])
    assert (ring.steps, ring.sent_elements) == (0, [0]) and ring.results[0].tolist() == [1.5, 2.5]


@pytest.mark.parametrize(
    "vectors", [[], [[1, 2], [1, 2, 3]], [[[1]], [[2]]], [1, 2], [["a"], ["b"]], [[True], [False]]]
)
def test_vectors_must_be_numbers_of_one_length(vectors: list[list[int]]) -> None:
    with pytest.raises(ValueError, match=r"ring_all_reduce needs|same length"):
        ring_all_reduce(vectors)


@given(st.integers(1, 5), st.integers(1, 6), st.floats(-3, 3), st.integers(0, 10**6))
def test_the_mean_of_equal_shards_is_the_whole_gradient(gpus: int, size: int, weight: float, seed: int) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, gpus, size))
    shards = [linear_regression_gradient(x[gpu], y[gpu], weight) for gpu in range(gpus)]
    assert np.mean(shards) == pytest.approx(linear_regression_gradient(x.ravel(), y.ravel(), weight), abs=1e-9)


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    x, y = np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.0, -2.0])
    loss = [np.mean((w * x - y) ** 2) for w in (0.7 - 1e-6, 0.7 + 1e-6)]
    assert linear_regression_gradient(x, y, 0.7) == pytest.approx((loss[1] - loss[0]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize(
    "x, y, w", [([], [], 1), ([1], [1, 2], 1), ([[1]], [[1]], 1), ([math.nan], [1], 1), ([1], [1], math.inf)]
)
def test_bad_batches_are_refused(x: list[float], y: list[float], w: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        linear_regression_gradient(x, y, w)


def test_bad_traffic_is_refused() -> None:
    for gpus, payload in ((0, 1.0), (-1, 1.0), (2, -1.0), (2, math.nan), (2, math.inf)):
        with pytest.raises(ValueError, match="must"):
            all_reduce_traffic(gpus, payload)
    for stage in (-1, 4):
        with pytest.raises(ValueError, match="stage must be"):
            zero_traffic_ratio(stage)
