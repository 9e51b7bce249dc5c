"""Buckets hold the living documents that share a key; scratch files are written once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.corpus import buckets_of
from stages.exact_dedup import ExactDedup
from tests.decided import corpus_of, documents


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 15)), max_size=60))
def test_buckets_are_those_of_a_dict(entries: list[tuple[int, int]]) -> None:
    keys = np.array([key for key, _ in entries], np.uint64)
    buckets = buckets_of(keys, np.array([document for _, document in entries], np.int64))
    plain: dict[int, set[int]] = {}
    for key, document in entries:
        plain.setdefault(key, set()).add(document)
    expected = [sorted(plain[key]) for key in sorted(plain) if len(plain[key]) > 1]
    cut = [buckets.documents[a:b].tolist() for a, b in zip(buckets.starts[:-1], buckets.starts[1:])]
    assert cut == expected and buckets.sizes.tolist() == [len(bucket) for bucket in expected]


def test_the_dropped_are_in_no_bucket(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, ExactDedup(), documents(["a", "a", "b", "a", "b"]))
    assert sorted(corpus.buckets(0).documents.tolist()) == [0, 1, 2, 3, 4]
    with corpus.living_path.open("r+b") as file:  # as if an earlier stage, then this one, had dropped one each
        file.write(bytes([0, 2, 0, 1, 0]))
    assert corpus.living().tolist() == [True, False, True, True, True]
    assert corpus.buckets(0).documents.tolist() in ([0, 3, 2, 4], [2, 4, 0, 3])
    assert [living.tolist() for _, _, living in corpus.blocks()] == [[True, False, True, True, True]]
    assert corpus.living(3, 99).tolist() == [True, True] and corpus.living(5, 9).tolist() == []


def test_scratch_files_are_written_once_and_whole(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, ExactDedup(), documents(["a"]))

    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        corpus.saved("part", fail)
    path = corpus.saved("part", lambda path: path.write_text("whole") and None)
    assert path.read_text() == "whole"
    assert corpus.saved("part", fail).read_text() == "whole"


def test_attributes_come_from_the_caller(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path, ExactDedup(), documents(["a"]))
    assert list(corpus.attribute("source")) == []
    with pytest.raises(ValueError, match="task"):
        corpus.__class__(**{**corpus.__dict__, "executor": None}).map(len, [])
