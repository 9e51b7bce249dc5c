"""Clusters: any order of pairs makes the same forest, and the forest is that of a plain search."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.decide.clusters import join, roots

NODES = 40


def plain_roots(pairs: list[tuple[int, int]], count: int) -> list[int]:
    """The smallest node that each node is connected with, by search."""
    near: dict[int, set[int]] = {node: set() for node in range(count)}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    root = [-1] * count
    for start in range(count):
        stack = [start] if root[start] < 0 else []
        while stack:
            node = stack.pop()
            if root[node] < 0:
                root[node] = start
                stack.extend(near[node])
    return root


def grown(pairs: list[tuple[int, int]], count: int, batch: int, dtype: type = np.uint32) -> list[int]:
    forest = np.arange(count, dtype=dtype)
    for begin in range(0, len(pairs), batch):
        some = np.array(pairs[begin : begin + batch], np.int64).reshape(-1, 2)
        join(forest, some[:, 0], some[:, 1])
        assert (forest <= np.arange(count)).all()
    return roots(forest, np.arange(count)).tolist()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=60),
    st.integers(1, 60),
    st.randoms(use_true_random=False),
)
def test_any_order_and_batch_of_pairs_makes_the_same_clusters(
    pairs: list[tuple[int, int]], batch: int, rng: random.Random
) -> None:
    expected = plain_roots(pairs, NODES)
    assert grown(pairs, NODES, batch) == expected
    turned = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
    rng.shuffle(turned)
    assert grown(turned, NODES, batch, np.int64) == expected


def test_long_chains_in_any_order() -> None:
    count = 5000
    chain = [(node, node + 1) for node in range(count - 1)]
    for seed in range(3):
        random.Random(seed).shuffle(chain)
        for batch in (7, 1000, count):
            assert grown(chain, count, batch) == [0] * count


def test_nodes_without_pairs_are_their_own_roots() -> None:
    assert grown([], 5, 1) == [0, 1, 2, 3, 4]
