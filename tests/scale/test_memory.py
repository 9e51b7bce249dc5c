"""Training state and activations, against the printed tables of their papers."""

import math

import pytest

from scale.memory import (
    RECIPES,
    activation_bytes,
    inference_memory_bytes,
    training_memory,
    zero_memory_per_gpu,
)


@pytest.mark.parametrize(
    "recipe, bytes_per_parameter", [("adam16", 16), ("adam18", 18), ("adam20", 20), ("dist-opt", 18)]
)
def test_recipes(recipe: str, bytes_per_parameter: int) -> None:
    memory = training_memory(1e9, recipe)
    assert memory.total_bytes == bytes_per_parameter * 1e9 == sum(memory.items().values())
    assert RECIPES[recipe].total == bytes_per_parameter


def test_playbook_table_of_16_and_20_bytes() -> None:
    for params_b, small_gb, large_gb in ((1, 16, 20), (7, 112, 140), (70, 1120, 1400), (405, 6480, 8100)):
        assert training_memory(params_b * 1e9).total_bytes == small_gb * 1e9
        assert training_memory(params_b * 1e9, "adam20").total_bytes == large_gb * 1e9


def test_only_the_distributed_optimizer_shrinks_with_replicas() -> None:
    for replicas in (1, 2, 64):
        assert training_memory(1e9, "dist-opt", replicas).total_bytes == (6 + 12 / replicas) * 1e9
        assert training_memory(1e9, "adam18", replicas).total_bytes == 18e9


ZERO_TABLE = [
    (7.5, 4, 52.5, 41.25, 30.0),
    (7.5, 1024, 30.087890625, 15.1025390625, 0.1171875),
    (128.0, 16, 608.0, 368.0, 128.0),
    (128.0, 1024, 513.5, 257.75, 2.0),
    (1000.0, 64, 4187.5, 2218.75, 250.0),
    (1000.0, 1024, 4011.71875, 2013.671875, 15.625),
]


@pytest.mark.parametrize("params_b, gpus, first_gb, second_gb, third_gb", ZERO_TABLE)
def test_zero_paper_table_1(params_b: float, gpus: int, first_gb: float, second_gb: float, third_gb: float) -> None:
    stages = [zero_memory_per_gpu(params_b * 1e9, gpus, stage) / 1e9 for stage in range(4)]
    assert stages == [16 * params_b, first_gb, second_gb, third_gb]


def test_zero_shards_the_gradients_of_every_recipe() -> None:
    assert [zero_memory_per_gpu(1e9, 4, stage, "adam20") / 1e9 for stage in range(4)] == [20, 11, 6.5, 5]
    assert all(zero_memory_per_gpu(3e9, 1, stage) == 48e9 for stage in range(4))


MODELS = {  # layers, hidden, heads, tensor parallel 8, sequence 2048 (Korthikanti et al. 2022, Table 3)
    "22B": (48, 6144, 64, (100, 66.84, 49.42, 16.18, 7.64)),
    "175B": (96, 12288, 96, (100, 62.04, 56.53, 18.49, 8.71)),
    "530B": (105, 20480, 128, (100, 58.31, 62.04, 20.27, 9.42)),
    "1T": (128, 25600, 160, (100, 58.31, 62.04, 20.27, 9.42)),
}


@pytest.mark.parametrize("model", MODELS)
def test_korthikanti_figure_7(model: str) -> None:
    layers, hidden, heads, percentages = MODELS[model]
    sizes = [
        activation_bytes(layers, 2048, 1, hidden, heads, tensor_parallel=8, **options)
        for options in (
            {},
            {"sequence_parallel": True},
            {"store_scores": False},
            {"sequence_parallel": True, "store_scores": False},
            {"checkpointed": True},
        )
    ]
    assert [100 * size / sizes[0] for size in sizes] == pytest.approx(percentages, abs=0.2)


def test_activations_grow_with_tokens_and_not_with_depth_when_checkpointed() -> None:
    assert activation_bytes(2, 64, 3, 16, 4) == 2 * (34 * 64 * 3 * 16 + 5 * 4 * 64 * 64 * 3)
    assert activation_bytes(4, 64, 3, 16, 4, checkpointed=True) == 2 * 64 * 3 * 16 * 4
    assert activation_bytes(1, 64, 1, 16, 4, checkpointed=True, tensor_parallel=4, sequence_parallel=True) == 512


def test_bad_sizes_are_refused() -> None:
    for bad in (0.0, -1.0, math.nan, math.inf):
        for call in (training_memory, inference_memory_bytes):
            with pytest.raises(ValueError, match="params must be"):
                call(bad)
        with pytest.raises(ValueError, match="params must be"):
            zero_memory_per_gpu(bad, 1, 0)
    for position in range(5):
        sizes = [1] * 5
        sizes[position] = 0
        with pytest.raises(ValueError, match="must be at least 1, not 0"):
            activation_bytes(*sizes)
    with pytest.raises(ValueError, match="tensor_parallel 3 must divide both heads 4 and hidden 16"):
        activation_bytes(1, 64, 1, 16, 4, tensor_parallel=3)
    with pytest.raises(ValueError, match="recipe must be one of adam16"):
        training_memory(1e9, "adam")
    with pytest.raises(ValueError, match="stage must be 0, 1, 2 or 3, not 4"):
        zero_memory_per_gpu(1e9, 8, 4)
    with pytest.raises(ValueError, match="gpus must be at least 1"):
        zero_memory_per_gpu(1e9, 0, 1)
