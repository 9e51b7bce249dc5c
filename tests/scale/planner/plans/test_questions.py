"""Memory verdicts, how many GPUs, offload, recipes of one's own, adapters, and what would make a plan fit."""

from dataclasses import replace
from typing import Any

import pytest

from scale.memory import RECIPES, StateRecipe
from scale.planner import Cluster, Layout, Refusal, Train, estimate_memory, estimate_step, find_gpu
from scale.planner.models.flops import adapter_parameters, trained_share
from scale.planner.models.shape import model_from_shape
from scale.planner.plans.plan import make_plan
from scale.planner.plans.plan_input import PlanInput, parse_plan
from scale.planner.plans.questions import fewest, fleet, largest_micro_batch
from tests.scale.shapes import gpt

EIGHT = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256}
SEVENTY = {"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672, "vocab": 128256}


def asked(model: dict[str, Any], gpus: int = 8, limits: dict[str, Any] | None = None, **train: Any) -> PlanInput:
    settings = {"tokens": "1T", "sequence": 4096, "global_batch": 1024, **train}
    config = {"model": model, "train": settings, "cluster": {"gpu": "H100", "gpus": gpus}, "limits": limits or {}}
    return parse_plan(config)


@pytest.mark.parametrize("loss", ["eager", "fused"])
def test_a_run_that_ran_is_not_refused(loss: Any) -> None:
    # mpt-13b of llm-foundry's benchmark: 8 GPUs of 80 GB, ZeRO-3, micro-batch 3, sequence 16,384, full recomputation.
    layout = Layout(dp=8, zero=3, micro_batch=3, recompute="full")
    train = Train(16384, 24, recipe="adam16", loss=loss)
    cluster = Cluster(find_gpu("A100"), 8)
    memory = estimate_memory(gpt(5120, 40, 40, 50368, 16384), cluster, layout, train)
    assert memory.verdict in ("fits", "may fit") and memory.fits


def test_verdicts_follow_from_the_band() -> None:
    cluster, train = Cluster(find_gpu("H100"), 8), Train(4096, 8)
    model = model_from_shape(EIGHT)
    layout = Layout(dp=8, zero=3, recompute="full")
    memory = estimate_memory(model, cluster, layout, train)
    edges = {
        "fits": memory.worst_bytes * (1 + memory.band),
        "may fit": memory.least,
        "does not fit": memory.least * 0.999,
    }
    assert {replace(memory, limit=limit).verdict: name for name, limit in edges.items()} == {n: n for n in edges}


def test_offload_frees_the_optimiser_and_costs_time() -> None:
    model, cluster, layout = model_from_shape(EIGHT), Cluster(find_gpu("H100"), 8), Layout(dp=8, zero=3)
    kept, moved = Train(4096, 64), Train(4096, 64, offload="optimizer")
    memory = estimate_memory(model, cluster, layout, moved)
    assert memory.stages["first"]["master"] == memory.stages["first"]["moments"] == 0
    assert estimate_memory(model, cluster, layout, kept).stages["first"]["master"] > 0
    slow, fast = (estimate_step(model, cluster, layout, train).causes["optimizer"] for train in (moved, kept))
    assert slow > 10 * fast
    # 4 bytes over the link and 28 through host memory of 1/8 of the parameters, at 25 GB/s.
    assert slow == pytest.approx(8030261248 / 8 * 32 / 25e9, rel=0.01)


def test_recipes_hold_what_their_optimiser_holds() -> None:
    assert {name: RECIPES[name].total for name in ("adam8bit", "muon", "sgd", "sgd-momentum")} == {
        "adam8bit": 10,
        "muon": 14,
        "sgd": 8,
        "sgd-momentum": 12,
    }


def test_bytes_of_ones_own_are_those_of_the_plan() -> None:
    own = {"weights": 2, "gradients": 2, "master": 4, "momentum": 4, "variance": 4}
    mine, named = asked(EIGHT, recipe=own), asked(EIGHT, recipe="adam16")
    assert isinstance(mine.train.recipe, StateRecipe)
    first, second = (make_plan(inputs, 1)["layouts"][0]["memory"]["worst_gib"] for inputs in (mine, named))
    assert first == second


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ({"recipe": {"weights": 2, "momemtum": 4}}, "train.recipe.momemtum: unknown key"),
        ({"recipe": {"weights": -2}}, "cannot be negative"),
        ({"recipe": "adamw"}, "recipe 'adamw' is unknown"),
        ({"offload": "all"}, "known: none, optimizer"),
        ({"lora_rank": 0}, "train.lora_rank: 0 is not a positive whole number"),
    ],
)
def test_what_no_optimiser_is_is_refused(train: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        asked(EIGHT, **train)


def test_adapters_are_counted_by_hand() -> None:
    model = model_from_shape({"layers": 2, "hidden": 8, "heads": 2, "ffn": 16, "vocab": 10})
    # q, k, v, o: 4 of 8 in and 8 out; gate, up, down: 3 of 8 + 16.
    assert adapter_parameters(model, 3) == 3 * 2 * (4 * 16 + 3 * 24)
    assert trained_share(model, 0) == 1 and trained_share(model, 3) > 0


def test_adapters_need_no_gradients_of_the_weights() -> None:
    model, cluster, layout = model_from_shape(EIGHT), Cluster(find_gpu("H100"), 1, 1), Layout(zero=0)
    full, adapters = Train(4096, 8, recipe="adam16"), Train(4096, 8, recipe="adam16", lora_rank=16)
    held = estimate_memory(model, cluster, layout, adapters).stages["first"]
    assert held["gradients"] + held["master"] + held["moments"] < 0.1 * held["weights"]
    slow, fast = (estimate_step(model, cluster, layout, train).causes["matmul"] for train in (full, adapters))
    assert fast == pytest.approx(slow * 2 / 3, rel=0.02)


def test_the_fewest_gpus_fit_and_fewer_do_not() -> None:
    inputs = asked(SEVENTY)
    found = fewest(inputs)
    assert found is not None and found.gpus > 8
    assert fleet(inputs, found.gpus) is not None and fleet(inputs, found.gpus // 2) is None


def test_the_fewest_for_a_deadline_are_in_time() -> None:
    inputs = asked(EIGHT)
    found = fewest(inputs, days=30)
    assert found is not None and found.days <= 30
    half = fleet(inputs, found.gpus // 2)
    assert half is None or half.days > 30


def test_the_largest_micro_batch_fits_and_the_next_does_not() -> None:
    model, cluster = model_from_shape(EIGHT), Cluster(find_gpu("A100"), 8)
    layout, train = Layout(dp=8, zero=3, recompute="full"), Train(8192, 8, loss="fused")
    most = largest_micro_batch(model, cluster, layout, train)
    verdicts = [
        estimate_memory(model, cluster, replace(layout, micro_batch=b), replace(train, global_batch=8 * b)).verdict
        for b in (most["fits"], most["fits"] + 1, most["may_fit"], most["may_fit"] + 1)
    ]
    assert verdicts == ["fits", "may fit", "may fit", "does not fit"]


def test_none_fits_says_what_would_and_not_what_is_on() -> None:
    with pytest.raises(Refusal) as refused:
        make_plan(asked(SEVENTY, loss="fused"))
    assert "16 of these GPUs" in str(refused.value) and "train.offload: optimizer" in str(refused.value)
    assert "loss" not in str(refused.value) and "recompute: full" not in str(refused.value)


def test_a_way_out_fits() -> None:
    assert make_plan(asked(SEVENTY, offload="optimizer"), 1)["layouts"]


def test_a_batch_that_divides_into_no_replicas_is_told() -> None:
    warnings = make_plan(asked(EIGHT, gpus=64, global_batch=1021), 1)["warnings"]
    assert any("1,021 sequences divides into at most 1 replicas" in text and "1,024" in text for text in warnings)
    assert not any("replicas" in text for text in make_plan(asked(EIGHT, gpus=64), 1)["warnings"])


def test_search_and_check_agree_on_context_parallelism() -> None:
    # 1,000,000 divides by 2·16 but not by 2·64: the check wants two chunks a rank.
    inputs = asked(EIGHT, gpus=64, sequence=1_000_000, global_batch=8)
    best = make_plan(inputs, 3)
    assert all(1_000_000 % (2 * item["layout"]["cp"]) == 0 for item in best["layouts"])


def test_dualpipe_holds_two_stages_and_waits_less() -> None:
    model, cluster = model_from_shape(SEVENTY), Cluster(find_gpu("H100"), 64)
    train = Train(4096, 256)
    plain = Layout(tp=8, pp=8, dp=1, zero=1)
    both = replace(plain, schedule="dualpipe")
    assert both.bubble_share == pytest.approx(6 / 21)  # (p - 2)/3(p - 1), p = 8
    weights = [estimate_memory(model, cluster, layout, train).stages["middle"]["weights"] for layout in (plain, both)]
    assert weights[1] == 2 * weights[0]
    bubbles = [estimate_step(model, cluster, layout, train).causes["pipeline_bubble"] for layout in (plain, both)]
    assert bubbles[1] == pytest.approx(bubbles[0] * 6 / 21)


def test_four_bits_need_a_card_that_has_them() -> None:
    with pytest.raises(Refusal, match="has no fp4"):
        make_plan(asked(EIGHT, precision="fp4"))
    config = {"model": EIGHT, "train": {"tokens": "1T", "sequence": 4096, "global_batch": 256}}
    seconds = {}
    for precision in ("bf16", "fp8", "fp4"):
        config["train"]["precision"] = precision
        made = make_plan(parse_plan({**config, "cluster": {"gpu": "B200", "gpus": 8}}), 1)
        seconds[precision] = made["layouts"][0]["step_seconds"]["value"]
    assert seconds["fp4"] < seconds["fp8"] < seconds["bf16"]


def test_a_card_given_by_numbers_tells_what_it_borrows() -> None:
    config = {"model": EIGHT, "train": {"tokens": "1T", "sequence": 4096, "global_batch": 64}}
    config["cluster"] = {"gpu": {"like": "H100", "memory_gb": 96, "bf16_tflops": 800}, "gpus": 8}
    inputs = parse_plan(config)
    assert inputs.cluster.gpu.die == ""  # other matrix units: nothing was measured on them
    warnings = make_plan(inputs, 1)["warnings"]
    warning = next(text for text in warnings if "borrowed" in text)
    assert "memory_gb_per_s" in warning and "watts" in warning and "bf16_tflops" not in warning
