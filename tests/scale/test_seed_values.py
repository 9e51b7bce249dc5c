"""The 110 values of the seed document: who checks each, and the checks of sections 1h, 1j to 1l, 2 to 5."""

import json
import math
import statistics
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scale
from scale import (
    BF16,
    FORMATS,
    FP8_E4M3,
    FP8_E5M2,
    FP16,
    FP32,
    budget,
    checkpoint,
    memorization,
    memory,
    precision,
)
from scale.data_parallel import linear_regression_terms

SEED: dict[str, dict[str, Any]] = {
    value["id"]: value for value in json.loads((Path(__file__).parent / "seed_values.json").read_text(encoding="utf-8"))
}

SECTIONS_OF_STAGES = {"1a", "1b", "1c", "1d", "1e", "1f", "1g", "1i"}
IDS_OF_STAGES = [f"S{number:03}" for number in (*range(1, 6), *range(7, 32), 35)]
"""Language, quality rules, classifier, exact and near duplicates, the belt: checked in tests/stages."""

CLAIMED: list[str] = []

Test = Callable[..., None]


def claims(*ids: str) -> Callable[[Test], Test]:
    """Record that the decorated test checks these values."""
    CLAIMED.extend(ids)
    return lambda test: test


def check(name: str, value: Any, unit: float = 1.0) -> None:
    """Compare a value, divided by its unit, with the seed's figure at the seed's rounding."""
    digits, expected = SEED[name]["rounding"], SEED[name]["expected"]
    scaled = np.asarray(value, dtype=np.float64) / unit
    got = (scaled if digits is None else np.round(scaled, digits)).tolist()
    assert got == expected, f"{name} {SEED[name]['function']}"


def test_every_value_is_claimed_once() -> None:
    claimed = sorted([*CLAIMED, *IDS_OF_STAGES])
    assert claimed == [f"S{number:03}" for number in range(1, 111)] == sorted(SEED)


def test_values_left_to_the_stages_are_those_of_their_sections() -> None:
    assert [name for name in SEED if SEED[name]["section"] in SECTIONS_OF_STAGES] == IDS_OF_STAGES


@claims("S006", "S034", "S041", "S042", "S098")
def test_published_facts_stand_in_constants() -> None:
    fineweb = {"snapshots": budget.FINEWEB_SNAPSHOTS, "tokens": budget.FINEWEB_TOKENS}
    assert fineweb == SEED["S006"]["expected"]
    assert SEED["S034"]["expected"]["words"] == memorization.C4_REPEATED_SENTENCE_WORDS
    assert f">{memorization.C4_REPEATED_SENTENCE_COPIES:,} in C4" == SEED["S034"]["expected"]["repeats"]
    less_often = 1 / memorization.DEDUPLICATED_EMISSION_RATIO
    assert f"about {less_often:.0f}x less" == SEED["S034"]["expected"]["memorised emission"]
    llama_3 = {"family": budget.LLAMA_3_FAMILY_TOKENS, "405B": budget.LLAMA_3_405B_TOKENS}
    assert llama_3 == SEED["S041"]["expected"]
    assert budget.ENGLISH_WORDS_PER_TOKEN == 3 / 4 and "3/4" in SEED["S042"]["expected"]
    failures, days = checkpoint.LLAMA_3_405B_INTERRUPTIONS, checkpoint.LLAMA_3_405B_DAYS
    hours = round(scale.mean_hours_between_failures(failures, days), 2)
    assert {"interruptions": failures, "days": days, "mean hours between": hours} == SEED["S098"]["expected"]


@claims("S032", "S033")
def test_memorization() -> None:
    check("S032", scale.verbatim_probability(100))
    assert len(scale.OTHER_LINES) == 5 and scale.BOILERPLATE == "click here to subscribe for free updates"
    assert 0 < scale.verbatim_probability(1) < 0.02
    curve = [scale.verbatim_probability(copies) for copies in range(200)]
    assert all(low < high for low, high in pairwise(curve))


@claims("S036")
def test_mixture() -> None:
    weights = {"web": 0.80, "wiki": 0.05, "code": 0.15}
    epochs = scale.epochs_per_source(weights, {"web": 900e9, "wiki": 20e9, "code": 150e9}, 1000e9)
    assert {source: round(value, 2) for source, value in epochs.items()} == SEED["S036"]["expected"]


@claims("S037", "S038", "S039", "S040")
def test_budgets() -> None:
    check("S037", scale.chinchilla_tokens(7e9))
    check("S038", scale.training_flops(7e9, 140e9))
    check("S039", scale.gpu_hours(5.88e21, 400e12))
    check("S040", scale.tokens_per_parameter(budget.LLAMA_2_7B_TOKENS, 7e9))


@claims("S043", "S044", "S045")
def test_model_collapse() -> None:
    assert f"{scale.expected_variance_shrink(20, 200):.1e}" == SEED["S043"]["expected"]
    check("S044", scale.expected_spread_shrink(20, 200))
    runs = np.array([scale.recursive_gaussian_fit(20, 10, seed) for seed in range(3000)])
    assert runs.shape == (3000, 11) and (runs[:, 0] == 1.0).all()
    expected = [scale.expected_variance_shrink(20, generation) for generation in range(11)]
    assert np.mean(runs**2, axis=0) == pytest.approx(expected, rel=0.06)
    assert np.median(runs[:, -1] ** 2) < expected[-1]


@claims("S046", "S047", "S048", "S049", "S056")
def test_training_memory() -> None:
    check("S046", scale.training_memory(1).total_bytes)
    check("S047", scale.training_memory(7e9).total_bytes, memory.BYTES_PER_GB)
    items = scale.training_memory(7e9).items()
    assert {name: size / memory.BYTES_PER_GB for name, size in items.items()} == SEED["S048"]["expected"]
    check("S049", scale.inference_memory_bytes(7e9), memory.BYTES_PER_GB)
    assert memory.RECOMPUTE_EXTRA_COMPUTE == 1 / 3 and "a third more compute" in SEED["S056"]["expected"]


@claims("S050", "S051", "S052", "S053", "S054", "S055")
def test_activations() -> None:
    stored = scale.activation_bytes(32, 4096, 1, 4096, 32)
    no_scores = scale.activation_bytes(32, 4096, 1, 4096, 32, store_scores=False)
    checkpointed = scale.activation_bytes(32, 4096, 1, 4096, 32, checkpointed=True)
    for rounded, exact, size in (
        ("S050", "S051", stored),
        ("S052", "S053", no_scores),
        ("S054", "S055", checkpointed),
    ):
        check(rounded, size, memory.BYTES_PER_GB)
        check(exact, size)


@claims("S057", "S058", "S059", "S060")
def test_averaged_gradients() -> None:
    check("S057", scale.linear_regression_gradient([1, 2, 3, 4], [2, 4, 6, 8], 1.0))
    shards = [scale.linear_regression_gradient(x, [2 * v for v in x]) for x in ([1, 2], [3, 4])]
    check("S058", shards)
    check("S059", sum(shards) / 2)
    check("S060", linear_regression_terms([1, 2, 3, 4], [2, 4, 6, 8], 1.0))


@claims("S061", "S062", "S063", "S064", "S065")
def test_all_reduce() -> None:
    check("S061", scale.all_reduce_traffic(4, 1.0))
    check("S062", scale.all_reduce_traffic(8, 14e9), 1e9)
    check("S063", scale.all_reduce_traffic(1000, 14e9), 1e9)
    check("S065", scale.all_reduce_traffic(1, 14e9))
    ring = scale.ring_all_reduce([[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 300, 400], [0, 0, 0, 5]])
    assert [vector.tolist() for vector in ring.results] == [[111, 222, 333, 449]] * 4
    assert ring.steps == 6 and ring.reduce_scatter_sent_elements == ring.all_gather_sent_elements == [3] * 4
    assert ring.sent_elements == [6] * 4 == [scale.all_reduce_traffic(4, 4)] * 4


@claims("S066", "S067", "S068")
def test_zero() -> None:
    stages = [scale.zero_memory_per_gpu(7.5e9, 64, stage) for stage in range(4)]
    check("S066", stages, 1e9)
    check("S067", stages)
    assert [scale.zero_traffic_ratio(stage) for stage in range(4)] == [
        1.0,
        *np.repeat(SEED["S068"]["expected"], [2, 1]),
    ]


@claims("S069", "S070", "S071", "S072", "S073", "S074")
def test_tensor_parallelism() -> None:
    x, w = [1, 2], [[1, 2, 3, 4], [5, 6, 7, 8]]
    columns, rows = scale.column_parallel_matmul(x, w, 2), scale.row_parallel_matmul(x, w, 2)
    check("S069", scale.column_parallel_matmul(x, w, 1).output)
    check("S070", columns.parts)
    check("S071", columns.output)
    check("S072", rows.parts)
    check("S073", rows.output)
    w2 = [[1, -1], [2, 0], [-3, 1], [0, 5]]
    mlp = scale.tensor_parallel_mlp(x, np.array(w) - 13, w2, 2)
    assert mlp.all_reduce_count == 1
    assert mlp.output.tolist() == (np.maximum(np.array(x) @ (np.array(w) - 13), 0) @ np.array(w2)).tolist()


@claims("S075", "S076", "S077", "S078")
def test_pipeline_and_layout() -> None:
    check("S075", [scale.bubble_fraction(4, micro_batches) for micro_batches in (1, 8, 32)])
    for micro_batches in (1, 8, 32):
        grid = scale.pipeline_schedule(4, micro_batches)
        assert grid.shape == (4, 2 * (micro_batches + 3))
        assert np.mean(grid == 0) == pytest.approx(scale.bubble_fraction(4, micro_batches), rel=1e-12)
        assert (grid == 0).sum(axis=1).tolist() == [6] * 4
    layout = scale.Layout3D(tensor=8, pipeline=2, data=2)
    figure = f"{layout.data} replicas x {layout.pipeline} stages x {layout.tensor}-way tensor = {layout.gpus} GPUs"
    assert figure == SEED["S078"]["expected"]


@claims("S079", "S080", "S081", "S082", "S083", "S084", "S085", "S086", "S087")
def test_float_formats() -> None:
    check("S079", BF16.decode((125 << 7) + 43))
    check("S080", BF16.decode((127 << 7) + 43))
    check("S081", scale.quantize(1 / 3, BF16))
    check("S082", [BF16.eps, FP32.eps])
    assert FP16.min_subnormal == 2.0**-24 and f"{FP16.min_subnormal}" in SEED["S083"]["expected"]
    for fmt in FORMATS.values():
        half = fmt.min_subnormal / 2
        assert scale.quantize(math.nextafter(half, 0), fmt) == scale.quantize(half, fmt) == SEED["S084"]["expected"]
        assert scale.quantize(math.nextafter(half, 1), fmt) == fmt.min_subnormal
        above = scale.quantize(1.1 * fmt.max, fmt)
        assert math.isnan(above) if fmt is FP8_E4M3 else above == math.inf
        assert scale.quantize(1.1 * fmt.max, fmt, overflow="saturate") == fmt.max
    check("S086", [FP8_E4M3.max, FP8_E5M2.max])
    table = {
        name: {
            "e": fmt.exponent_bits,
            "m": fmt.fraction_bits,
            "bias": fmt.bias,
            "max": fmt.max,
            "min_normal": fmt.min_normal,
            "min_sub": fmt.min_subnormal,
        }
        for name, fmt in FORMATS.items()
    }
    assert table == SEED["S087"]["expected"]


@claims("S088", "S089", "S090", "S091", "S092")
def test_loss_scaling() -> None:
    check("S088", scale.quantize(1e-8, FP16))
    assert f"{scale.scaled_gradient_roundtrip(1e-8, 65536):.4e}" == SEED["S089"]["expected"]
    check("S090", scale.scaled_gradient_roundtrip(1e-8, 65536, FP16))
    scaler = scale.DynamicLossScaler()
    for overflow in (math.inf, math.nan):
        before = scaler.scale
        assert not scaler.update([0.0, overflow]) and scaler.scale == before * 0.5
    assert all(scaler.update([1.0]) for _ in range(1999)) and scaler.scale == 16384.0
    assert scaler.update([1.0]) and (scaler.scale, scaler.clean_steps) == (32768.0, 0)


@claims("S093", "S094", "S095", "S096", "S097")
def test_master_weights_and_fp8() -> None:
    check("S093", [scale.accumulate_updates(1.0, 1e-4, 1000, fmt) for fmt in (FP16, FP32)])
    check("S094", scale.accumulate_updates(1.0, 1e-4, 1000, BF16))
    check("S095", scale.accumulate_updates(1.0, 1e-4, 1000, FP32))
    check("S096", scale.quantize(1.0001, BF16))
    assert precision.FP8_RATE_OVER_16_BIT == 2 and "twice" in SEED["S097"]["expected"]
    assert precision.FP8_FORMAT_OF == {"weights": FP8_E4M3, "activations": FP8_E4M3, "gradients": FP8_E5M2}


@claims("S099", "S100", "S101", "S102", "S103", "S104", "S105")
def test_stability() -> None:
    losses = [3.0, 2.9, 2.8, 2.8, 2.7, 8.5, 4.0, 2.7]
    check("S099", scale.detect_spikes(losses, window=4, factor=2.0))
    check("S100", [statistics.median(losses[step - 4 : step]) for step in (5, 6)])
    shards = [[1.0, 2.0], [2.0, 4.0]]
    check("S101", scale.local_square_sums(shards))
    check("S102", scale.sharded_global_norm(shards))
    check("S103", scale.clip_by_global_norm(shards, 1.0).shards)
    clipped, free = scale.train_through_a_bad_batch(1.0), scale.train_through_a_bad_batch(None)
    assert scale.detect_spikes(clipped.losses) == [] and free.bad_step in scale.detect_spikes(free.losses)
    assert clipped.losses[-1] < 0.3 < 1000 < max(free.losses)
    ramp = [scale.warmup_cosine(step, 3e-4, 1000, 10_000) for step in range(1001)]
    assert ramp[0] == 0.0 and ramp[-1] == 3e-4 and np.diff(ramp) == pytest.approx(3e-7)


@claims("S106", "S107", "S108", "S109", "S110")
def test_checkpoint_interval() -> None:
    best = scale.optimal_checkpoint_interval(1.0, 180.0)
    check("S106", best)
    check("S107", scale.wasted_fraction(best, 1.0, 180.0))
    quick = scale.optimal_checkpoint_interval(1 / 6, 180.0)
    figures = [quick, scale.wasted_fraction(quick, 1 / 6, 180.0)]
    assert [round(value, digits) for value, digits in zip(figures, SEED["S108"]["rounding"])] == SEED["S108"][
        "expected"
    ]
    saving = 1.0 / 19.0
    check("S109", [saving, scale.wasted_fraction(19.0, 1.0, 180.0) - saving])
    assert f"{scale.wasted_fraction(19.0, 1.0, 180.0):.1%} total, the smallest possible" == SEED["S110"]["expected"]
    assert all(scale.wasted_fraction(t, 1, 180) > scale.wasted_fraction(best, 1, 180) for t in (best - 0.5, best + 0.5))
