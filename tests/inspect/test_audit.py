"""The audit against brute force over all pairs of texts."""

import json
import random
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from curate.decide.bands import jaccard
from curate.document import Address, Document
from curate.errors import UserError
from curate.inspect.audit import FLOOR, audit
from curate.inspect.opened import OpenedRun
from stages.near_dedup import NearDedup
from tests.report.finished import call, finished, pages, sample_run

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "en", "ist")]


def crawl(documents: int) -> list[dict[str, Any]]:
    draw = random.Random(5)
    texts: list[list[str]] = []
    for _ in range(documents):
        if texts and draw.random() < 0.5:
            words = list(draw.choice(texts))
            for _ in range(draw.choice([1, 2, 3, 4, 6])):
                words[draw.randrange(len(words))] = draw.choice(WORDS)
        else:
            words = [draw.choice(WORDS) for _ in range(120)]
        texts.append(words)
    return [{"text": " ".join(words)} for words in texts]


def sets(run: OpenedRun, stage: NearDedup) -> dict[str, Any]:
    rows = run.read("shards", ["file_path", "offset", "text"]).to_pylist()
    return {
        f"{row['file_path']}:{row['offset']}": stage.compared(Document(Address("", "", 0), text=row["text"]))
        for row in rows
    }


@pytest.mark.parametrize("options", [{"threshold": 0.8}, {"threshold": 0.7, "bands": 2, "rows": 8}], ids=str)
def test_a_full_sample_is_brute_force(options: dict[str, Any], tmp_path: Path) -> None:
    run = finished(tmp_path, [{"near_dedup": options}], pages(tmp_path, crawl(160)))
    stage = NearDedup(**options)
    (audited,) = audit(run, 1000, 1000, 0)
    kept = sets(run, stage)
    expected = {frozenset(pair) for pair in combinations(kept, 2) if jaccard(kept[pair[0]], kept[pair[1]]) >= FLOOR}
    assert {frozenset((pair.left, pair.right)) for pair in audited.misses} == expected
    assert audited.compared == len(kept) and len(audited.merged) == audited.dropped and audited.lost == 0
    missed = {
        max(pair, key=lambda place: int(place.rpartition(":")[2]))
        for pair in expected
        if jaccard(*(kept[place] for place in pair)) >= stage.threshold
    }
    assert audited.missed.value == pytest.approx(len(missed) / len(kept))
    right = sum(pair.similarity >= stage.threshold for pair in audited.merged)
    assert audited.precision.value == pytest.approx(right / audited.dropped)
    assert audited.recall.value == pytest.approx(right / (right + len(missed)))
    assert audited.recall.low <= audited.recall.value <= audited.recall.high
    assert sum(one.unmerged for one in audited.bins) == len(expected)


def test_few_bands_miss_what_many_find(tmp_path: Path) -> None:
    source = pages(tmp_path, crawl(160))
    recalls = []
    for number, (bands, rows) in enumerate(((25, 5), (1, 16))):
        stage = {"near_dedup": {"threshold": 0.7, "bands": bands, "rows": rows}}
        (audited,) = audit(finished(tmp_path / str(number), [stage], source), 1000, 1000, 0)
        recalls.append(audited.recall.value)
    assert recalls[0] > 0.9 > recalls[1]


def test_the_sample_crawl_passes() -> None:
    text = call("audit", sample_run().folder).output
    audited = json.loads(call("audit", sample_run().folder, "--json").output)[0]
    dropped = sum(row["documents"] for row in sample_run().stats["dropped"] if row["stage"] == "near_dedup")
    assert audited["dropped"] == dropped == len(audited["merged"])
    assert "S-curve" in text and "precision" in text


def test_texts_that_are_gone_are_counted(tmp_path: Path) -> None:
    source = pages(tmp_path, crawl(60))
    run = finished(tmp_path, ["near_dedup"], source, samples=0)
    Path(source).unlink()
    (audited,) = audit(run, 1000, 10, 0)
    assert audited.lost == audited.dropped > 0 and isnan(audited.precision.value)


def test_a_run_without_similarity_has_nothing_to_audit(tmp_path: Path) -> None:
    run = finished(tmp_path, ["exact_dedup"], pages(tmp_path, [{"text": "one"}]))
    with pytest.raises(UserError, match="nothing to audit"):
        audit(run, 1, 1, 0)
