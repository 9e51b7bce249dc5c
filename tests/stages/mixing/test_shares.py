"""Shares: temperatures, phases that add up, cluster sizes as copies."""

import numpy as np
import pytest

from stages.mixing.pool import REHYDRATION, copies_of
from stages.mixing.shares import Phase, tempered, wanted


def test_a_temperature_lies_between_sizes_and_equal_parts() -> None:
    tokens = np.array([900, 100, 0])
    assert tempered(tokens, 1.0).tolist() == [0.9, 0.1, 0.0]
    assert tempered(tokens, 0.0).tolist() == [0.5, 0.5, 0.0]
    assert tempered(tokens, 0.5).tolist() == pytest.approx([0.75, 0.25, 0.0])  # 30 to 10
    assert tempered(np.array([0]), 0.3).tolist() == [0.0]


def test_what_is_wanted_adds_up_over_phases() -> None:
    phases = [Phase(share=0.9, weights={"web": 1.0}), Phase(share=0.1, weights={"web": 0.2, "wiki": 0.8})]
    found = wanted(phases, ["web", "wiki"], np.array([50, 50, 0]), 1000, 0.0)
    assert found.tolist() == [[900, 0, 0], [920, 80, 0]]


@pytest.mark.parametrize(
    ("table", "copies"),
    [("fineweb2", [1, 2, 3, 3, 5, 5, 8, 8, 1, 1]), ("txt360", [1, 3, 3, 3, 5, 5, 5, 8, 8, 10])],
)
def test_copies_of_cluster_sizes_are_those_of_the_cards(table: str, copies: list[int]) -> None:
    sizes = np.array([1, 2, 3, 4, 5, 99, 100, 999, 1000, 5000])
    assert copies_of(sizes, REHYDRATION[table]).tolist() == copies


def test_a_phase_has_one_way_to_share() -> None:
    for how in ({}, {"weights": {"a": 1.0}, "alpha": 0.5}):
        with pytest.raises(ValueError, match="either"):
            Phase(share=1.0, **how)  # type: ignore[arg-type]
