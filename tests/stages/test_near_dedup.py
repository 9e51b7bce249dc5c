"""near_dedup: datasketch's signatures, brute force as the measure, the keep rule to the letter."""

import json
import math
import random
import tracemalloc
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasketch import MinHash
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from curate import clusters, twins
from curate.document import Document
from curate.text import normalize
from stages import minhash
from stages.near_dedup import (
    By,
    MinHasher,
    NearDedup,
    estimate_jaccard,
    jaccard,
    lsh_candidate_probability,
    near_duplicate_pairs,
    shingles,
)
from tests.decided import decided, documents
from tests.near_texts import chain, edited, families, template_site, words


def signatures(stage: NearDedup, docs: list[Document]) -> Any:
    return np.concatenate([sketch.record["signature"] for sketch in stage.sketch_all(docs)])  # type: ignore[index]


def similar(stage: NearDedup, docs: list[Document]) -> Any:
    """The matrix of estimated similarities, brute force; a text without words is like nothing."""
    held = signatures(stage, docs)
    matrix = np.array([(held == row).sum(axis=1) / stage.permutations for row in held])
    empty = [not doc.normalized for doc in docs]
    matrix[empty, :] = matrix[:, empty] = 0.0
    return matrix


def plain_keep(stage: NearDedup, docs: list[Document], ranks: list[float] | None = None) -> list[int]:
    """Numbers of the kept documents, by the rule in plain words: clusters of all pairs, then one by one."""
    matrix = similar(stage, docs)
    cluster = list(range(len(docs)))
    for i, j in combinations(range(len(docs)), 2):
        if matrix[i, j] >= stage.threshold and cluster[i] != cluster[j]:
            low, high = sorted((cluster[i], cluster[j]))
            cluster = [low if root == high else root for root in cluster]

    def place(number: int) -> tuple[float, int]:
        rank = ranks[number] if ranks else 0.0
        return (math.inf if math.isnan(rank) else -rank, number)

    kept: list[int] = []
    for number in sorted(range(len(docs)), key=place):
        peers = [other for other in kept if cluster[other] == cluster[number]]
        if stage.cluster == "component":
            unlike = not peers
        else:
            unlike = all(matrix[other, number] < stage.threshold for other in peers)
        if unlike:
            kept.append(number)
    return sorted(kept)


def kept_of(tmp_path: Path, stage: NearDedup, docs: list[Document], **how: Any) -> list[int]:
    table = decided(tmp_path, [("near_dedup", stage)], docs, **how)
    return np.flatnonzero(table.slice(0, len(docs)).stage == 0).tolist()


@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("seed", [1, 7])
def test_signatures_are_those_of_datasketch(k: int, seed: int) -> None:
    rng = random.Random(k)
    texts = [words(rng, n) for n in (0, 1, 2, 3, 4, 5, 6, 9, 40, 500, 16_384, 16_390, 40_000)]
    texts += [["naïve", "ß", "日本語", "x" * 100, "\ud800", "😀"] * 3]
    rng.shuffle(texts)
    made = minhash.signatures(texts, k, 128, seed)
    for text, signature in zip(texts, made):
        oracle = MinHash(128, seed=seed, scheme="affine32", hashfunc=int)
        oracle.update_batch(minhash.shingle_values(text, k).tolist())
        assert signature.tobytes() == oracle.hashvalues.tobytes()


def test_shingle_values_are_frozen() -> None:
    """The definition in docs/stages/near_dedup.md, in Python integers, and its values of the first delivery."""
    import xxhash

    def value(window: list[str]) -> int:
        h = 0
        for word in window:
            h = (h * 0x9E3779B97F4A7C15 + xxhash.xxh3_64_intdigest(word.encode())) % 2**64
        h ^= h >> 32
        return (h * 0xFF51AFD7ED558CCD % 2**64) >> 32

    text = "the cat sat on the mat".split()
    for k in (1, 2, 5):
        windows = [text[i : i + k] for i in range(len(text) - k + 1)]
        assert minhash.shingle_values(text, k).tolist() == [value(window) for window in windows]
    assert minhash.shingle_values(text[:3], 5).tolist() == [value(text[:3])]
    assert minhash.signatures([text], 5, 128, 1)[0, :4].tolist() == FROZEN_SLOTS
    assert minhash.bucket_keys(minhash.signatures([text], 5, 128, 1), 25, 5)[0, :2].tolist() == FROZEN_KEYS


FROZEN_SLOTS = [1203736671, 130437907, 3064127511, 3102039424]
FROZEN_KEYS = [5379788343304193783, 4722304910482764479]


def test_many_at_once_and_one_by_one_are_the_same_bytes() -> None:
    rng = random.Random(3)
    docs = documents([" ".join(words(rng, rng.choice([0, 1, 4, 5, 60, 20_000]))) for _ in range(60)])
    for stage in (NearDedup(), NearDedup(keep="longest"), NearDedup(permutations=64, bands=8, rows=8, shingle=2)):
        for together, doc in zip(stage.sketch_all(docs), docs):
            alone = stage.sketch(doc)
            assert alone.keys.tobytes() == together.keys.tobytes()
            assert alone.record.tobytes() == together.record.tobytes()  # type: ignore[union-attr]
            assert len(alone.record.tobytes()) == stage.record.itemsize  # type: ignore[union-attr]


def test_a_long_text_takes_no_more_than_16_mib() -> None:
    text = " ".join(words(random.Random(1), 100_000))
    stage = NearDedup()
    stage.sketch(documents(["warm up"])[0])
    doc = documents([text])[0]
    tracemalloc.start()
    stage.sketch(doc)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_keys_are_equal_where_bands_are_and_nowhere_else() -> None:
    rng = np.random.default_rng(2)
    held = rng.integers(0, 2, (300, 128), dtype=np.uint32)  # few values: many equal bands
    keys = minhash.bucket_keys(held, 25, 5)
    bands = [[(band, *held[n, band * 5 : band * 5 + 5].tolist()) for band in range(25)] for n in range(300)]
    assert len({key for row in keys.tolist() for key in row}) == len({band for row in bands for band in row})
    assert all(keys[0, band] == keys[1, band] for band in range(25) if bands[0][band] == bands[1][band])


@pytest.mark.parametrize("cluster", ["kept", "component"])
@pytest.mark.parametrize("seed", range(4))
def test_kept_are_those_of_brute_force(tmp_path: Path, cluster: Any, seed: int) -> None:
    rng = random.Random(seed)
    texts = families(rng, 30) + template_site(rng, 40) + chain(rng, 20) + ["", "", "one", "one", "one two"]
    rng.shuffle(texts)
    docs = documents(texts)
    stage = NearDedup(cluster=cluster)
    assert kept_of(tmp_path, stage, docs, partitions=7, task=17) == plain_keep(stage, docs)


def test_a_template_site_is_cleared_as_brute_force_would(tmp_path: Path) -> None:
    """A cluster larger than the part that is compared all with all: 400 pages, true pairs by exact Jaccard."""
    rng = random.Random(9)
    docs = documents(template_site(rng, 400))
    stage = NearDedup()
    kept = kept_of(tmp_path, stage, docs, partitions=3)
    assert kept == plain_keep(stage, docs)
    sets = [shingles(doc.normalized) for doc in docs]
    true = [(i, j) for i, j in combinations(range(400), 2) if jaccard(sets[i], sets[j]) >= 0.85]
    left = [(i, j) for i, j in combinations(kept, 2) if jaccard(sets[i], sets[j]) >= 0.85]
    assert len(true) > 300 and len(left) <= 0.02 * len(true)


def test_every_dropped_text_has_a_kept_twin_as_similar_as_said(tmp_path: Path) -> None:
    rng = random.Random(4)
    docs = documents(families(rng, 60) + template_site(rng, 100) + chain(rng, 40))
    stage = NearDedup()
    matrix = similar(stage, docs)
    table = decided(tmp_path, [("near_dedup", stage)], docs)
    rows = table.slice(0, len(docs))
    dropped = np.flatnonzero(rows.stage)
    assert len(dropped) > 50
    for number in dropped:
        twin = rows.matched[number]
        assert rows.stage[twin] == 0
        assert rows.score[number] == np.float32(matrix[number, twin]) >= stage.threshold
    assert rows.columns["cluster_size"][rows.stage == 0].sum() == len(docs)
    assert (rows.matched[rows.stage == 0] == -1).all() and np.isnan(rows.score[rows.stage == 0]).all()


def test_a_chain_of_small_edits_does_not_swallow_unlike_texts(tmp_path: Path) -> None:
    docs = documents(chain(random.Random(6), 60, length=300))
    matrix = similar(NearDedup(), docs)
    assert (np.diag(matrix, 1) >= 0.8).all() and matrix[0, -1] < 0.2
    whole = kept_of(tmp_path / "component", NearDedup(cluster="component"), docs)
    kept = kept_of(tmp_path / "kept", NearDedup(), docs)
    assert whole == [0]
    assert len(kept) > 5 and kept == plain_keep(NearDedup(), docs)
    assert all(matrix[i, j] < 0.8 for i, j in combinations(kept, 2))


def test_another_order_changes_the_kept_copy_as_the_rule_says(tmp_path: Path) -> None:
    rng = random.Random(8)
    docs = documents(families(rng, 25) + template_site(rng, 30))
    for turn in range(4):
        rng.shuffle(docs)
        assert kept_of(tmp_path / str(turn), NearDedup(), docs, partitions=5) == plain_keep(NearDedup(), docs)


def test_every_order_of_three_alike_keeps_the_first(tmp_path: Path) -> None:
    rng = random.Random(5)
    first = words(rng, 200)
    texts = [" ".join(edited(rng, first, changes)) for changes in (0, 1, 2)]
    for turn, order in enumerate(permutations(range(3))):
        assert kept_of(tmp_path / str(turn), NearDedup(), documents(texts[i] for i in order)) == [0]


def test_keep_policies(tmp_path: Path) -> None:
    rng = random.Random(12)
    texts = families(rng, 25) + template_site(rng, 90)  # one cluster beyond the small ones
    rng.shuffle(texts)
    scores = [rng.choice([None, float("nan"), 0.1, 0.5, 0.9]) for _ in texts]
    docs = documents(texts, quality=scores)
    longest = kept_of(tmp_path / "longest", NearDedup(keep="longest"), docs)
    assert longest == plain_keep(NearDedup(), docs, [float(len(text)) for text in texts])
    best = kept_of(tmp_path / "by", NearDedup(keep=By(by="quality")), docs)
    assert best == plain_keep(NearDedup(), docs, [math.nan if s is None else s for s in scores])
    assert longest != best != kept_of(tmp_path / "first", NearDedup(), docs)
    assert NearDedup(keep=By(by="quality")).needs == ("quality",) and NearDedup().needs == ()


def test_partitions_and_tasks_change_nothing(tmp_path: Path) -> None:
    rng = random.Random(13)
    docs = documents(families(rng, 40) + template_site(rng, 100) + chain(rng, 20))
    tables = [
        decided(tmp_path / f"{partitions}", [("near_dedup", NearDedup())], docs, partitions=partitions, task=task)
        for partitions, task in ((1, 1000), (7, 50), (64, 3))
    ]
    first = tables[0].slice(0, len(docs))
    for table in tables[1:]:
        rows = table.slice(0, len(docs))
        assert [a.tobytes() for a in rows[:4]] == [a.tobytes() for a in first[:4]]
        assert rows.columns["cluster_size"].tolist() == first.columns["cluster_size"].tolist()
        assert table.notes == tables[0].notes


class Counting(NearDedup):
    """Counts the similarities asked for."""

    asked = 0

    def similarity(self, left: Any, right: Any) -> Any:
        share = super().similarity(left, right)
        Counting.asked += share.size
        return share


@pytest.mark.parametrize("same", [True, False])
def test_giant_buckets_are_linear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: bool) -> None:
    """Twice the pages of one bucket, twice the comparisons; equal pages, and pages that differ a little."""
    monkeypatch.setattr(clusters, "WIDE", 16)
    monkeypatch.setattr(twins, "IN_BUCKET", 16)
    monkeypatch.setattr(twins, "FIRST", 8)
    asked = []
    for count in (1500, 3000):
        rng = random.Random(1)
        site = [" ".join(words(rng, 150))] * count if same else template_site(rng, count, own=(10, 80))
        Counting.asked = 0
        table = decided(tmp_path / str(count), [("near_dedup", Counting())], documents(site), partitions=4)
        asked.append(Counting.asked)
        notes = table.notes["near_dedup"]
        assert notes["largest_bucket"] > 16 and notes["wide_buckets"] > 0
        if same:
            assert notes["dropped"] == count - 1 and notes["giant_clusters"] == 1
        else:
            assert notes["capped_documents"] > 0
    assert asked[1] < 2.4 * asked[0]


def test_a_cluster_beyond_one_block_is_split_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(twins, "BLOCK", 50)
    docs = documents(template_site(random.Random(2), 300))
    table = decided(tmp_path, [("near_dedup", NearDedup())], docs)
    rows = table.slice(0, len(docs))
    matrix = similar(NearDedup(), docs)
    assert table.notes["near_dedup"]["split_clusters"] == 1
    assert all(rows.stage[twin] == 0 for twin in rows.matched[rows.stage > 0])
    assert all(matrix[n, rows.matched[n]] >= 0.8 for n in np.flatnonzero(rows.stage))


def test_texts_shorter_than_one_shingle_are_one_shingle(tmp_path: Path) -> None:
    texts = ["Closed on Monday.", "Open until six.", "See you soon!", "Back.", "closed  on MONDAY.", "", "  "]
    table = decided(tmp_path, [("near_dedup", NearDedup())], documents(texts))
    assert table.slice(0, 7).matched.tolist() == [-1, -1, -1, -1, 0, -1, -1]


def test_threshold_means_what_it_says(tmp_path: Path) -> None:
    """Forty families of known similarity: what is clearly above is found, nothing far below is joined."""
    rng = random.Random(21)
    texts, pairs = [], []
    for _ in range(40):
        base = words(rng, 900)
        sets = shingles(" ".join(base))
        first = len(texts)
        texts.append(" ".join(base))
        for changes in (3, 18, 35, 55, 80, 120, 190):
            variant = " ".join(edited(rng, base, changes))
            pairs.append((first, len(texts), jaccard(sets, shingles(variant))))
            texts.append(variant)
    for threshold in (0.5, 0.7, 0.8):
        stage = NearDedup(threshold=threshold)
        table = decided(tmp_path / str(threshold), [("near_dedup", stage)], documents(texts), partitions=7)
        matched = table.slice(0, len(texts)).matched
        above = [matched[b] >= 0 for _, b, j in pairs if j >= threshold + 0.1]
        assert np.mean(above) >= 0.95
        error = math.sqrt(threshold * (1 - threshold) / 128)
        assert not [j for a, b, j in pairs if matched[b] == a and j < threshold - 4 * error]


def test_no_documents_and_one(tmp_path: Path) -> None:
    assert kept_of(tmp_path / "none", NearDedup(), []) == []
    assert kept_of(tmp_path / "one", NearDedup(), documents(["one text"])) == [0]


def test_options_are_checked() -> None:
    read = TypeAdapter(NearDedup)
    assert read.validate_json('{"keep": {"by": "score"}, "threshold": 1}', strict=True).keep == By(by="score")
    for wrong in ('{"threshold": 0}', '{"threshold": 1.1}', '{"bands": 26}', '{"keep": "last"}', '{"shingle": 0}'):
        with pytest.raises(ValidationError):
            read.validate_json(wrong, strict=True)


# The seed's functions, section 1e to 1g.

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


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("aA\u0301\u00ad\u200b\u1e9e\u0130 \u1100\u1161", max_size=12), max_size=6), st.integers(1, 4))
def test_signatures_are_those_of_the_normalised_text(texts: list[str], k: int) -> None:
    plain = [minhash.signatures([normalize(text).split()], k, 16, 1)[0].tolist() for text in texts]
    assert minhash.signatures([text.split() for text in texts], k, 16, 1).tolist() == plain


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=12))
def test_any_text_is_sketched(texts: list[str]) -> None:
    for sketch, text in zip(NearDedup().sketch_all(documents(texts)), texts):
        assert len(sketch.keys) == (25 if normalize(text) else 0)
        assert json.dumps(sketch.keys.tolist())
