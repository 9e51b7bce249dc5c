"""What a plan file may say: each odd value is refused by its place, none is quietly replaced."""

from pathlib import Path
from typing import Any

import pytest

from scale.planner import Refusal, find_gpu, model_from_config
from scale.planner.plans.plan import make_plan
from scale.planner.plans.plan_input import parse_plan, read_plan
from scale.units import read_number

MODEL = {"layers": 4, "hidden": 256, "heads": 4, "vocab": 32000}
MLA = {"kv_lora_rank": 64, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32}
TRAIN = {"tokens": "1M", "sequence": 1024, "global_batch": 8}
CLUSTER = {"gpu": "H100", "gpus": 8}


def config(**changes: Any) -> dict[str, Any]:
    return {"model": MODEL, "train": TRAIN, "cluster": CLUSTER, **changes}


@pytest.mark.parametrize("name", ["A1", "H2", "H100-PCIe-8", "A100-PCIE-400GB", "B", "MI300", "", "None"])
def test_part_of_a_word_or_another_board_is_no_name_of_a_gpu(name: str) -> None:
    with pytest.raises(Refusal, match="hardware table"):
        find_gpu(name)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("A100", "A100-SXM-80GB"),
        ("a100 40", "A100-SXM-40GB"),
        ("H100-SXM", "H100-SXM-80GB"),
        ("gb200", "GB200-186GB"),
        ("A10", "A10-24GB"),
        ("H20", "H20-SXM-96GB"),
        ("NVIDIA H100 80GB HBM3", "H100-SXM-80GB"),
        ("NVIDIA H100 PCIe", "H100-PCIe-80GB"),
        ("NVIDIA A100-SXM4-40GB", "A100-SXM-40GB"),
        ("NVIDIA GeForce RTX 4090", "RTX4090-24GB"),
        ("NVIDIA GH200 480GB", "GH200-96GB"),
        ("AMD Instinct MI300X", "MI300X-192GB"),
    ],
)
def test_whole_words_are_a_name(name: str, found: str) -> None:
    assert find_gpu(name).name == found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cluster": {**CLUSTER, "storage_gb_per_s": 0}}, "storage_gb_per_s is 0, and must be above 0"),
        ({"cluster": {**CLUSTER, "network_gb_per_s": 0}}, "network_gb_per_s is 0"),
        ({"cluster": {**CLUSTER, "failures_per_1000_node_days": 0, "restart_minutes": -5}}, "restart_minutes cannot"),
        ({"cluster": {**CLUSTER, "price_per_gpu_hour": -1}}, "price_per_gpu_hour cannot be negative"),
        ({"cluster": {**CLUSTER, "gpu": {"bf16_tflops": 0}}}, "bf16_tflops is 0.0, and must be above 0"),
        ({"cluster": {**CLUSTER, "gpu": {"memory_gb": -5}}}, "memory_gb is -5.0"),
        ({"cluster": {**CLUSTER, "gpu": {"matmul_fraction": 80}}}, "matmul_fraction is 80.0"),
        ({"cluster": {**CLUSTER, "gpu": {"watts": -1}}}, "watts cannot be negative"),
        ({"cluster": {**CLUSTER, "gpus": 10**400}}, "cluster.gpus: .* is not finite"),
        ({"limits": {"tp": 2.5}}, "limits.tp: 2.5 is no whole number"),
        ({"limits": {"zero": 2.9}}, "limits.zero: 2.9 is no whole number"),
        ({"target": {"days": 0}}, "target.days: 0.0 is not above zero"),
        ({"target": {"cost": -1}}, "target.cost: -1.0 is not above zero"),
        ({"checkpoint": {"interval_minutes": 0}}, "checkpoint.interval_minutes: 0.0 is not above zero"),
        ({"checkpoint": {"bytes_per_parameter": 0}}, "checkpoint.bytes_per_parameter: 0.0 is not above zero"),
        ({"checkpoint": {"repair_hours": -4}}, "checkpoint.repair_hours: cannot be negative"),
        ({"train": {**TRAIN, "dropout": "false"}}, "train.dropout is 'false', and must be true or false"),
        ({"train": {**TRAIN, "dropout": 0.1}}, "train.dropout is 0.1"),
        ({"model": {**MODEL, "tied": "no"}}, "model.tied is 'no'"),
        ({"model": {**MODEL, "gated": "false"}}, "model.gated is 'false'"),
        ({"model": {**MODEL, "heads": 3}}, "256 hidden elements do not divide into 3 heads; give head_dim"),
        ({"model": {**MODEL, "heads": 300}}, "do not divide into 300 heads"),
        ({"model": {**MODEL, "positions": 512}}, "1024 is beyond the 512 learned positions"),
        ({"model": {**MODEL, "mla": {**MLA, "v_head_dim": -3}}}, "model.mla.v_head_dim is -3"),
        ({"model": {**MODEL, "mla": {**MLA, "q_lora_rank": "x"}}}, "model.mla.q_lora_rank is 'x'"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        make_plan(parse_plan(config(**changes)))


def test_gpus_of_ones_own_may_be_free_and_without_fp8() -> None:
    cluster = {**CLUSTER, "gpu": {"fp8_tflops": None}, "price_per_gpu_hour": 0}
    plan = make_plan(parse_plan(config(cluster=cluster)), 1)
    assert plan["layouts"][0]["cost"]["value"] == 0
    assert not any("fp8" in lever["lever"] for lever in plan["levers"])


def test_latent_attention_needs_no_head_width_from_the_hidden_size() -> None:
    assert parse_plan(config(model={**MODEL, "heads": 3, "mla": {**MLA, "q_lora_rank": None}})).model.attention.mla


def test_a_config_whose_heads_do_not_divide_its_hidden_size_is_refused() -> None:
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 64, "vocab_size": 64}
    with pytest.raises(Refusal, match="no multiple of 3 heads"):
        model_from_config({"model_type": "llama", "hidden_size": 64, **sizes})


def test_chinchillas_tokens_follow_the_parameters_that_a_token_meets() -> None:
    inputs = parse_plan(config(model={**MODEL, "experts": 8, "top_k": 2}, train={**TRAIN, "tokens": "chinchilla"}))
    card = make_plan(inputs, 1)["model"]
    assert card["active_params"] < card["total_params"] and card["tokens_per_parameter"] == 20
    assert card["compute_optimal"][0]["tokens"] == pytest.approx(card["tokens"], rel=1e-5)


PLAIN = "model: {layers: 4, hidden: 256, heads: 4}\ncluster: {gpu: H100, gpus: 8}\n"


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ("{tokens: 1T, tokens: 2T}", "the key 'tokens' stands twice"),
        ("{tokens: 1:30}", "'1:30' is no number"),
        ("{tokens: 1T", "plan.yaml, line "),
    ],
)
def test_yaml_that_means_two_things_is_refused(tmp_path: Path, train: str, message: str) -> None:
    (tmp_path / "plan.yaml").write_text(f"{PLAIN}train: {train}\n")
    with pytest.raises(Refusal, match=message):
        read_plan(tmp_path / "plan.yaml")


@pytest.mark.parametrize(
    ("text", "value"), [("010", 10), ("2_000_000", 2e6), ("1.5e12", 1.5e12), ("3e9", 3e9), ("'15.6T'", 15.6e12)]
)
def test_numbers_in_yaml_are_decimal(tmp_path: Path, text: str, value: float) -> None:
    (tmp_path / "plan.yaml").write_text(f"{PLAIN}train: {{tokens: {text}, sequence: 1024, global_batch: 8}}\n")
    assert read_plan(tmp_path / "plan.yaml").train.tokens == value == read_number(value, "here")
