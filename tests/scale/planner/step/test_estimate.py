"""Step time and memory of one layout: against measured runs, and the directions physics demands."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from scale.planner import Cluster, Layout, Refusal, Train, estimate_memory, estimate_step, find_gpu
from scale.planner.models.shape import model_from_shape
from tests.scale.shapes import gpt

BENCH = Path(__file__).parents[4] / "bench" / "scale_data"
H100, A100 = find_gpu("H100"), find_gpu("A100-SXM-80GB")
LLAMA8 = model_from_shape(
    {"name": "8B", "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "vocab": 128256}
)
LLAMA405 = model_from_shape(
    {"name": "405B", "layers": 126, "hidden": 16384, "heads": 128, "kv_heads": 8, "ffn": 53248, "vocab": 128256}
)
NODE = Cluster(H100, 8)


def test_the_measured_multi_node_runs_are_met_on_average() -> None:
    errors = []
    with (BENCH / "vtrain_multi_node.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            sequence = int(row["sequence length"])
            model = gpt(int(row["hidden size"]), int(row["# layers"]), int(row["attention heads"]), positions=sequence)
            layout = Layout(
                tp=int(row["tensor parallelism"]),
                pp=int(row["pipeline parallelism"]),
                dp=int(row["data parallelism"]),
                zero=0,
                micro_batch=int(row["micro batch"]),
                recompute="full",
                sequence_parallel=False,
            )
            step = estimate_step(
                model,
                Cluster(A100, int(row["# GPUs"]), network_gb_per_s=12.5),
                layout,
                Train(sequence, int(row["global batch"]), recipe="adam18", attention="unfused"),
            )
            errors.append(step.seconds / (float(row["iteration time (ms)"]) / 1e3) - 1)
    assert np.mean(np.abs(errors)) < 0.08


@pytest.mark.parametrize(
    ("hidden", "layers", "heads", "layout", "batch", "full", "selective"),
    [
        (6144, 48, 64, Layout(tp=8, micro_batch=4, zero=0), 4, 1.42, 1.10),
        (20480, 105, 128, Layout(tp=8, pp=35, interleave=3, zero=0), 280, 49.05, 37.83),
    ],
)
def test_korthikanti_iterations(
    hidden: int, layers: int, heads: int, layout: Layout, batch: int, full: float, selective: float
) -> None:
    model, cluster = gpt(hidden, layers, heads), Cluster(A100, layout.gpus)
    train = Train(2048, batch, recipe="adam18", attention="unfused")
    whole = estimate_step(model, cluster, replace(layout, recompute="full", sequence_parallel=False), train)
    part = estimate_step(model, cluster, replace(layout, recompute="selective"), train)
    assert whole.seconds == pytest.approx(full, rel=0.05)
    assert part.seconds == pytest.approx(selective, rel=0.05)


def test_causes_add_up_and_utilisation_follows() -> None:
    step = estimate_step(LLAMA8, NODE, Layout(tp=2, dp=4), Train(8192, 64))
    assert sum(step.causes.values()) == pytest.approx(step.seconds)
    assert step.tokens_per_second == pytest.approx(64 * 8192 / step.seconds)
    assert 0.2 < step.mfu_causal < step.mfu_full < 0.7
    assert step.hfu_full == step.mfu_full


@pytest.mark.parametrize(
    ("layout", "worse"),
    [
        (Layout(dp=8, micro_batch=2), Layout(dp=8, micro_batch=2, recompute="full")),
        (Layout(tp=2, dp=4), Layout(tp=8, dp=1)),
        (Layout(pp=4, dp=2, interleave=4), Layout(pp=4, dp=2)),
    ],
)
def test_what_costs_time(layout: Layout, worse: Layout) -> None:
    train = Train(8192, 64)
    assert estimate_step(LLAMA8, NODE, layout, train).seconds < estimate_step(LLAMA8, NODE, worse, train).seconds


def test_dense_layers_before_the_experts_lie_on_the_first_stage() -> None:
    shape = {"layers": 16, "hidden": 2048, "heads": 16, "ffn": 8192, "vocab": 32000, "experts": 8, "moe_ffn": 2048}
    train = Train(4096, 64)
    held = {}
    for first in (0, 2):
        model = model_from_shape({**shape, "dense_first": first})
        stages = estimate_memory(model, Cluster(H100, 32), Layout(pp=4, dp=8), train).stages
        held[first] = stages
        whole = estimate_memory(model, NODE, Layout(dp=8), train).stages["first"]
        middles = 2 * stages["middle"]["weights"]
        assert stages["first"]["weights"] + middles + stages["last"]["weights"] == pytest.approx(whole["weights"])
    for part in ("weights", "activations"):
        assert held[2]["middle"][part] == held[0]["middle"][part] and held[2]["last"][part] == held[0]["last"][part]
    dense, expert = 3 * 2048 * 8192, 8 * (3 * 2048 * 2048 + 2048)  # an MLP; experts and their router
    assert held[0]["first"]["weights"] - held[2]["first"]["weights"] == 2 * 2 * (expert - dense)


@pytest.mark.parametrize(("recipe", "per_parameter"), [("adam16", 4), ("dist-opt", 4), ("adam20", 6)])
def test_gradients_that_wait_for_the_last_micro_batch_are_fp32_and_what_the_recipe_keeps(
    recipe: str, per_parameter: int
) -> None:
    layout, train = Layout(pp=2, dp=4, zero=2), Train(4096, 64, recipe=recipe)
    stage = estimate_memory(LLAMA8, NODE, layout, train).stages["first"]
    assert stage["gradients"] == per_parameter / 2 * stage["weights"]


def test_zero_bubble_schedules_hold_a_pipelines_activations_on_every_stage() -> None:
    cluster, train = Cluster(H100, 64), Train(4096, 64)
    stages = {
        schedule: estimate_memory(LLAMA8, cluster, Layout(pp=8, dp=8, schedule=schedule), train).stages
        for schedule in ("1f1b", "zb1p", "zbv")
    }
    plain, delayed, folded = stages["1f1b"], stages["zb1p"], stages["zbv"]
    assert plain["last"]["activations"] * 8 == pytest.approx(plain["first"]["activations"])
    assert delayed["last"]["activations"] == delayed["first"]["activations"] == plain["first"]["activations"]
    assert folded["last"]["activations"] == plain["first"]["activations"]
    # ZBV lays the stages down and back up: embedding, head and logits lie on the first GPU.
    assert folded["first"]["logits"] == plain["last"]["logits"] > 0 == folded["last"]["logits"]
    head = 128256 * 4096
    assert folded["first"]["weights"] - plain["first"]["weights"] == 2 * (head + 4096)
    assert plain["last"]["weights"] - folded["last"]["weights"] == 2 * (head + 4096)


def test_full_recomputation_counts_in_hfu_only() -> None:
    step = estimate_step(LLAMA8, NODE, Layout(dp=8, recompute="full"), Train(8192, 64))
    assert step.hfu_full == pytest.approx(step.mfu_full * 4 / 3)


def test_a_slower_network_never_helps() -> None:
    layout, train = Layout(tp=8, pp=8, dp=4), Train(8192, 256)
    fast = estimate_step(LLAMA405, Cluster(H100, 256), layout, train).seconds
    slow = estimate_step(LLAMA405, Cluster(H100, 256, network_gb_per_s=5), layout, train).seconds
    assert slow > fast


def test_zero_bubble_schedules_only_shrink_the_bubble() -> None:
    train = Train(8192, 64)
    plain = estimate_step(LLAMA8, NODE, Layout(pp=4, dp=2), train).causes
    third = estimate_step(LLAMA8, NODE, Layout(pp=4, dp=2, schedule="zb1p"), train).causes
    assert third["pipeline_bubble"] == pytest.approx(plain["pipeline_bubble"] / 3)
    assert third["matmul"] == plain["matmul"]


def test_memory_of_torchtitan_within_fifteen_percent() -> None:
    models = {"8B": LLAMA8, "405B": LLAMA405}
    with (BENCH / "torchtitan_memory.csv").open(encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["model"] in models and not row["case"].startswith("H200")]
    for row in rows:
        pp = int(row["pp"])
        layout = Layout(
            tp=int(row["tp"]),
            cp=int(row["cp"]),
            pp=pp,
            dp=int(row["fsdp"]),
            zero=3,
            micro_batch=max(1, int(row["local_batch"]) // pp),
            recompute=row["ac"],
        )  # type: ignore[arg-type]
        memory = estimate_memory(
            models[row["model"]], Cluster(H100, layout.gpus), layout, Train(int(row["seq"]), int(row["global_batch"]))
        )
        assert memory.worst_bytes / 2**30 == pytest.approx(float(row["peak_mem_gib"]), rel=0.15), row["case"]


def test_stages_differ_and_the_fullest_is_named() -> None:
    memory = estimate_memory(LLAMA8, NODE, Layout(pp=4, dp=2, recompute="none"), Train(8192, 64))
    totals = {stage: sum(parts.values()) for stage, parts in memory.stages.items()}
    assert set(totals) == {"first", "middle", "last"}
    assert memory.worst == max(totals, key=lambda stage: totals[stage])
    assert memory.stages["first"]["activations"] > memory.stages["last"]["activations"]
    assert memory.stages["last"]["logits"] > 0 == memory.stages["first"]["logits"]


def test_experts_are_split_by_expert_parallelism_alone() -> None:
    moe = model_from_shape(
        {"layers": 4, "hidden": 512, "heads": 8, "vocab": 1000, "experts": 16, "top_k": 2, "moe_ffn": 512}
    )
    train = Train(1024, 64)
    one = estimate_memory(moe, NODE, Layout(dp=8), train).stages["first"]["weights"]
    eight = estimate_memory(moe, NODE, Layout(dp=8, ep=8), train).stages["first"]["weights"]
    experts = 4 * 16 * 3 * 512 * 512 * 2
    assert one - eight == pytest.approx(experts * 7 / 8)
    step = estimate_step(moe, NODE, Layout(dp=8, ep=8), train)
    assert step.causes["expert_parallel"] > 0


@pytest.mark.parametrize(
    ("layout", "train", "reason"),
    [
        (Layout(tp=2, dp=2), Train(1024, 64), "is 4 GPUs, the cluster has 8"),
        (Layout(dp=8), Train(1024, 12), "does not divide into dp 8"),
        (Layout(tp=8, dp=1), Train(1024, 64), None),
        (Layout(pp=8, dp=1, interleave=3), Train(1024, 64), "3 chunks"),
        (Layout(pp=8, dp=1, interleave=2), Train(1024, 60), "multiples of pp 8"),
        (Layout(cp=8), Train(1000, 64), "2 × cp 8"),
        (Layout(dp=8, ep=4), Train(1024, 64), "experts"),
    ],
)
def test_impossible_layouts_are_refused_with_the_numbers(layout: Layout, train: Train, reason: str | None) -> None:
    if reason is None:
        assert estimate_step(LLAMA8, NODE, layout, train).seconds > 0
        return
    with pytest.raises(Refusal, match=reason):
        estimate_step(LLAMA8, NODE, layout, train)


def test_fp8_needs_a_gpu_that_has_it() -> None:
    with pytest.raises(Refusal, match="no fp8"):
        estimate_step(LLAMA8, Cluster(A100, 8), Layout(dp=8), Train(1024, 8, precision="fp8"))
    fast, plain = (
        estimate_step(LLAMA8, NODE, Layout(dp=8), Train(1024, 8, precision=p)).seconds  # type: ignore[arg-type]
        for p in ("fp8", "bf16")
    )
    assert fast < plain


def test_a_gpu_that_was_never_fitted_has_a_wider_band() -> None:
    train = Train(8192, 64)
    known = estimate_step(LLAMA8, Cluster(H100, 8), Layout(dp=8, zero=3), train)
    other = estimate_step(LLAMA8, Cluster(find_gpu("B200"), 8), Layout(dp=8, zero=3), train)
    assert other.band > known.band and other.seconds < known.seconds


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("h100", "H100-SXM-80GB"),
        ("A100-SXM-40GB", "A100-SXM-40GB"),
        ("h100-80gb", "H100-SXM-80GB"),
        ("MI300X", "MI300X-192GB"),
    ],
)
def test_gpus_are_found_by_short_names(name: str, found: str) -> None:
    assert find_gpu(name).name == found


def test_an_unknown_gpu_is_refused() -> None:
    with pytest.raises(Refusal, match="hardware table"):
        find_gpu("Z9")
