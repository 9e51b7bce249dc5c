"""What-if against a real rerun: equal for the document stages, and for corpus stages where it does not say "about"."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import Recorded
from curate.what_if.about import estimates, twins
from curate.what_if.redecide import parse_changes, redecide
from curate.what_if.what_if import Answer, WhatIf, answer_lines
from tests.report.finished import ROOT, SAMPLE_STAGES, finished, pages, sample_run

Row = dict[str, Any]


def changed(stages: list[Any], changes: dict[str, dict[str, Any]]) -> list[Any]:
    """A config's stages with other options."""
    named = [(next(iter(s)), next(iter(s.values()))) if isinstance(s, dict) else (s, {}) for s in stages]
    return [{name: {**options, **changes.get(name, {})}} for name, options in named]


def agrees(outcome: Answer, rerun: OpenedRun) -> None:
    """The document stages of a rerun dropped just what was told, its corpus stages kept it where that is exact."""
    stats = rerun.stats
    unmeasured = {(stage, count) for stage, count in outcome.unmeasured}
    expected = {(stage, reason): after for stage, reason, _, after in outcome.dropped if after[0]}
    corpus = {name for name, _ in rerun.config.corpus_stages}
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for row in stats["dropped"]:
        if row["stage"] not in corpus and row["stage"] not in dict(unmeasured):
            before = found.get((row["stage"], row["reason"]), (0, 0))
            found[row["stage"], row["reason"]] = (before[0] + row["documents"], before[1] + row["words"])
    assert outcome.unknown == (0, 0)
    assert expected == found
    left = [stats["kept"]["documents"], stats["kept"]["words"]]
    kept = {rerun.config.corpus_stages[-1][0]: tuple(left)} if corpus else {}
    for name, _ in reversed(rerun.config.corpus_stages):
        kept[name] = (left[0], left[1])
        for row in stats["dropped"]:
            if row["stage"] == name:
                left = [left[0] + row["documents"], left[1] + row["words"]]
    assert outcome.passed == tuple(left)
    for estimate in outcome.corpus:
        assert not estimate.exact or estimate.after == kept[estimate.stage]
    groups_agree(outcome, stats, corpus)


def groups_agree(outcome: Answer, stats: Row, corpus: set[str]) -> None:
    """Languages and sources, too."""
    for key, groups in (("language", outcome.languages), ("source", outcome.sources)):
        for group in groups:
            kept = [row for row in stats["kept_by"] if (row[key] or "(not known)") == group.name]
            lost = [
                row for row in stats["dropped"] if (row[key] or "(not known)") == group.name and row["stage"] in corpus
            ]
            for place, name in enumerate(("documents", "words")):
                last = sum(row[name] for row in kept)
                assert group.passed[place] == last + sum(row[name] for row in lost)
                assert not group.exact or group.kept[place] == last


SAMPLE_CHANGES: list[dict[str, dict[str, Any]]] = [
    {"gopher": {"min_words": 30}, "language": {"min_score": 0.5}},
    {"gopher": {"min_words": 240}},
    {"gopher": {"min_words": 0, "min_stop_words": None, "max_duplicate_line_ratio": None}},
    {"language": {"keep": ["en", "de", "fr"]}},
    {"language": {"keep": "all", "min_score": None}},
    {"language": {"keep": ["de"]}},
    {"language": {"min_score": 0.99}, "gopher": {"max_mean_word_length": 4.3}},
    {"gopher": {"min_words": 100_000}},
]


@pytest.mark.parametrize("changes", SAMPLE_CHANGES, ids=str)
def test_a_rerun_of_the_sample_crawl_agrees(changes: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    outcome = WhatIf(sample_run()).ask(changes)
    agrees(outcome, finished(tmp_path, changed(SAMPLE_STAGES, changes), str(ROOT / "sample_crawl" / "*.warc*")))


WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "en", "ist")]


def crawl(draw: random.Random, documents: int) -> list[Row]:
    """Pages of many lengths, a part of them copies of others, changed a little or not at all; three languages."""
    made: list[Row] = []
    for number in range(documents):
        if made and draw.random() < 0.6:
            words = draw.choice(made[-40:])["text"].split()
            for _ in range(draw.choice([0, 0, 1, 2, 4])):
                at = draw.randrange(len(words))
                words[at : at + draw.choice([0, 1, 2])] = [draw.choice(WORDS)]
        else:
            words = [draw.choice(WORDS) for _ in range(draw.randrange(20, 80))]
        made.append(
            {"text": " ".join(words), "language": draw.choice(["en", "en", "de", "xx"]), "url": f"http://a/{number}"}
        )
    return made


EASY = {
    "min_stop_words": None,
    "min_alphabetic_word_ratio": None,
    "min_mean_word_length": None,
    "languages": None,
    "max_top_2_gram_ratio": None,
    "max_top_3_gram_ratio": None,
    "max_top_4_gram_ratio": None,
    **{f"max_duplicate_{n}_gram_ratio": None for n in range(5, 11)},
}
NEAR: list[Row] = [{"near_dedup": more} for more in ({}, {"keep": "longest"}, {"cluster": "component"})]


@pytest.mark.parametrize("seed", range(6))
def test_reruns_of_crawls_full_of_copies_agree_where_that_is_said(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    first, second = crawl(draw, 120), crawl(draw, 60)
    source = {"a": {"path": pages(tmp_path, first), "columns": {"language": "string"}, "url": "url"}}
    (tmp_path / "b").mkdir()
    source["b"] = {**source["a"], "path": pages(tmp_path / "b", [*second, *first[:20]])}
    stages: list[Any] = [{"gopher": {**EASY, "min_words": 40}}, "exact_dedup", NEAR[seed % len(NEAR)]]
    asked = WhatIf(finished(tmp_path, stages, source))
    for number, least in enumerate((0, 30, 39, 40, 41, 45, 60, 75)):
        changes = {"gopher": {"min_words": least}}
        outcome = asked.ask(changes)
        rerun = finished(tmp_path / str(number), changed(stages, changes), source)
        agrees(outcome, rerun)
        assert outcome.corpus[0].exact or least < 40  # equal texts that come no more are told exactly
        kept = rerun.stats["kept"]["documents"]
        assert abs(outcome.corpus[-1].after[0] - kept) <= max(4, 0.2 * kept), "an estimate far off"


def test_the_first_copy_takes_the_place_of_a_page_that_is_gone() -> None:
    """Of the sample run's copies one each comes back when the pages that they were dropped for come no more."""
    run = sample_run()
    recorded = Recorded.of(run)
    twin = twins(run, recorded)
    held = np.unique(twin[twin >= 0])
    passed = recorded.passed.copy()
    passed[held] = False
    everything = np.zeros(len(recorded), np.int64)
    found = estimates(recorded, twin, recorded.words, everything, 1, passed, np.zeros(len(recorded), np.bool_))
    orphans = {int(t) for t, stage in zip(twin, recorded.stage) if t >= 0 and recorded.stages[stage] == "exact_dedup"}
    assert found[0].exact and found[0].after[0] == found[0].before[0] - len(held) + len(orphans)
    assert not found[1].exact and found[1].groups == (found[1].after,)


def test_the_same_limits_give_the_run_itself() -> None:
    run = sample_run()
    outcome = WhatIf(run).ask({"gopher": {"min_words": 50}})
    assert all(before == after for _, _, before, after in outcome.dropped)
    assert outcome.passed == outcome.passed_before
    assert outcome.corpus[-1].exact and outcome.corpus[-1].after[0] == run.stats["kept"]["documents"]
    agrees(outcome, run)


def test_a_stage_that_edits_text_has_its_words_before_and_after(tmp_path: Path) -> None:
    draw = random.Random(7)
    made = crawl(draw, 80)
    for row in made:
        words = row["text"].split()
        row["text"] = "\n".join(" ".join(words[i : i + 6]) + draw.choice([".", ""]) for i in range(0, len(words), 6))
    source = {"path": pages(tmp_path, made), "columns": {"language": "string"}}
    stages: list[Any] = [
        {"fineweb": {"languages": None, "min_end_mark_line_ratio": 0.4}},
        {"c4": {"languages": None, "min_sentences": 3}},
        {"gopher": {**EASY, "min_words": 15}},
    ]
    asked = WhatIf(finished(tmp_path, stages, source))
    for number, changes in enumerate(
        (
            {"fineweb": {"min_end_mark_line_ratio": 0.1}},
            {"c4": {"min_sentences": 6}},
            {"fineweb": {"min_end_mark_line_ratio": 0.6}, "gopher": {"min_words": 30}, "c4": {"min_sentences": None}},
        )
    ):
        agrees(asked.ask(changes), finished(tmp_path / str(number), changed(stages, changes), source))


def test_a_text_of_nothing_passes_no_limits(tmp_path: Path) -> None:
    rows = [{"text": text} for text in ("one two three four", "", " \n", "one")]
    stages: list[Any] = [{"gopher": {**EASY, "min_words": 2}}]
    asked = WhatIf(finished(tmp_path, stages, {"path": pages(tmp_path, rows)}))
    for number, least in enumerate((None, 0, 1, 5)):
        changes = {"gopher": {"min_words": least}}
        rerun = finished(tmp_path / str(number), changed(stages, changes), {"path": pages(tmp_path, rows)})
        agrees(asked.ask(changes), rerun)


def test_pages_that_a_stage_did_not_see_are_not_known(tmp_path: Path) -> None:
    rows = [{"text": "one two three", "url": f"http://{host}.example/"} for host in ("good", "bad", "worse")]
    source = {"path": pages(tmp_path, rows), "url": "url"}
    (tmp_path / "soft").write_text("bad\nworse\n")
    url_filter = {"soft_words_file": str(tmp_path / "soft"), "max_soft_words": 0}
    stages: list[Any] = [{"url_filter": url_filter}, "tests.together:Reversing", {"gopher": {**EASY, "min_words": 1}}]
    run = finished(tmp_path, stages, source)
    outcome = WhatIf(run).ask({"url_filter": {"max_soft_words": 1}})
    assert outcome.unknown[0] == 2 and outcome.passed[0] == 1
    assert "not known: 2 pages" in "\n".join(answer_lines(outcome))


def test_without_measures_after_a_drop_later_verdicts_are_not_known(tmp_path: Path) -> None:
    rows = [{"text": "one two three four"}, {"text": "one"}]
    c4 = {"languages": None, "min_sentences": 1, "min_line_words": 1, "require_end_mark": False}
    stages: list[Any] = [{"gopher": {**EASY, "min_words": 2}}, {"c4": c4}]
    run = finished(tmp_path, stages, pages(tmp_path, rows), measure_dropped=False)
    outcome = WhatIf(run).ask({"gopher": {"min_words": 1}})
    assert (outcome.passed[0], outcome.unknown[0]) == (1, 1)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gopher.min_wrods=3", "did you mean 'min_words'"),
        ("gophr.min_words=3", "did you mean 'gopher'"),
        ("gopher.profile=dclm", "changes what is measured"),
        ("near_dedup.threshold=0.7", "compares documents"),
        ("extract.mode=fast", "changes what is measured"),
        ("min_wrods=3", "no stage of the run has an option 'min_wrods', did you mean 'min_words'"),
        ("min_words", "give STAGE.OPTION=VALUE"),
        ("threshold=0.7", "near_dedup compares documents"),
        ("gopher.min_words=many", "integer"),
        ("gopher.min_words=-1", "greater than or equal"),
    ],
)
def test_what_can_not_be_told_is_refused_with_the_reason(word: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_changes(sample_run().config, [word])


def test_twins_are_those_of_the_ledger() -> None:
    run = sample_run()
    recorded = Recorded.of(run)
    twin = twins(run, recorded)
    copies = sum(row["documents"] for row in run.stats["dropped"] if row["stage"] in ("exact_dedup", "near_dedup"))
    assert int((twin >= 0).sum()) == copies
    assert (recorded.key[1:] > recorded.key[:-1]).all()
    assert redecide(recorded, {}).passed.sum() == recorded.passed.sum()
