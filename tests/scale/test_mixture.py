"""Epochs per source."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scale.mixture import epochs_per_source


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=8), st.floats(1e3, 1e14))
def test_epochs_times_available_tokens_add_to_the_total(sizes: list[float], total: float) -> None:
    weights = {f"source{i}": size / math.fsum(sizes) for i, size in enumerate(sizes)}
    available = {source: 1e6 * (i + 1) for i, source in enumerate(weights)}
    epochs = epochs_per_source(weights, available, total)
    assert list(epochs) == list(weights)
    assert math.fsum(epochs[source] * available[source] for source in weights) == pytest.approx(total)


def test_published_weights_that_add_to_101_percent_are_taken() -> None:
    weights = {"common_crawl": 0.60, "webtext2": 0.22, "books1": 0.08, "books2": 0.08, "wikipedia": 0.03}
    available = {"common_crawl": 410e9, "webtext2": 19e9, "books1": 12e9, "books2": 55e9, "wikipedia": 3e9}
    epochs = epochs_per_source(weights, available, 300e9)
    rounded = {source: round(value, 2) for source, value in epochs.items()}
    # The paper prints 0.44, 2.9, 1.9, 0.43 and 3.4: its weights are whole percents, and add to 101.
    assert rounded == {
        "common_crawl": 0.44,
        "webtext2": 3.47,
        "books1": 2.0,
        "books2": 0.44,
        "wikipedia": 3.0,
    }


def test_an_unused_source_needs_no_tokens() -> None:
    assert epochs_per_source({"web": 1.0, "books": 0.0}, {"web": 10.0, "books": 0.0}, 20.0) == {
        "web": 2,
        "books": 0,
    }


@pytest.mark.parametrize(
    "weights, available, total, sentence",
    [
        ({}, {}, 1.0, "at least one source"),
        ({"web": 1.0}, {"web": 1.0, "code": 1.0}, 1.0, "one lacks code"),
        ({"web": 0.5, "code": 0.4}, {"web": 1.0, "code": 1.0}, 1.0, "add to 1, not 0.9"),
        ({"web": 1.5, "code": -0.5}, {"web": 1.0, "code": 1.0}, 1.0, "weight of code must not be negative"),
        ({"web": math.nan}, {"web": 1.0}, 1.0, "weight of web must be finite"),
        ({"web": 1.0}, {"web": 0.0}, 1.0, "available tokens of web must be above zero"),
        ({"web": 1.0}, {"web": 1.0}, 0.0, "total_tokens must be above zero"),
    ],
)
def test_impossible_mixtures_are_refused(
    weights: dict[str, float], available: dict[str, float], total: float, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        epochs_per_source(weights, available, total)
