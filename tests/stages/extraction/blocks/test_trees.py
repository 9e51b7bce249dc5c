"""Trees answer for all blocks at once what each would answer alone."""

import numpy as np

from stages.extraction.blocks.trees import AT_ONCE, SCALE, Trees


def test_each_block_gets_the_values_of_its_leaves() -> None:
    random = np.random.default_rng(5)
    trees = Trees(
        0.25,
        random.integers(0, 7, (3, 11)),
        random.integers(0, 4, (3, 11)).astype(np.float32),
        random.integers(-9_999, 9_999, (11, 8)).astype(np.int16),
    )
    matrix = random.integers(0, 6, (7, 40)).astype(np.float32)
    expected = []
    for block in matrix.T:
        odds = trees.base
        for tree in range(11):
            leaf = sum(
                int(block[trees.features[level, tree]] > trees.limits[level, tree]) << level for level in range(3)
            )
            odds += int(trees.values[tree, leaf]) / SCALE
        expected.append(1 / (1 + np.exp(-odds)))
    assert np.allclose(trees.probability(matrix), expected, atol=1e-9)


def test_a_block_gets_the_same_answer_whatever_stands_beside_it() -> None:
    random = np.random.default_rng(6)
    trees = Trees(
        -0.5,
        random.integers(0, 4, (6, 50)),
        random.random((6, 50)).astype(np.float32),
        random.integers(-9_999, 9_999, (50, 64)).astype(np.int16),
    )
    matrix = random.random((4, AT_ONCE + 3)).astype(np.float32)
    alone = [trees.probability(matrix[:, [block]])[0] for block in (0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 2)]
    assert trees.probability(matrix)[[0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 2]].tolist() == alone
