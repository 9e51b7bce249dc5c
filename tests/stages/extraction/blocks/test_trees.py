"""Trees answer for all blocks at once what each would answer alone."""

import numpy as np

from stages.extraction.blocks.trees import Trees


def test_each_block_gets_the_values_of_its_leaves() -> None:
    random = np.random.default_rng(5)
    trees = Trees(
        0.25,
        random.integers(0, 7, (3, 11)),
        random.integers(0, 4, (3, 11)).astype(np.float32),
        random.normal(size=(11, 8)).astype(np.float32),
    )
    matrix = random.integers(0, 6, (7, 40)).astype(np.float32)
    expected = []
    for block in matrix.T:
        odds = trees.base
        for tree in range(11):
            leaf = sum(
                int(block[trees.features[level, tree]] > trees.limits[level, tree]) << level for level in range(3)
            )
            odds += float(trees.values[tree, leaf])
        expected.append(1 / (1 + np.exp(-odds)))
    assert np.allclose(trees.probability(matrix), expected, atol=1e-6)
