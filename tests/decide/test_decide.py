"""Decide: stages in turn over the living, resumed after a kill, the same with any executor."""

import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curate.corpus import Corpus
from curate.executors.executor import Outcome, Serial
from curate.stage import Verdicts
from stages.exact_dedup import ExactDedup
from stages.mixture import Mixture
from stages.near_dedup import NearDedup
from tests.decided import decided, documents
from tests.near_texts import families, template_site

STAGES = [
    ("exact_dedup", ExactDedup()),
    ("near_dedup", NearDedup()),
    ("mixture", Mixture(weights={"web": 1.0}, tokens=40)),
]


class Shuffled:
    """Serial, in a random order; tasks and functions go through pickle as to another process."""

    workers = 3

    def map(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Outcome]:
        for index in random.Random(1).sample(range(len(tasks)), len(tasks)):
            run, task = pickle.loads(pickle.dumps((function, tasks[index])))
            yield Outcome(index, pickle.loads(pickle.dumps(run(task))))

    def close(self) -> None: ...


def crawl() -> Any:
    rng = random.Random(3)
    texts = families(rng, 30) + template_site(rng, 80)
    texts += texts[::5]
    return documents(texts, token_count=[1] * len(texts))


def content(work: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((work / "verdicts").iterdir())}


def test_each_stage_sees_what_the_ones_before_left(tmp_path: Path) -> None:
    docs = crawl()
    table = decided(tmp_path, STAGES, docs)
    rows = table.slice(0, len(docs))
    counts = np.bincount(rows.stage, minlength=4)
    assert counts[0] == 40 and counts.min() > 0 and counts.sum() == len(docs)
    assert [table.notes[name]["dropped"] for name, _ in STAGES] == counts[1:].tolist()
    exact = decided(tmp_path / "exact", STAGES[:1], docs).slice(0, len(docs))
    assert ((rows.stage == 1) == (exact.stage == 1)).all()
    near = rows.matched[rows.stage == 2]
    assert (rows.stage[near] != 1).all()  # twins were living when near_dedup looked


@pytest.mark.parametrize("partitions", [1, 7, 64])
def test_bytes_are_equal_for_any_executor_and_partitions(tmp_path: Path, partitions: int) -> None:
    docs = crawl()
    decided(tmp_path / "plain", STAGES, docs)
    decided(tmp_path / "other", STAGES, docs, partitions=partitions, task=13, executor=Shuffled())
    assert content(tmp_path / "plain") == content(tmp_path / "other")


@pytest.mark.parametrize("killed_in", [0, 1, 2])
def test_a_killed_stage_is_done_anew_and_the_others_not_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_in: int
) -> None:
    docs = crawl()
    decided(tmp_path / "plain", STAGES, docs, partitions=3)
    runs: list[str] = []

    def watch(kind: type, kill: bool) -> None:
        real = kind.decide

        def decide(self: Any, corpus: Corpus) -> Iterator[Verdicts]:
            runs.append(kind.__name__)
            for verdict in real(self, corpus):
                yield verdict
                if kill and runs.count(kind.__name__) == 1:
                    raise KeyboardInterrupt
            if kill and runs.count(kind.__name__) == 1:
                raise KeyboardInterrupt

        monkeypatch.setattr(kind, "decide", decide)

    for index, (_, stage) in enumerate(STAGES):
        watch(type(stage), index == killed_in)
    with pytest.raises(KeyboardInterrupt):
        decided(tmp_path / "killed", STAGES, docs, partitions=3)
    from curate.decide.decide import decide

    decide(Serial(), tmp_path / "killed", STAGES, len(docs))
    assert content(tmp_path / "killed") == content(tmp_path / "plain")
    names = [type(stage).__name__ for _, stage in STAGES]
    assert runs == [*names[: killed_in + 1], *names[killed_in:]]
    assert not list((tmp_path / "killed").glob("*/decide"))


def test_no_documents(tmp_path: Path) -> None:
    table = decided(tmp_path, STAGES, [])
    assert len(table.slice(0, 1).stage) == 0 and set(table.notes) == {name for name, _ in STAGES}
