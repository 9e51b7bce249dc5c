"""The whole plan: what it holds, how it follows from its inputs, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest

from scale import optimal_checkpoint_interval, wasted_fraction
from scale.planner import Cluster, Refusal, find_gpu
from scale.planner.plans.data import Source, plan_data, read_run, sources_of_run
from scale.planner.plans.explain import explanations
from scale.planner.plans.failures import plan_checkpoints
from scale.planner.plans.plan import make_plan, plan_with_run
from scale.planner.plans.plan_input import parse_plan, read_plan
from scale.planner.plans.text import plan_text
from scale.units import read_number

PLANS = sorted((Path(__file__).parents[4] / "configs" / "plans").glob("*.yaml"))
MODEL = {"layers": 16, "hidden": 2048, "heads": 16, "kv_heads": 4, "ffn": 8192, "vocab": 32000}


def config(**changes: Any) -> dict[str, Any]:
    base = {
        "model": MODEL,
        "train": {"tokens": "20B", "sequence": 4096, "global_batch": 64},
        "cluster": {"gpu": "H100", "gpus": 16},
    }
    return {**base, **changes}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_shipped_plans_read_well(path: Path) -> None:
    plan = make_plan(read_plan(path))
    text = plan_text(plan)
    for word in (
        "MODEL",
        "LAYOUTS",
        "STEP TIME",
        "MEMORY",
        "WHY NOT",
        "RUN",
        "CHECKPOINTS",
        "LARGEST LEVERS",
        "full attention",
        "GiB",
        "GB",
        "±",
    ):
        assert word in text
    assert plan["layouts"][0]["memory"]["margin_gib"] > 0
    json.dumps(plan, allow_nan=False)


def test_there_are_the_four_plans_of_the_documentation() -> None:
    assert [path.stem for path in PLANS] == ["deepseek-v3", "llama-2-7b", "llama-3-405b", "one-billion"]


def test_published_gpu_hours_are_met() -> None:
    hours = {path.stem: make_plan(read_plan(path), 1)["layouts"][0]["gpu_hours"] for path in PLANS}
    assert hours["deepseek-v3"]["low"] < 2.664e6 < hours["deepseek-v3"]["high"]  # arXiv 2412.19437 table 1
    assert hours["llama-3-405b"]["low"] < 30.84e6 < hours["llama-3-405b"]["high"]  # Meta's model card


def test_numbers_follow_from_each_other() -> None:
    plan = make_plan(parse_plan(config()))
    best, c = plan["layouts"][0], plan["checkpoint"]
    tuned, factor = best["tuned"], best["published"]["factor"]
    days = tuned["days_without_failures"]["value"]
    assert days == pytest.approx(20e9 / best["tokens_per_second"] / 86400, rel=1e-4)
    assert tuned["days_with_failures"]["value"] == pytest.approx(days / (1 - c["waste"]), rel=1e-4)
    assert best["days"] == best["days_with_failures"]
    assert best["days"]["value"] == pytest.approx(tuned["days_with_failures"]["value"] * factor, rel=1e-4)
    assert best["gpu_hours"]["value"] == pytest.approx(best["days_with_failures"]["value"] * 24 * 16, rel=1e-4)
    assert best["cost"]["value"] == pytest.approx(best["gpu_hours"]["value"] * 2.5, rel=1e-4)
    assert sum(best["causes_seconds"].values()) == pytest.approx(best["step_seconds"]["value"], rel=1e-4)
    assert best["step_seconds"]["low"] < best["step_seconds"]["value"] < best["step_seconds"]["high"]
    assert plan["schema"] == "scale-plan/1"


def test_the_plan_is_the_same_twice() -> None:
    assert json.dumps(make_plan(parse_plan(config()))) == json.dumps(make_plan(parse_plan(config())))


def test_every_printed_cause_and_part_is_explained() -> None:
    plan = make_plan(parse_plan(config(data={"sources": {"web": {"tokens": "30B", "weight": 1}}})))
    lines = explanations(plan)
    for cause, seconds in plan["layouts"][0]["causes_seconds"].items():
        assert (f"step: {cause.replace('_', ' ')}" in lines) == (seconds > 0)
    for name in (
        "parameters",
        "MFU",
        "HFU",
        "days with failures",
        "cost",
        "waste",
        "interval",
        "epochs",
        "memory: activations",
    ):
        assert lines[name]


def test_chinchilla_tokens_and_batch_in_tokens() -> None:
    inputs = parse_plan(config(train={"sequence": 2048, "global_batch_tokens": "1M"}))
    assert inputs.train.tokens == 20 * make_plan(inputs, 1)["model"]["total_params"]
    assert inputs.train.global_batch == 488


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"modle": {}}, "modle: unknown section"),
        ({"train": {"sequense": 4}}, "train.sequense: unknown key"),
        ({"train": {"global_batch": 4, "global_batch_tokens": 4096}}, "not both"),
        ({"train": {"tokens": "many"}}, "many"),
        ({"train": {"tokens": float("inf")}}, "not finite"),
        ({"train": {"tokens": float("inf")}}, "not finite"),
        ({"train": {"precision": "fp4"}}, "fp4"),
        ({"train": {"recipe": "adam3"}}, "adam3"),
        ({"train": {"sequence": 0}}, "train.sequence"),
        ({"cluster": {"gpus": 8}}, "needs gpu"),
        ({"cluster": {"gpu": "H100", "gpus": 12}}, "nodes of 8"),
        ({"cluster": {"gpu": {"like": "H100", "wings": 2}, "gpus": 8}}, "wings"),
        ({"model": "nowhere.json"}, "nowhere.json"),
        ({"limits": {"tp": "x"}}, "limits.tp"),
        ({"limits": {"tp": 0}}, "limits.tp: 0 is not possible"),
        ({"limits": {"zero": 4}}, "limits.zero: 4"),
        ({"limits": {"schedules": []}}, "limits.schedules: is empty"),
        ({"train": {"recipe": ["adam16"]}}, "recipe"),
        ({"cluster": {"gpu": "H100", "gpus": 16, "restart_minutes": "1B"}}, "makes no progress"),
        ({"model": {**MODEL, "layers": 100_000}}, "beyond 10000"),
        ({"data": {"sources": {"web": {"weight": 2, "tokens": 5}}}}, "fraction of 1"),
        ({"data": {"sources": {"web": {"weight": 1, "tokens": 0}}}}, "holds no tokens"),
        ({"model": {**MODEL, "layers": 400, "hidden": 16384}}, "none of .* layouts fits"),
    ],
)
def test_impossible_plans_are_refused_by_their_place(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        make_plan(parse_plan(config(**changes)))


@pytest.mark.parametrize(
    ("text", "value"), [("15e12", 15e12), ("15T", 15e12), ("1.5 B", 1.5e9), (7, 7.0), ("1_000", 1000.0)]
)
def test_numbers_may_be_written_as_people_write_them(text: Any, value: float) -> None:
    assert read_number(text, "here") == value


def test_a_changed_gpu_takes_the_rest_from_the_one_it_is_like() -> None:
    cluster = parse_plan(
        config(cluster={"gpu": {"like": "H100", "name": "H100-96", "memory_gb": 96}, "gpus": 8})
    ).cluster
    assert cluster.gpu.memory_gb == 96 and cluster.gpu.bf16_tflops == 989


def test_a_target_that_is_missed_says_what_would_meet_it() -> None:
    plan = make_plan(parse_plan(config(target={"days": 0.1, "cost": 1})))
    assert any("target 0.1 days" in line and "GPUs" in line for line in plan["warnings"])
    assert any("target cost" in line for line in plan["warnings"])


def test_rejected_layouts_say_why() -> None:
    plan = make_plan(read_plan(next(path for path in PLANS if path.stem == "llama-3-405b")))
    reasons = {item["alternative"]: item["reason"] for item in plan["rejected"]}
    assert "slower" in reasons["no interleaving"] and "bubble" in reasons["no interleaving"]
    assert all(reasons.values())


def test_the_pipeline_grid_has_the_bubble_of_its_schedule() -> None:
    plan = make_plan(read_plan(next(path for path in PLANS if path.stem == "llama-3-405b")))
    pipeline = plan["pipeline"]
    idle = sum(cell == 0 for row in pipeline["grid"] for cell in row)
    assert idle == pipeline["grid_stages"] * 2 * (pipeline["grid_stages"] - 1)
    m, p = pipeline["micro_batches"], pipeline["stages"]
    assert pipeline["bubble_fraction_by_schedule"]["1F1B"] == pytest.approx((p - 1) / (m + p - 1), rel=1e-4)
    assert "PIPELINE" in plan_text(plan)
    assert make_plan(parse_plan(config(limits={"pp": 1})))["pipeline"] is None


def test_a_pipeline_drawn_smaller_than_it_is_says_so() -> None:
    plan = make_plan(read_plan(next(path for path in PLANS if path.stem == "llama-3-405b")))
    m, p = plan["pipeline"]["micro_batches"], plan["pipeline"]["stages"]
    assert f"drawn with 8 stages and 8 micro-batches; the layout has {p} and {m};" in plan_text(plan)
    whole = plan_text(make_plan(parse_plan(config(limits={"pp": 2, "dp": 8, "micro_batch": 1, "interleave": 1}))))
    assert "PIPELINE under 1F1B (2 stages and 8 micro-batches;" in whole


def test_levers_are_sorted_by_what_they_save() -> None:
    changes = [lever["change"] for lever in make_plan(parse_plan(config()))["levers"]]
    assert changes and changes == sorted(changes) and all(change < 0 for change in changes)


def test_checkpoints_use_youngs_interval_and_its_waste() -> None:
    cluster = Cluster(
        find_gpu("H100"), 16384, storage_gb_per_s=100, failures_per_1000_node_days=3.79, restart_minutes=10
    )
    made = plan_checkpoints(405e9, cluster, replicas=128)
    assert made.mean_minutes_between_failures == pytest.approx(3.09 * 60, rel=0.01)  # Llama 3: 419 in 54 days
    assert made.bytes == 405e9 * 14 and made.write_minutes == pytest.approx(405e9 * 14 / 100e9 / 60)
    young = optimal_checkpoint_interval(made.write_minutes, made.mean_minutes_between_failures)
    assert made.young_minutes == young
    assert made.waste == pytest.approx(
        wasted_fraction(young, made.write_minutes, made.mean_minutes_between_failures, 10)
    )
    assert made.drop_replica_waste < made.waste


def test_without_failures_nothing_is_wasted() -> None:
    plan = make_plan(parse_plan(config(cluster={"gpu": "H100", "gpus": 16, "failures_per_1000_node_days": 0})))
    assert plan["checkpoint"]["waste"] == 0 and plan["checkpoint"]["mean_minutes_between_failures"] is None
    assert "no failures expected" in plan_text(plan)
    assert explanations(plan)["MFU"]


def test_epochs_of_gpt3() -> None:
    sources = {
        n: Source(n, t * 1e9, w / 101)
        for n, t, w in (
            ("cc", 410, 60),
            ("webtext2", 19, 22),
            ("books1", 12, 8),
            ("books2", 55, 8),
            ("wikipedia", 3, 3),
        )
    }
    data = plan_data(sources, 300e9)
    assert data.epochs["cc"] == pytest.approx(0.44, abs=0.01)
    assert data.epochs["webtext2"] == pytest.approx(3.44, abs=0.05)
    assert data.warnings == ()


def test_repeats_and_unknown_tokens_are_warned_of() -> None:
    data = plan_data(
        {"web": Source("web", 1e9, 0.5), "code": Source("code", 1e8, 0.4), "forum": Source("forum", None, 0.2)}, 5e9
    )
    assert data.epochs["forum"] is None
    text = " ".join(data.warnings)
    assert "add to 1.1" in text and "forum: its tokens are unknown" in text and "code: 18.2 epochs" in text
    assert "nearly worthless" in text


def manifest(folder: Path, content: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_curation_run_gives_tokens_and_documents(tmp_path: Path) -> None:
    out = manifest(
        tmp_path / "out",
        {
            "tokens_by_source": {"crawl": 8_000_000_000, "wiki": 500_000_000},
            "documents_by_source": {"crawl": 9_000_000, "wiki": 300_000},
        },
    )
    tokens, documents = read_run(out)
    plan = plan_with_run(parse_plan(config()), tokens, documents)
    crawl = plan["data"]["sources"]["crawl"]
    assert crawl["epochs"] == pytest.approx(20 / 8.5, rel=1e-4) and crawl["documents"] == 9_000_000
    assert plan["data"]["chinchilla_parameters"] == pytest.approx(8.5e9 / 20, rel=1e-4)
    assert sources_of_run(tokens, {"wiki": 1.0})["crawl"].weight == 0
    with pytest.raises(Refusal, match="'books'"):
        sources_of_run(tokens, {"books": 1.0})


@pytest.mark.parametrize(
    "content", [{}, [], {"tokens_by_source": {}}, {"tokens_by_source": {"web": -1}}, {"tokens_by_source": {"web": 1.5}}]
)
def test_a_manifest_without_tokens_is_refused(tmp_path: Path, content: Any) -> None:
    with pytest.raises(Refusal, match="tokens_by_source"):
        read_run(manifest(tmp_path / "out", content))


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="cannot be read"):
        read_run(tmp_path)
