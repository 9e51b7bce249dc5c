"""mixture: exact prefixes, whole passes, shortfalls; held to a plain sort."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from curate.decide.verdicts import VerdictTable
from curate.errors import UserError
from scale.mixture import epochs_per_source
from stages.mixture import Mixture
from tests.decided import decided, documents


def run(
    work: Path,
    stage: Mixture,
    groups: list[str],
    tokens: list[int],
    texts: list[str] | None = None,
    **how: Any,
) -> VerdictTable:
    docs = documents(texts or [f"text {n}" for n in range(len(groups))], kind=groups, token_count=tokens)
    return decided(work, [("mixture", stage)], docs, **how)


def plain_copies(stage: Mixture, groups: list[str], tokens: list[int], texts: list[str]) -> list[int]:
    """Copies of each document, by sorting each group and walking along it."""
    hashes = [
        int(stage.sketch(doc).record["hash"][0])  # type: ignore[index]
        for doc in documents(texts, kind=groups, token_count=tokens)
    ]
    copies = [0] * len(groups)
    for group, weight in stage.weights.items():
        members = sorted((hashes[n], n) for n in range(len(groups)) if groups[n] == group)
        held = sum(tokens[n] for _, n in members)
        wanted = round(weight * stage.tokens)
        passes, room = divmod(wanted, held) if held else (1, 0)
        if stage.repeat == "never" and passes:
            passes, room = 1, 0
        walking = room > 0 or passes == 0
        for _, n in members:
            room -= tokens[n]
            walking = walking and room >= 0
            copies[n] = passes + walking
    return copies


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50), st.integers(0, 6)), min_size=1, max_size=40),
    st.integers(1, 4000),
    st.sampled_from(["copies", "never"]),
    st.sampled_from([1, 7]),
)
def test_copies_are_those_of_a_plain_sort(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, int, int]],
    budget: int,
    repeat: Any,
    task: int,
) -> None:
    groups, tokens = [row[0] for row in rows], [row[1] for row in rows]
    texts = [f"text {row[2]}" for row in rows]  # many equal hashes
    stage = Mixture(by="kind", weights={"a": 0.5, "b": 0.3, "c": 0.2}, tokens=budget, repeat=repeat)
    table = run(tmp_path_factory.mktemp("mix"), stage, groups, tokens, texts, task=task)
    rows_ = table.slice(0, len(groups))
    got = np.where(rows_.stage > 0, 0, rows_.columns["copies"]).tolist()
    assert got == plain_copies(stage, groups, tokens, texts)


def test_the_seed_values(tmp_path: Path) -> None:
    """Section 1j: a thousand tokens where the seed has 10^12."""
    weights = {"web": 0.80, "wiki": 0.05, "code": 0.15}
    held = {"web": 900, "wiki": 20, "code": 150}
    assert {k: round(v, 2) for k, v in epochs_per_source(weights, held, 1000).items()} == {
        "web": 0.89,
        "wiki": 2.5,
        "code": 1.0,
    }
    groups = [name for name, count in held.items() for _ in range(count)]
    table = run(tmp_path, Mixture(by="kind", weights=weights, tokens=1000), groups, [1] * len(groups))
    rows = table.slice(0, len(groups))
    copies = np.where(rows.stage > 0, 0, rows.columns["copies"])
    of = {name: copies[[g == name for g in groups]] for name in held}
    assert [int(of[name].sum()) for name in held] == [800, 50, 150]
    assert sorted(set(of["wiki"].tolist())) == [2, 3] and set(of["code"].tolist()) == {1}
    assert table.notes["mixture"]["wiki.epochs_thousandths"] == 2500
    assert table.notes["mixture"]["groups_over_4_epochs"] == 0
    assert {table.reasons[0][reason] for reason in rows.reason[rows.stage > 0]} == {"over_budget"}


def test_a_group_that_is_too_small_is_a_shortfall_where_it_may_not_repeat(tmp_path: Path) -> None:
    stage = Mixture(by="kind", weights={"a": 0.5, "b": 0.5}, tokens=1000, repeat="never")
    notes = run(tmp_path, stage, ["a"] * 100 + ["b"] * 600, [1] * 700).notes["mixture"]
    assert (notes["a.taken_tokens"], notes["a.shortfall_tokens"]) == (100, 400)
    assert (notes["b.taken_tokens"], notes["b.shortfall_tokens"]) == (500, 0)


def test_an_empty_group_is_a_shortfall(tmp_path: Path) -> None:
    stage = Mixture(by="kind", weights={"a": 0.5, "b": 0.5}, tokens=10)
    notes = run(tmp_path, stage, ["a"] * 10, [1] * 10).notes["mixture"]
    assert (notes["b.documents"], notes["b.shortfall_tokens"]) == (0, 5)


def test_more_than_four_epochs_are_counted(tmp_path: Path) -> None:
    stage = Mixture(by="kind", weights={"a": 1.0}, tokens=41)
    table = run(tmp_path, stage, ["a"] * 10, [1] * 10)
    assert table.notes["mixture"]["groups_over_4_epochs"] == 1
    assert sorted(table.slice(0, 10).columns["copies"].tolist()) == [4] * 9 + [5]


@pytest.mark.parametrize("repeat", ["copies", "rows"])
def test_a_budget_of_absurdly_many_epochs_is_refused_and_no_number_wraps(tmp_path: Path, repeat: Any) -> None:
    stage = Mixture(weights={"a": 1.0}, tokens=1e15, by="kind", repeat=repeat)
    with pytest.raises(UserError, match="more than 100000 epochs; lower `tokens`"):
        run(tmp_path, stage, ["a", "a"], [10, 20])


def test_a_budget_beyond_64_bits_is_refused() -> None:
    with pytest.raises(ValidationError, match="tokens"):
        TypeAdapter(Mixture).validate_json('{"weights": {"a": 1}, "tokens": 1e30}', strict=True)


@pytest.mark.parametrize("tokens", [-1, 1 << 62])
def test_a_count_that_is_none_is_refused_with_its_place(tmp_path: Path, tokens: int) -> None:
    with pytest.raises(UserError, match=f"{tokens} is no token_count"):
        run(tmp_path, Mixture(weights={"a": 1.0}, tokens=10, by="kind"), ["a"], [tokens])


def test_a_group_without_a_weight_is_an_error_dropped_or_weighed(tmp_path: Path) -> None:
    groups, ones = ["a", "b", "c", "a"], [1] * 4
    stage = Mixture(by="kind", weights={"a": 1.0}, tokens=10)
    with pytest.raises(UserError, match="no weight for the kind 'b'"):
        run(tmp_path / "named", stage, groups, ones, attributes=lambda name: iter([groups[:1], groups[1:]]))
    with pytest.raises(UserError, match="no weight for a kind"):
        run(tmp_path / "unnamed", stage, groups, ones)
    stage = Mixture(by="kind", weights={"a": 1.0}, tokens=2, other="drop")
    table = run(tmp_path / "drop", stage, groups, ones)
    assert table.slice(0, 4).stage.tolist() == [0, 1, 1, 0]
    assert [table.reasons[0][r] for r in table.slice(1, 3).reason] == ["other_group"] * 2
    stage = Mixture(by="kind", weights={"a": 0.5}, tokens=4, other=0.5)
    table = run(tmp_path / "weight", stage, groups, ones)
    assert table.slice(0, 4).stage.tolist() == [0, 0, 0, 0]
    assert table.notes["mixture"]["other.taken_tokens"] == 2


def test_a_missing_attribute_is_the_group_null(tmp_path: Path) -> None:
    groups: list[Any] = ["a", None, "a", None]
    table = run(tmp_path / "given", Mixture(by="kind", weights={"a": 0.5, "null": 0.5}, tokens=2), groups, [1] * 4)
    assert table.notes["mixture"]["null.taken_tokens"] == 1
    stage = Mixture(by="kind", weights={"a": 1.0}, tokens=2)
    with pytest.raises(UserError, match="the kind 'null'"):
        column = pa.chunked_array([groups])
        run(tmp_path / "error", stage, groups, [1] * 4, attributes=lambda name: iter([column]))


def test_by_source_reads_the_address(tmp_path: Path) -> None:
    docs = documents(["x"] * 3, source="web", token_count=[1] * 3) + documents(
        ["y"] * 3, source="wiki", token_count=[1] * 3
    )
    table = decided(tmp_path, [("mixture", Mixture(weights={"web": 0.25, "wiki": 0.75}, tokens=4))], docs)
    assert table.slice(0, 6).stage.tolist() == [0, 1, 1, 0, 0, 0]  # equal hashes: the smaller number first


def test_partitions_and_tasks_change_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    groups = rng.choice(["a", "b"], 3000).tolist()
    tokens = rng.integers(0, 900, 3000).tolist()
    stage = Mixture(by="kind", weights={"a": 0.9, "b": 0.1}, tokens=700_000)
    tables = [
        run(tmp_path / f"{partitions}-{task}", stage, groups, tokens, partitions=partitions, task=task)
        for partitions, task in ((1, 3000), (7, 100), (64, 11))
    ]
    first = tables[0].slice(0, 3000)
    for table in tables[1:]:
        rows = table.slice(0, 3000)
        assert (rows.stage == first.stage).all() and (rows.columns["copies"] == first.columns["copies"]).all()
        assert table.notes == tables[0].notes


def test_another_seed_takes_other_documents(tmp_path: Path) -> None:
    taken = []
    for seed in (0, 1):
        stage = Mixture(by="kind", weights={"a": 1.0}, tokens=50, seed=seed)
        taken.append(run(tmp_path / str(seed), stage, ["a"] * 100, [1] * 100).slice(0, 100).stage.tolist())
    assert taken[0] != taken[1] and taken[0].count(0) == taken[1].count(0) == 50


def test_a_missing_token_count_says_what_to_do() -> None:
    with pytest.raises(UserError, match="tokens"):
        Mixture(weights={"web": 1.0}, tokens=1).sketch(documents(["x"])[0])
    assert Mixture(weights={"web": 1.0}, tokens=1, by="language").needs == ("token_count", "language")


@pytest.mark.parametrize("weights", ['{"a": 0.5, "b": 0.4}', '{"a": -0.1, "b": 1.1}', "{}"])
def test_weights_must_be_shares(weights: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Mixture).validate_json(f'{{"weights": {weights}, "tokens": 10}}', strict=True)
