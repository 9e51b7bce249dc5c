"""Mixtures with phases, temperatures, epochs and cluster sizes, held to walks along sorted groups."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from curate.errors import UserError
from stages.mixing.shares import Phase
from stages.mixture import Mixture
from tests.decided import decided, documents
from tests.engine import run_it, settings, table, write_jsonl


def copies(work: Path, stage: Mixture, groups: list[str], tokens: list[int], texts: list[str]) -> Any:
    """How often each document is read in each phase, shape (documents, phases)."""
    docs = documents(texts, kind=groups, token_count=tokens)

    def attributes(name: str) -> Iterator[Any]:
        assert name == "kind"
        yield groups[: len(groups) // 2]
        yield groups[len(groups) // 2 :]

    rows = decided(work, [("mixture", stage)], docs, task=7, attributes=attributes).slice(0, len(docs))
    living = rows.stage == 0
    if not stage.phases:
        return np.where(living, rows.columns["copies"], 0)[:, None]
    again, columns = stage.spread(rows.columns) or (np.empty(0), {})
    found = np.zeros((len(docs), len(stage.phases)), int)
    np.add.at(found, (again, columns["phase"]), columns["copies"])
    assert (found.sum(axis=1) == np.where(living, rows.columns["copies"], 0)).all()
    return found


def walked(stage: Mixture, groups: list[str], tokens: list[int], texts: list[str], wants: list[dict[str, int]]) -> Any:
    """The same by walking along each group, pass after pass, until the tokens wanted by each phase's end are met."""
    hashes = [
        int(stage.sketch(doc).record["hash"][0])  # type: ignore[index]
        for doc in documents(texts, kind=groups, token_count=tokens)
    ]
    upto = np.zeros((len(groups), len(wants)), int)
    for phase, want in enumerate(wants):
        for group in set(groups):
            members = sorted((hashes[n], n) for n in range(len(groups)) if groups[n] == group)
            held = sum(tokens[n] for _, n in members)
            passes, room = divmod(want.get(group, 0), held) if held else (1, 0)
            walking = room > 0 or passes == 0
            for _, n in members:
                room -= tokens[n]
                walking = walking and room >= 0
                upto[n, phase] = passes + walking
    return np.diff(upto, axis=1, prepend=0)


@examples(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 50), st.integers(0, 6)), min_size=1, max_size=30),
    st.integers(1, 200),
    st.sampled_from([0.5, 0.9]),
)
def test_phases_go_on_where_the_one_before_ended(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, int]], budget: int, share: float
) -> None:
    groups, tokens, texts = [r[0] for r in rows], [r[1] for r in rows], [f"text {r[2]}" for r in rows]
    first, last = {"a": 0.75, "b": 0.25}, {"a": 0.25, "b": 0.75}
    phases = (Phase(share=share, weights=first), Phase(share=1 - share, weights=last))
    stage = Mixture(by="kind", tokens=budget, phases=phases)
    wants = [
        {g: round(share * first[g] * budget) for g in "ab"},
        {g: int(np.rint((share * first[g] + (1 - share) * last[g]) * budget)) for g in "ab"},
    ]
    got = copies(tmp_path_factory.mktemp("mix"), stage, groups, tokens, texts)
    assert (got == walked(stage, groups, tokens, texts, wants)).all()


def test_a_temperature_takes_groups_as_it_finds_them(tmp_path: Path) -> None:
    groups = ["en"] * 90 + ["sw"] * 10
    texts = [f"text {n}" for n in range(100)]
    got = copies(tmp_path, Mixture(by="kind", tokens=40, alpha=0.5), groups, [1] * 100, texts)
    assert got[:90].sum() == 30 and got[90:].sum() == 10  # sqrt(90) to sqrt(10) is 3 to 1


def test_epochs_say_how_often_a_group_is_read(tmp_path: Path) -> None:
    groups = ["web"] * 10 + ["wiki"] * 4
    stage = Mixture(by="kind", epochs={"web": 0.5, "wiki": 2.0})
    got = copies(tmp_path, stage, groups, [3] * 14, [f"text {n}" for n in range(14)])
    assert got[:10].sum() == 5 and got[10:].tolist() == [[2]] * 4


def test_no_group_is_read_more_often_than_allowed(tmp_path: Path) -> None:
    stage = Mixture(by="kind", weights={"web": 0.5, "wiki": 0.5}, tokens=100, max_epochs=1.5)
    got = copies(tmp_path, stage, ["web"] * 60 + ["wiki"] * 4, [1] * 64, [f"text {n}" for n in range(64)])
    assert got[:60].sum() == 50 and sorted(got[60:, 0].tolist()) == [1, 1, 2, 2]


def lines(folder: Path) -> Any:
    """Texts of which some stand several times, as a source."""
    texts = [f"one two three four five six seven {n // 3}" for n in range(9)] + [f"alone {n} {n}" for n in range(3)]
    return {"crawl": str(write_jsonl(folder / "in.jsonl", texts))}


def test_a_document_counts_as_often_as_its_cluster_is_worth(tmp_path: Path) -> None:
    stages = ["tokens", {"near_dedup": {"threshold": 1.0}}, {"mixture": {"rehydrate": {1: 1, 3: 2}}}]
    report = run_it(settings(lines(tmp_path), tmp_path / "out", stages=stages))
    rows = table(tmp_path / "out", "shards").to_pylist()
    assert [(row["cluster_size"], row["copies"]) for row in rows] == [(3, 2)] * 3 + [(1, 1)] * 3
    tokens = sum(row["token_count"] * row["copies"] for row in rows)
    assert report.stats["notes"]["mixture"]["all.taken_tokens"] == tokens


@pytest.mark.parametrize("repeat", ["copies", "rows"])
def test_a_row_for_each_phase_and_with_rows_for_each_time(tmp_path: Path, repeat: str) -> None:
    phases = [{"share": 0.75, "weights": {"crawl": 1.0}}, {"share": 0.25, "alpha": 1.0}]
    mixture = {"tokens": 4 * 11 * 7, "phases": phases, "repeat": repeat}  # seven texts of 11 tokens, four times
    write_jsonl(tmp_path / "in.jsonl", [f"a b c d e f g {n}" for n in range(7)])
    run_it(settings(str(tmp_path / "in.jsonl"), tmp_path / "out", stages=["tokens", {"mixture": mixture}]))
    rows = [(row["url"], row["phase"], row["copies"]) for row in table(tmp_path / "out", "shards").to_pylist()]
    if repeat == "copies":
        assert [row[1:] for row in rows] == [(0, 3), (1, 1)] * 7
    else:
        assert [row[1:] for row in rows] == [(0, 1)] * 3 + [(1, 1)] + ([(0, 1)] * 3 + [(1, 1)]) * 6
    assert len({row[0] for row in rows}) == 7


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": {"a": 1.0}},
        {"weights": {"a": 1.0}, "alpha": 0.5, "tokens": 1},
        {"epochs": {"a": 1.0}, "tokens": 1},
        {"phases": [{"share": 0.5, "alpha": 1.0}], "tokens": 1},
        {"rehydrate": {0: 1}},
        {"rehydrate": "fineweb3"},
        {"alpha": 2.0, "tokens": 1},
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises((ValidationError, ValueError)):
        TypeAdapter(Mixture).validate_python(options)


def test_cluster_sizes_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cluster_size"):
        run_it(settings(lines(tmp_path), tmp_path / "out", stages=["tokens", {"mixture": {"rehydrate": "fineweb2"}}]))
