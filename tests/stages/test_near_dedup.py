"""near_dedup: brute force as the measure, the keep rule to the letter."""

import math
import random
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from curate.decide import clusters, twins
from curate.document import Document
from stages.near_dedup import By, NearDedup, jaccard, shingles
from tests.decided import decided, documents
from tests.near_texts import chain, edited, families, similar, template_site, words


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
    monkeypatch.setattr(twins, "JUDGED_AT_ONCE", 50)
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
