"""The plain functions of near_dedup, with the seed's values of sections 1e to 1g."""

import math
import random
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest

from curate.text import normalize
from stages.near_dedup import (
    MinHasher,
    NearDedup,
    estimate_jaccard,
    jaccard,
    lsh_candidate_probability,
    near_duplicate_pairs,
    shingles,
)
from tests.decided import decided, documents
from tests.near_texts import edited, families, similar, words

A, B = shingles("the cat sat on the mat", 2), shingles("the cat sat on a mat", 2)


def test_shingles_of_the_seed() -> None:
    assert sorted(A) == ["cat sat", "on the", "sat on", "the cat", "the mat"]
    assert sorted(B) == ["a mat", "cat sat", "on a", "sat on", "the cat"]
    assert (len(A & B), len(A | B)) == (3, 7)
    assert shingles("a b c d e f") == {"a b c d e", "b c d e f"}
    assert shingles("a b") == {"a b"} and shingles(" ") == set()


def test_jaccard_of_the_seed() -> None:
    assert round(jaccard(A, B), 2) == 0.43
    assert jaccard(set(), set()) == 0.0 and jaccard(A, A) == 1.0


def test_first_cards_agree_as_often_as_jaccard_says() -> None:
    a, b = {"a", "b", "c"}, {"b", "c", "d"}
    orders = list(permutations("abcd"))
    agree = sum(next(x for x in o if x in a) == next(x for x in o if x in b) for o in orders)
    assert (agree, len(orders)) == (12, 24)
    assert agree / len(orders) == jaccard(a, b) == 0.5
    assert round(math.sqrt(0.5 * 0.5 / 128), 3) == 0.044
    assert math.comb(10**9, 2) == pytest.approx(5e17, rel=1e-3)


def test_minhasher_is_the_minimum_of_affine_functions() -> None:
    hasher = MinHasher(16, seed=3)
    assert len(hasher.functions) == 16 and len(set(hasher.functions)) == 16
    parts = [hasher.signature({item}) for item in A]
    assert hasher.signature(A) == tuple(min(slot) for slot in zip(*parts))
    with pytest.raises(ValueError, match="slots"):
        estimate_jaccard((1, 2), (1, 2, 3))


def test_estimates_are_near_jaccard() -> None:
    """Mean error over 60 pairs of known similarity within three standard errors, for both hashers."""
    rng = random.Random(17)
    pairs = [(text := words(rng, 300), edited(rng, text, rng.randrange(0, 40))) for _ in range(60)]
    hasher, stage = MinHasher(128), NearDedup()
    for plain in (True, False):
        errors = []
        for one, other in pairs:
            a, b = " ".join(one), " ".join(other)
            if plain:
                estimate = estimate_jaccard(*(hasher.signature(shingles(text)) for text in (a, b)))
            else:
                estimate = float(similar(stage, documents([a, b]))[0, 1])
            errors.append(estimate - jaccard(shingles(a), shingles(b)))
        assert abs(np.mean(errors)) < 3 * 0.044 / math.sqrt(60)
        assert np.sqrt(np.mean(np.square(errors))) < 0.05


def test_lsh_candidate_probability_of_the_seed() -> None:
    assert round(lsh_candidate_probability(0.8, 20, 5), 4) == 0.9996
    assert round(lsh_candidate_probability(0.3, 20, 5), 4) == 0.0475
    assert [lsh_candidate_probability(s) for s in (0.0, 1.0)] == [0.0, 1.0]
    assert round((1 / 20) ** (1 / 5), 2) == 0.55


def test_near_duplicate_pairs_are_those_that_the_stage_joins(tmp_path: Path) -> None:
    rng = random.Random(31)
    texts = families(rng, 12, length=300)
    pairs = near_duplicate_pairs(texts, threshold=0.8)
    sets = [shingles(normalize(text)) for text in texts]
    assert {(i, j) for i, j, _ in pairs} >= {
        (i, j) for i, j in combinations(range(len(texts)), 2) if jaccard(sets[i], sets[j]) >= 0.92
    }
    assert all(jaccard(sets[i], sets[j]) > 0.65 and score >= 0.8 for i, j, score in pairs)
    table = decided(tmp_path, [("near_dedup", NearDedup())], documents(texts))
    joined = {(int(m), n) for n, m in enumerate(table.slice(0, len(texts)).matched) if m >= 0}
    found = {(i, j) for i, j, _ in pairs}
    assert len(joined & found) >= 0.9 * len(joined)
    assert near_duplicate_pairs(["", "", "x"], 0.8) == []
