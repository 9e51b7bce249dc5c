"""Kin are the same however the work is cut; a new document that takes two others with it is foreseen."""

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curate.config.file import parse_config
from curate.document import Address, Document
from curate.executors.executor import Serial
from curate.inspect.opened import OpenedRun
from curate.run import Options, run
from curate.what_if.kin import Range, Reach, narrowed
from curate.what_if.what_if import WhatIf
from stages.near_dedup import NearDedup
from tests.report.finished import finished, pages, sample_run
from tests.what_if.test_what_if import EASY, agrees, changed, crawl


def kin_of(out: Path, partitions: int, source: str) -> list[int]:
    stages = [{"gopher": {**EASY, "min_words": 0}}, "near_dedup"]
    config = parse_config({"input": source, "output": str(out), "stages": stages})
    run(config, Serial(), Options(partitions=partitions), lambda phase, told: None, lambda sentence: None)
    found: list[int] = OpenedRun.of(str(out)).read("measures", ["near_dedup.kin"]).column(0).to_pylist()
    return found


def test_kin_are_linked_by_similar_pairs_whatever_the_partitions(tmp_path: Path) -> None:
    rows = crawl(random.Random(4), 150)
    source = pages(tmp_path, rows)
    found = kin_of(tmp_path / "1", 1, source)
    assert found == kin_of(tmp_path / "7", 7, source)
    stage = NearDedup()
    sketches = stage.sketch_all([Document(Address("", "", n), text=row["text"]) for n, row in enumerate(rows)])
    family = list(range(len(rows)))
    for one, other in combinations(range(len(rows)), 2):
        shared = set(sketches[one].keys.tolist()) & set(sketches[other].keys.tolist())
        pair = (np.asarray(sketches[n].record, stage.record).reshape(1) for n in (one, other))
        if shared and stage.similarity(*pair)[0] >= 2 * stage.threshold - 1:
            old, new = sorted((family[one], family[other]), reverse=True)
            family = [new if member == old else member for member in family]
    expected = [member if family.count(member) > 1 else -1 for member in family]
    assert found == expected and max(found) >= 0


def test_few_buckets_tell_of_no_kin() -> None:
    assert NearDedup().kin_threshold == pytest.approx(0.6)
    assert NearDedup(bands=9, rows=13).kin_threshold is None
    assert NearDedup(threshold=0.5).kin_threshold is None


@pytest.mark.parametrize("keep", ["first", "longest"])
def test_a_new_document_may_take_two_kept_ones_with_it(keep: str, tmp_path: Path) -> None:
    draw = random.Random(1)
    words = [f"word{draw.randrange(10_000)}" for _ in range(90)]
    middle = words[14:76]  # 62 words, like the two longer ones that are unlike each other
    rows = [{"text": " ".join(part), "language": "en"} for part in (middle, words[14:], words[:76])]
    source = {"path": pages(tmp_path, rows), "columns": {"language": "string"}}
    stages: list[Any] = [{"gopher": {**EASY, "min_words": 70}}, {"near_dedup": {"keep": keep, "threshold": 0.77}}]
    first = finished(tmp_path / "run", stages, source)
    assert first.stats["kept"]["documents"] == 2
    changes = {"gopher": {"min_words": 50}}
    outcome = WhatIf(first).ask(changes)
    rerun = finished(tmp_path / "rerun", changed(stages, changes), source)
    assert rerun.stats["kept"]["documents"] == (1 if keep == "first" else 2)
    agrees(outcome, rerun)


def test_bounds_on_the_sample_crawl_are_narrow() -> None:
    outcome = WhatIf(sample_run()).ask({"gopher": {"min_words": 30}, "language": {"min_score": 0.5}})
    low, high = outcome.corpus[-1].after.documents
    new = outcome.passed[0] - outcome.passed_before[0]
    assert sample_run().stats["kept"]["documents"] - low <= 2 * new
    assert high - low <= 8 * new


def reach(kin: list[int], kept: list[int], gone: list[int], new: list[int]) -> Reach:
    size = len(kin)
    masks = [np.isin(np.arange(size), some) for some in (kept, gone, new)]
    known = ~(masks[1] | masks[2])
    family = np.unique([k if k >= 0 else -2 - n for n, k in enumerate(kin)], return_inverse=True)[1]
    return Reach(family, known, masks[0] & known, masks[1], masks[2], np.arange(10, 10 + size))


def test_families_that_nothing_touches_keep_what_they_kept() -> None:
    whole, _ = reach([0, 0, -1, 3, 3], [0, 2, 3], [], []).ranges(np.zeros(5, np.int64), 1)
    assert whole == Range((3, 3), (10 + 12 + 13, 10 + 12 + 13))


def test_a_document_that_goes_touches_its_family_alone() -> None:
    whole, _ = reach([0, 0, 0, 3, 3], [0, 3], [0], []).ranges(np.zeros(5, np.int64), 1)
    assert whole.documents == (2, 3)  # one or both of the two left, and 3


def test_a_new_document_touches_the_largest_families() -> None:
    whole, groups = reach([0, 0, 0, 3, 3, -1, -1], [0, 1, 3, 5], [], [6]).ranges(np.array([0, 0, 0, 0, 0, 0, 1]), 2)
    assert whole.documents == (2, 7)  # 6 takes 0 and 1, and 3, and stays; or it stays and 2 and 4 come back
    assert groups[1].documents == (0, 1)


def test_both_bounds_hold_and_groups_share_the_whole() -> None:
    one, other = Range((1, 9), (10, 90)), Range((3, 12), (5, 80))
    whole, groups = narrowed(one, [Range((0, 4), (0, 40))] * 2, (other, (Range((0, 9), (0, 90)),) * 2))
    assert whole == Range((3, 9), (10, 80))
    assert groups == (Range((0, 4), (0, 40)), Range((0, 4), (0, 40)))
