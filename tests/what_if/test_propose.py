"""Limits proposed from quantiles: they keep what was asked for, and are chosen and judged on different pages."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import yaml

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.inspect.recorded import Recorded
from curate.what_if.propose import _half, _rounded, plain, propose
from tests.report.finished import call, finished, pages

PAGES = 1_500


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> OpenedRun:
    """Pages of 10 to 1,000 words, all as likely, none with a stop word; a tenth in another language."""
    folder, draw = tmp_path_factory.mktemp("propose"), random.Random(4)
    rows = [
        {
            "text": " ".join("x" * draw.randint(1, 9) for _ in range(draw.randint(10, 1_000))),
            "language": "de" if draw.random() < 0.1 else "en",
        }
        for _ in range(PAGES)
    ]
    off = dict.fromkeys(("min_stop_words", "max_hash_ratio", "min_alphabetic_word_ratio"))
    source = {"pages": {"path": pages(folder, rows), "columns": ["language"]}}
    gopher = {**off, "min_words": 20, "max_words": 990, "min_mean_word_length": 1}
    return finished(folder, [{"gopher": gopher}, {"where": {"keep": "language = 'en'"}}], source)


def test_each_limit_keeps_the_share_alone_within_what_chance_allows(run: OpenedRun) -> None:
    proposed = propose(Recorded.of(run), 0.8)
    words = {one.option: one for one in proposed.proposals if one.option in ("min_words", "max_words")}
    assert 600 < proposed.pages < 800  # half of the nine tenths that no language dropped
    for one in words.values():  # two sides: a tenth each, standard deviation 1.2 %
        assert abs(one.drops / proposed.pages - 0.1) < 0.05
    assert 80 < words["min_words"].proposed < 140 and 880 < words["max_words"].proposed < 930
    assert all(float(one.proposed).is_integer() for one in words.values())


def test_together_they_keep_the_share(run: OpenedRun) -> None:
    alone, together = propose(Recorded.of(run), 0.8), propose(Recorded.of(run), 0.8, together=True)
    assert alone.kept / alone.pages < 0.7
    assert abs(together.kept / together.pages - 0.8) < 0.06


def test_rules_that_are_off_or_say_nothing_are_left_out(run: OpenedRun) -> None:
    options = {one.option for one in propose(Recorded.of(run), 0.9).proposals}
    assert not options & {"min_stop_words", "max_hash_ratio", "min_alphabetic_word_ratio"}  # off
    assert "max_bullet_line_ratio" not in options  # 0 on every page


def test_the_lines_are_a_config_that_what_if_agrees_with(run: OpenedRun) -> None:
    done = call("propose", run.folder, "--keep", 0.9, "--stage", "gopher")
    lines, _, table = done.output.partition("\n\n")
    options = yaml.safe_load(lines)["stages"][0]["gopher"]
    proposed = json.loads(call("propose", run.folder, "--keep", 0.9, "--stage", "gopher", "--json").output)
    assert options == {one["option"]: one["proposed"] for one in proposed["proposals"]}
    changes = [f"gopher.{option}={plain(value)}" for option, value in options.items()]
    asked = json.loads(call("what-if", run.folder, *changes, "--json").output)
    both = sum(row["kept"] for row in (proposed,)) / proposed["pages"]
    assert (
        abs(asked["passed"][0] / (asked["passed_before"][0] or 1) - both / (proposed["kept_now"] / proposed["pages"]))
        < 0.05
    )
    assert "all together" in table and "judged on the other" in table


def test_halves_are_about_equal_and_do_not_follow_the_order() -> None:
    half = _half(np.arange(10_000) * 7919)
    assert abs(half.mean() - 0.5) < 0.02 and abs(half[::2].mean() - 0.5) < 0.03


@pytest.mark.parametrize(
    ("value", "sign", "whole", "limit"),
    [
        (0.12345, 1, False, 0.124),
        (0.12345, -1, False, 0.123),
        (1234.0, 1, True, 1240),
        (52.0, -1, True, 52),
        (0, 1, True, 0),
    ],
)
def test_limits_are_rounded_to_the_side_that_drops_less(value: float, sign: int, whole: bool, limit: float) -> None:
    assert _rounded(value, sign, whole) == limit


def test_what_can_not_be_told_is_told_why(run: OpenedRun, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--stage: the run measured nothing by 'goopher', did you mean 'gopher'"):
        propose(Recorded.of(run), 0.9, stages=("goopher",))
    with pytest.raises(UserError, match="no rule with a number"):
        propose(Recorded.of(run), 0.9, stages=("where",))
