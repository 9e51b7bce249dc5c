"""Pairs whose order is known come out in it, outside the intervals; halves of one run do not differ."""

import json
from pathlib import Path

import numpy as np
import pytest

from curate.compare.closeness import PRIOR, UNSEEN, TargetGrams, TrigramModel
from curate.compare.compare import ComparedMeasure, compare
from curate.compare.n_grams import SampleTokens
from curate.compare.sample import Sample, halves, sample
from curate.compare.variety import near_copies
from curate.errors import UserError
from tests.compare.texts_made import chained, near, shuffled, write
from tests.engine import run_it, settings
from tests.report.finished import call

ENOUGH = 60_000
GOOD = chained(300, seed=1)


def compared(tmp_path: Path, a: list[str], b: list[str], seed: int = 0) -> dict[str, ComparedMeasure]:
    target = write(tmp_path / "target.jsonl", chained(150, seed=99))
    paths = write(tmp_path / "a.jsonl", a), write(tmp_path / "b.jsonl", b)
    one, other = (sample(path, ENOUGH, seed) for path in paths)
    return {row.measure: row for row in compare(one, other, sample(target, ENOUGH, seed))}


def verdicts(rows: dict[str, ComparedMeasure]) -> dict[str, str]:
    return {name: row.verdict for name, row in rows.items()}


def test_a_curated_run_is_closer_to_the_target_than_its_input(tmp_path: Path) -> None:
    other = chained(300, seed=2, chain=7)
    found = verdicts(compared(tmp_path, [*GOOD[:150], *other[:150]], GOOD[:150]))
    assert found["KL to the target"] == found["target's perplexity"] == "b"


def test_shuffled_words_are_further_away(tmp_path: Path) -> None:
    found = verdicts(compared(tmp_path, GOOD, shuffled(chained(300, seed=3), 1)))
    assert found["KL to the target"] == found["target's perplexity"] == "a"


def test_twice_the_copies_are_found_and_shrink(tmp_path: Path) -> None:
    other = chained(300, seed=4)
    found = verdicts(compared(tmp_path, [*GOOD, *GOOD[:60]], [*other, *other[:120]]))
    assert found["exact copies"] == found["distinct trigrams"] == found["compressed size"] == "a"


def test_near_copies_are_found(tmp_path: Path) -> None:
    other = chained(150, seed=4)
    found = compared(tmp_path, GOOD, [*other, *(near(text, number) for number, text in enumerate(other))])
    assert found["near copies"].verdict == "a" and found["near copies"].b == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_two_halves_of_one_run_do_not_differ(seed: int, tmp_path: Path) -> None:
    texts = chained(400, seed=10 + seed)
    texts += [near(text, number) for number, text in enumerate(texts[:40])] + texts[40:80]
    found = verdicts(compared(tmp_path, texts[::2], texts[1::2], seed))
    assert set(found.values()) == {"none"}


def test_the_same_data_differs_in_nothing(tmp_path: Path) -> None:
    for row in compared(tmp_path, GOOD, GOOD).values():
        assert row.a == row.b and row.low == row.high == 0


def test_samples_do_not_follow_the_order_and_hold_all_copies_of_a_text(tmp_path: Path) -> None:
    texts = [*GOOD, *GOOD[:100]]
    one = sample(write(tmp_path / "one.jsonl", texts), 5_000, 0)
    assert one == sample(write(tmp_path / "other.jsonl", texts[::-1]), 5_000, 0)
    assert one != sample(write(tmp_path / "one.jsonl", texts), 5_000, 1)
    assert 5_000 <= one.words < 5_000 + 2 * 120
    many = {text.text: text.copies for text in sample(write(tmp_path / "one.jsonl", texts), 10**9, 0).texts}
    assert many == {text: 1 + (text in GOOD[:100]) for text in GOOD}


def test_equal_texts_fall_into_the_same_halves(tmp_path: Path) -> None:
    one = sample(write(tmp_path / "one.jsonl", GOOD), ENOUGH, 0)
    other = sample(write(tmp_path / "other.jsonl", GOOD[:150]), ENOUGH, 0)
    chosen = {text.key for text, weight in zip(one.texts, halves(one, 3)) if weight}
    assert {text.key for text, weight in zip(other.texts, halves(other, 3)) if weight} == chosen & {
        text.key for text in other.texts
    }
    assert 100 < len(chosen) < 200  # of 300: half, and six standard deviations


def test_the_language_model_is_the_formula(tmp_path: Path) -> None:
    def tokens(*texts: str) -> SampleTokens:
        return SampleTokens.of(sample(write(tmp_path / "t.jsonl", list(texts)), ENOUGH, 0))

    target = TargetGrams(tokens("u v w"))
    model = TrigramModel(tokens("u v w u v x"), target, 5)
    single = (1 + UNSEEN) / (6 + UNSEEN * 5)
    double = (1 + PRIOR * single) / (2 + PRIOR)
    triple = (1 + PRIOR * double) / (2 + PRIOR)
    assert model.surprise(np.ones(1)) == pytest.approx([-np.log(triple)])
    assert model.perplexity(np.ones(1), np.ones(1)) == pytest.approx(1 / triple)


def test_near_copies_are_told_by_their_shingles(tmp_path: Path) -> None:
    texts = [GOOD[0], near(GOOD[0], 1), GOOD[1], "too short for a shingle"]
    some = sample(write(tmp_path / "t.jsonl", texts), ENOUGH, 0)
    found = near_copies(SampleTokens.of(some))
    assert found.sum() == 1 and some.texts[int(np.flatnonzero(found)[0])].text in texts[:2]


def test_the_command_compares_runs_with_their_languages(tmp_path: Path) -> None:
    lines = chained(80, seed=5)
    for name, some in (("a", lines[:40]), ("b", lines[40:])):
        path = write(tmp_path / f"{name}.in.jsonl", some, language=["de", "en"][name == "b"])
        source = {"crawl": {"path": path, "columns": ["language"]}}
        run_it(settings(source, tmp_path / name, stages=["exact_dedup"]))
    target = write(tmp_path / "target.jsonl", chained(20, seed=9))
    done = call("compare", tmp_path / "a", tmp_path / "b", "--target", target, "--json")
    rows = {row["measure"]: row for row in json.loads(done.output)}
    assert rows["language en"]["verdict"] == rows["language de"]["verdict"] == "other"
    shown = call("compare", tmp_path / "a", tmp_path / "b", "--target", target).output
    assert "no difference" in shown and "they differ" in shown and "KL to the target" in shown


@pytest.mark.parametrize(
    ("line", "fault"),
    [("", "holds no text"), ("{", "is no JSONL"), ('{"body": "x"}', "has no 'text'"), (None, "no such file")],
)
def test_what_is_no_text_is_refused(line: str | None, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    if line is not None:
        path.write_text(line)
    with pytest.raises(UserError, match=fault):
        sample(str(path), ENOUGH, 0)


def test_samples_are_cut_to_the_words_of_the_smaller(tmp_path: Path) -> None:
    whole = sample(write(tmp_path / "t.jsonl", GOOD), ENOUGH, 0)
    assert whole.first(1200) == Sample(whole.texts[:10])  # texts of 120 words
    assert whole.first(1) == Sample(whole.texts[:1])


def test_a_run_with_a_damaged_shard_is_refused_in_a_sentence(tmp_path: Path) -> None:
    source = {"crawl": {"path": write(tmp_path / "in.jsonl", GOOD[:20])}}
    run_it(settings(source, tmp_path / "out", stages=["exact_dedup"]))
    [shard] = (tmp_path / "out" / "shards").iterdir()
    shard.write_bytes(shard.read_bytes()[:-20])
    with pytest.raises(UserError, match=r"part-00000\.parquet: can't be read \(.*\); run `curate verify"):
        sample(str(tmp_path / "out"), ENOUGH, 0)
