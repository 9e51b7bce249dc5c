"""What published runs reach: days and money come from them, and tuned software stands beside."""

import math
from dataclasses import replace
from typing import Any

import pytest

from scale.planner import Cluster, Refusal, Train, find_gpu
from scale.planner.models.shape import model_from_shape
from scale.planner.plans.plan import make_plan
from scale.planner.plans.plan_input import parse_plan
from scale.planner.plans.published import BESIDE_STEP, fit, published_rows, published_runs, reached, shape_of
from scale.planner.plans.text import plan_text
from scale.planner.step.search import search

SEVEN = {"layers": 32, "hidden": 4096, "heads": 32, "ffn": 11008, "vocab": 32000}


def config(gpu: str = "A100", gpus: int = 1024, **train: Any) -> dict[str, Any]:
    return {
        "model": SEVEN,
        "train": {"tokens": "2T", "sequence": 4096, "global_batch": 1024, **train},
        "cluster": {"gpu": gpu, "gpus": gpus},
    }


def planned(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = make_plan(parse_plan(config(**changes)), 1)["layouts"][0]
    return made


def test_llama_2_took_what_the_range_says() -> None:
    assert planned()["gpu_hours"]["low"] < 184320 < planned()["gpu_hours"]["high"]


def test_tuned_software_is_faster_and_stands_beside() -> None:
    best = planned()
    assert best["tuned"]["gpu_hours"]["value"] * BESIDE_STEP <= best["gpu_hours"]["value"]
    assert best["cost"]["value"] == pytest.approx(best["gpu_hours"]["value"] * 1.8, rel=1e-4)


def test_no_layout_is_faster_than_the_fastest_measured_on_a_card() -> None:
    # 55.9 % is the most that any table has on 64 or more A100; the margin is the band of the constants.
    assert planned()["mfu_full_attention"] < 0.6


def test_a_card_of_no_run_has_a_wider_range_and_says_so() -> None:
    seen, unseen = planned(gpu="H100"), planned(gpu="MI300X")
    assert unseen["gpu_hours"]["band"] > seen["gpu_hours"]["band"]
    assert unseen["step_seconds"]["band"] > seen["step_seconds"]["band"]
    text = plan_text(make_plan(parse_plan(config(gpu="MI300X")), 1))
    assert "none of them on this card" in text


def test_a_published_run_is_never_faster_than_tuned_software() -> None:
    model, cluster = model_from_shape(SEVEN), Cluster(find_gpu("A100"), 64)
    known = reached(model, cluster, Train(4096, 64, 1e12), tuned_mfu=0.05)
    assert known.factor >= 1 and known.low < known.factor < known.high


def test_the_fit_finds_the_constants_that_made_the_runs() -> None:
    tuned, flops = [0.3, 0.4, 0.5, 0.6], [1e22, 1e24, 1e23, 1e25]
    mfu = [math.exp(-1 + 0.8 * math.log(t / 0.5) + 0.05 * math.log(f / 1e23)) for t, f in zip(tuned, flops)]
    assert fit(tuned, flops, mfu) == pytest.approx({"intercept": -1.0, "tuned": 0.8, "budget": 0.05})


def test_each_run_has_a_source_and_a_shape() -> None:
    for row, run in zip(published_rows(), published_runs(), strict=True):
        assert len(row["source"]) > 10 and model_from_shape(shape_of(row)).name == run.name
        assert 0.1 < run.mfu < 0.6


def test_less_is_lost_to_the_constants_of_runs_as_they_ran() -> None:
    model, cluster, train = model_from_shape(SEVEN), Cluster(find_gpu("A100"), 64), Train(4096, 64, 1e12)
    megatron, fsdp = (reached(model, cluster, train, 0.5, stack).factor for stack in ("megatron", "fsdp"))
    assert 1 <= fsdp < megatron


@pytest.mark.parametrize("software", ["megatron", "fsdp"])
def test_the_named_software_runs_every_layout(software: str) -> None:
    made = make_plan(parse_plan(config(software=software)), 3)
    assert {item["stack"] for item in made["layouts"]} == {software}


def test_fsdp_shards_and_has_no_pipeline() -> None:
    layout = planned(software="fsdp")["layout"]
    assert layout["zero"] >= 2 and layout["pp"] == 1


@pytest.mark.parametrize(("gpu", "known"), [("H100", "fitted"), ("A100", "carried"), ("MI300X", "none")])
def test_the_plan_says_what_its_constants_rest_on(gpu: str, known: str) -> None:
    made = make_plan(parse_plan(config(gpu=gpu, software="megatron")), 1)
    assert made["layouts"][0]["evidence"] == known
    assert "timed as megatron" in plan_text(made)


@pytest.mark.parametrize(("name", "kin"), [("torchtitan", "fsdp"), ("Megatron-LM", "megatron"), ("fsdp", "fsdp")])
def test_software_may_stand_beside_the_sections_and_has_kin(name: str, kin: str) -> None:
    assert parse_plan({**config(), "software": name}).train.software == kin
    with pytest.raises(Refusal, match="stands twice"):
        parse_plan({**config(software=kin), "software": name})


def test_other_software_is_refused_with_the_list() -> None:
    with pytest.raises(Refusal, match="known: megatron, fsdp"):
        parse_plan(config(software="horovod"))


def test_layouts_with_evidence_come_before_those_without() -> None:
    model, train = model_from_shape(SEVEN), Train(4096, 1024)
    card = replace(find_gpu("A100"), die="no such die")
    known, unknown = (search(model, Cluster(gpu, 64), train) for gpu in (find_gpu("A100"), card))
    assert known.layouts == unknown.layouts
    # On a card that nothing was measured on no stack has evidence, so speed alone ranks.
    assert unknown.seconds[unknown.order[0]] == pytest.approx(min(unknown.seconds[unknown.fits]), rel=0.5)
