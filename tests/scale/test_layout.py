"""Ranks of the 3D layout."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.layout import Layout3D

LAYOUTS = st.builds(
    Layout3D,
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 5),
    st.sampled_from(["tp-pp-dp", "tp-dp-pp"]),
)


def test_two_replicas_of_two_servers() -> None:
    layout = Layout3D(tensor=8, pipeline=2, data=2)
    servers = [list(range(first, first + 8)) for first in (0, 8, 16, 24)]
    assert layout.gpus == 32 and layout.tensor_groups() == servers
    assert layout.rank(replica=1, stage=0, tensor_rank=3) == 19
    assert layout.coordinates(19) == (1, 0, 3)
    assert layout.pipeline_groups()[0] == [0, 8] and layout.data_groups()[0] == [0, 16]
    assert layout.tensor_groups_share_a_server(8) and not layout.tensor_groups_share_a_server(6)


def test_the_other_order_puts_replicas_of_a_stage_side_by_side() -> None:
    layout = Layout3D(tensor=2, pipeline=3, data=4, order="tp-dp-pp")
    assert layout.data_groups()[0] == [0, 2, 4, 6] and layout.pipeline_groups()[0] == [0, 8, 16]
    assert layout.tensor_groups()[0] == [0, 1]


@given(LAYOUTS)
def test_ranks_and_coordinates_undo_each_other(layout: Layout3D) -> None:
    places = [layout.coordinates(rank) for rank in range(layout.gpus)]
    assert [layout.rank(*place) for place in places] == list(range(layout.gpus))
    assert len(set(places)) == layout.gpus


@given(LAYOUTS)
def test_groups_of_a_kind_hold_every_gpu_once(layout: Layout3D) -> None:
    for groups, size, fixed in (
        (layout.tensor_groups(), layout.tensor, (0, 1)),
        (layout.pipeline_groups(), layout.pipeline, (0, 2)),
        (layout.data_groups(), layout.data, (1, 2)),
    ):
        assert sorted(rank for group in groups for rank in group) == list(range(layout.gpus))
        for group in groups:
            assert len(group) == size
            assert len({tuple(layout.coordinates(rank)[axis] for axis in fixed) for rank in group}) == 1


def test_places_outside_the_layout_are_refused() -> None:
    for degrees in ((0, 1, 1), (1, 0, 1), (1, 1, -1), (2.0, 1, 1)):
        with pytest.raises(ValueError, match="must be"):
            Layout3D(*degrees)
    with pytest.raises(ValueError, match="order must be one of"):
        Layout3D(1, 1, 1, "pp-tp-dp")
    layout = Layout3D(2, 3, 4)
    for place in ((4, 0, 0), (0, 3, 0), (0, 0, 2), (-1, 0, 0)):
        with pytest.raises(ValueError, match="must be"):
            layout.rank(*place)
    for rank in (24, -1):
        with pytest.raises(ValueError, match="rank must be"):
            layout.coordinates(rank)
