"""The search: complete, consistent with a single estimate, ranked, and refusing what cannot be."""

import numpy as np
import pytest

from scale.planner import Cluster, Refusal, Train, estimate_memory, estimate_step, find_gpu
from scale.planner.models.shape import model_from_shape
from scale.planner.step.search import Limits, search
from scale.planner.step.workload import chunks_divide, reasons_against

SMALL = model_from_shape({"layers": 16, "hidden": 2048, "heads": 16, "kv_heads": 4, "vocab": 32000})
MOE = model_from_shape(
    {"layers": 16, "hidden": 2048, "heads": 16, "vocab": 32000, "experts": 8, "top_k": 2, "moe_ffn": 1408}
)
TWO_NODES = Cluster(find_gpu("H100"), 16)


@pytest.mark.parametrize("recipe", ["dist-opt", "adam16", "adam20"])
@pytest.mark.parametrize("model", [SMALL, MOE], ids=["dense", "experts"])
def test_every_layout_found_is_possible_and_timed_as_on_its_own(model: object, recipe: str) -> None:
    train = Train(8192, 64, recipe=recipe)
    found = search(model, TWO_NODES, train, Limits(schedules=("1f1b", "zb1p", "zbv")))  # type: ignore[arg-type]
    for index in range(0, len(found.seconds), 37):
        layout = found.layout(index)
        assert reasons_against(model, TWO_NODES, layout, train) == []  # type: ignore[arg-type]
        assert estimate_step(model, TWO_NODES, layout, train).seconds == pytest.approx(found.seconds[index])  # type: ignore[arg-type]
        memory = estimate_memory(model, TWO_NODES, layout, train)  # type: ignore[arg-type]
        assert memory.worst_bytes == pytest.approx(found.bytes_per_gpu[index])
        assert memory.worst == found.stage_name(index)


def test_the_ranking_is_by_time_among_those_that_fit() -> None:
    found = search(SMALL, TWO_NODES, Train(4096, 64))
    times = found.seconds[found.order]
    assert found.fits[found.order].all() and not np.any(np.diff(times) < -1e-8)
    assert len(found.order) == int(found.fits.sum())
    again = search(SMALL, TWO_NODES, Train(4096, 64))
    assert np.array_equal(found.order, again.order)


def test_each_dimension_is_searched() -> None:
    found = search(MOE, TWO_NODES, Train(16384, 64), Limits(zero=(0, 1, 2, 3)))
    columns = list(zip(*found.layouts))
    for place in range(9):
        assert len(set(columns[place])) > 1, f"column {place} never varies"


def test_limits_hold() -> None:
    found = search(SMALL, TWO_NODES, Train(4096, 64), Limits(tp=(4,), pp=(2,), recompute=("full",), zero=(1,)))
    assert {(row[0], row[2], row[5], row[8]) for row in found.layouts} == {(4, 2, 1, 2)}


def test_tensor_parallelism_stays_within_a_node_unless_listed() -> None:
    assert max(row[0] for row in search(SMALL, TWO_NODES, Train(4096, 64)).layouts) == 8
    assert {row[0] for row in search(SMALL, TWO_NODES, Train(4096, 64), Limits(tp=(16,))).layouts} == {16}


def test_no_layout_at_all_is_refused() -> None:
    with pytest.raises(Refusal, match="no layout divides 16 GPUs"):
        search(SMALL, TWO_NODES, Train(4096, 7), Limits(tp=(1,), pp=(1,), cp=(1,)))


def test_a_hundred_thousand_layouts_are_one_evaluation() -> None:
    cluster = Cluster(find_gpu("H100"), 61440)
    model = model_from_shape({"layers": 126, "hidden": 16384, "heads": 128, "kv_heads": 8, "vocab": 128256})
    limits = Limits(schedules=("1f1b", "zb1p", "zbv"), micro_batch=tuple(range(1, 17)), cp=(1, 2, 4, 8, 16, 32))
    found = search(model, cluster, Train(131072, 983040), limits)
    assert len(found.seconds) > 100_000
    assert np.isfinite(found.seconds).all() and (found.seconds > 0).all()


def test_layers_may_leave_room_for_embedding_and_head() -> None:
    assert chunks_divide(126, 16, 8) and chunks_divide(128, 16, 8) and chunks_divide(127, 16, 8)
    assert not chunks_divide(125, 16, 8)
