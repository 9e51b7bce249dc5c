"""What is published in closed form must come out to the printed digit."""

import csv
from pathlib import Path

import pytest

from scale.budget import BESIROGLU, HOFFMANN, advise, disagreement
from scale.planner import (
    Architecture,
    Attention,
    Cluster,
    Layout,
    Train,
    count_parameters,
    estimate_memory,
    find_gpu,
    model_from_config,
)
from scale.planner.models.flops import (
    attention_context,
    megatron_parameters,
    palm_mfu,
    token_flops,
    training_days,
    training_days_exact,
    utilisation,
)
from scale.planner.step.arrays import Grid, Shape
from scale.planner.step.memory import activation_bytes_per_layer, logits_bytes
from tests.scale.shapes import gpt

BENCH = Path(__file__).parents[4] / "bench" / "scale_data"


def table(name: str) -> list[dict[str, str]]:
    with (BENCH / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("row", table("megatron_sc21_table1.csv"), ids=lambda row: row["params_b"])
def test_sc21_parameters(row: dict[str, str]) -> None:
    hidden, layers = int(row["hidden"]), int(row["layers"])
    assert round(megatron_parameters(layers, hidden, 51200, 2048) / 1e9, 1) == float(row["params_b"])
    exact = count_parameters(gpt(hidden, layers, int(row["heads"]))).total
    assert exact - megatron_parameters(layers, hidden, 51200, 2048) == pytest.approx(2 * hidden, abs=2)


def test_sc21_days() -> None:
    assert round(training_days(300e9, 175e9, 1024, 140)) == 34  # section 5.1: GPT-3 on 1,024 GPUs
    assert round(training_days(450e9, 1e12, 3072, 163)) in (83, 84)  # the trillion-parameter model
    shapes = {"174.6": (96, 12288), "529.6": (105, 20480)}
    for row in table("megatron_sc21_table2_days.csv"):
        days = training_days_exact(
            300e9, *shapes[row["params_b"]], 51200, 2048, int(row["gpus"]), float(row["tflops_per_gpu"])
        )
        assert days == pytest.approx(float(row["days_for_300B_tokens"]), abs=1)


def test_palm_mfu() -> None:
    assert 100 * palm_mfu(238.3e3, 540.35e9, 118, 48, 256, 2048, 6144, 275) == pytest.approx(46.2, abs=0.3)


SIZES = {"22B": (6144, 48, 64), "175B": (12288, 96, 96), "530B": (20480, 105, 128), "1T": (25600, 128, 160)}


@pytest.mark.parametrize("row", table("korthikanti_fig7_activation_pct.csv"), ids=lambda row: row["model"])
def test_korthikanti_activation_shares(row: dict[str, str]) -> None:
    train = Train(2048, 1, attention="unfused")
    shape = Shape.of(gpt(*SIZES[row["model"]]), train)

    def size(layout: Layout) -> float:
        return float(activation_bytes_per_layer(shape, Grid.of(layout, train)))

    base = size(Layout(tp=8, recompute="none", sequence_parallel=False))
    for column, layout in {
        "seqpar_pct": Layout(tp=8, recompute="none"),
        "selective_pct": Layout(tp=8, recompute="selective", sequence_parallel=False),
        "seqpar_selective_pct": Layout(tp=8, recompute="selective"),
        "full_pct": Layout(tp=8, recompute="full", sequence_parallel=False),
    }.items():
        assert 100 * size(layout) / base == pytest.approx(float(row[column]), abs=0.2)


def test_activations_without_parallelism_are_34_sbh_and_5_ass() -> None:
    train = Train(1024, 1, attention="unfused")
    bytes_ = float(
        activation_bytes_per_layer(Shape.of(gpt(512, 2, 8), train), Grid.of(Layout(recompute="none"), train))
    )
    assert bytes_ == 34 * 1024 * 512 + 5 * 8 * 1024**2


def test_logits_scale_with_the_vocabulary_and_tensor_parallelism() -> None:
    train = Train(8192, 2)
    shape = Shape.of(gpt(512, 2, 8, vocab=128256), train)
    one, four = (float(logits_bytes(shape, Grid.of(Layout(tp=t, micro_batch=2), train))) for t in (1, 4))
    assert one == pytest.approx(4 * four)
    assert one / (2 * 8192 * 128256) > 2


def test_foundry_mfu_is_6n_and_full_attention() -> None:
    row = next(
        r for r in table("llmfoundry_bench.csv") if r["model"] == "1b" and r["gpus"] == "8" and r["seqlen_t"] == "2048"
    )
    sequence = int(row["seqlen_t"])
    model = gpt(2048, 24, 16, 50368, sequence)
    assert count_parameters(model).total == int(row["numparams"])
    per_token = 6 * count_parameters(model).total + 12 * 24 * 2048 * sequence
    peak = 989 if row["gpu"].startswith("h100") else 312
    assert 100 * utilisation(float(row["throughput_t_s"]), per_token, int(row["gpus"]), peak) == pytest.approx(
        float(row["mfu"]), rel=0.003
    )


def test_flops_of_a_token_by_hand() -> None:
    model = gpt(64, 3, 4, vocab=100, positions=0)
    matmul = 3 * 12 * 64**2 + 100 * 64
    flops = token_flops(model, 32)
    assert flops.full_attention == 6 * matmul + 3 * 4 * 3 * 64 * 32
    assert flops.causal_attention == 6 * matmul + 3 * 4 * 3 * 64 * 16


@pytest.mark.parametrize(("window", "sequence"), [(64, 256), (64, 100), (256, 256), (512, 256)])
def test_the_causal_mean_in_a_window_is_that_of_its_queries(window: int, sequence: int) -> None:
    model = Architecture("one", 2, 64, 100, Attention(4, 4, 16, window=window, windowed_layers=1), 256)
    seen = [min(i + 0.5, window) for i in range(sequence)]  # a query sees itself by half, as s/2 counts it
    whole = sequence / 2
    mean = (sum(seen) / sequence + whole) / 2
    assert attention_context(model, sequence, causal=True) == pytest.approx(mean, rel=1e-9)
    assert attention_context(model, sequence, causal=False) == (min(window, sequence) + sequence) / 2


def test_windows_shorten_attention() -> None:
    gemma = {
        "model_type": "gemma2",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": 16,
        "vocab_size": 100,
        "sliding_window": 8,
    }
    windowed = token_flops(model_from_config(gemma), 64).full_attention
    full = token_flops(model_from_config({**gemma, "sliding_window": None}), 64).full_attention
    assert full - windowed == 3 * 4 * 4 * 16 * 2 * (64 - 8)


@pytest.mark.parametrize(
    ("recipe", "zero", "bytes_per_parameter"),
    [
        ("adam16", 0, 16),
        ("adam18", 0, 18),
        ("adam20", 0, 20),
        ("dist-opt", 1, 6 + 12 / 4),
        ("adam16", 1, 4 + 12 / 4),
        ("adam16", 2, 2 + 14 / 4),
        ("adam16", 3, 16 / 4),
    ],
)
def test_state_bytes_by_recipe_and_zero(recipe: str, zero: int, bytes_per_parameter: float) -> None:
    model = gpt(512, 4, 8)
    memory = estimate_memory(
        model, Cluster(find_gpu("h100"), 4, gpus_per_node=4), Layout(dp=4, zero=zero), Train(64, 4, recipe=recipe)
    )
    state = sum(memory.stages["first"][part] for part in ("weights", "gradients", "master", "moments"))
    assert state / count_parameters(model).total == pytest.approx(bytes_per_parameter)


def test_laws_agree_with_their_own_optimum() -> None:
    for law in (HOFFMANN, BESIROGLU):
        size, tokens = law.optimum(1e22)
        assert 6 * size * tokens == pytest.approx(1e22)
        best = law.loss(size, tokens)
        assert best < law.loss(size * 1.2, tokens / 1.2) and best < law.loss(size / 1.2, tokens * 1.2)


def test_the_rule_of_twenty_comes_first_and_the_disagreement_is_stated() -> None:
    rules = advise(5.76e23)
    assert rules[0].ratio == pytest.approx(20)
    assert rules[0].parameters == pytest.approx(69.3e9, rel=0.01)
    assert disagreement(rules) == pytest.approx(max(r.parameters for r in rules) / min(r.parameters for r in rules))
    assert disagreement(rules) > 1
