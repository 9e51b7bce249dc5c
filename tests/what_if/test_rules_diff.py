"""Where two sets of rules disagree: from the records and from pages read again, with the same answer."""

import json
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.what_if.rules_diff import _parts, difference, side
from tests.report.finished import call, finished, pages, sample_run

OTHER = "gopher.min_words=30,language.min_score=0.5"


def test_the_records_answer_for_limits_as_what_if_does() -> None:
    run = sample_run()
    answer = difference(run, side(run, "run"), side(run, OTHER), 500)
    asked = json.loads(call("what-if", run.folder, *OTHER.split(","), "--json").output)
    assert answer.from_records and not answer.only_a
    assert sum(count for _, count in answer.only_b) == asked["passed"][0] - asked["passed_before"][0] > 0
    assert answer.both_keep == asked["passed_before"][0]


def test_pages_read_again_give_the_same_answer_as_the_records() -> None:
    run = sample_run()
    answer = difference(run, side(run, "run"), side(run, OTHER), 10_000)
    by_profile = side(run, f"{OTHER},gopher.stop_words=[the, be, to, of, and, that, have, with, zzz]")
    again = difference(run, side(run, "run"), by_profile, 10_000)
    assert not again.from_records
    assert (again.only_a, again.only_b, again.both_keep) == (answer.only_a, answer.only_b, answer.both_keep)


def test_two_profiles_disagree_where_one_counts_what_the_other_does_not(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    rows = [{"text": f"The Of {words}"}, {"text": f"the of {words}"}, {"text": words}]
    run = finished(tmp_path, ["gopher"], pages(tmp_path, rows))
    answer = difference(run, side(run, "run"), side(run, "gopher.profile=datatrove"), 3)
    assert answer.only_a == (("gopher: too_few_stop_words", 1),) and answer.both_keep == answer.both_drop == 1
    assert answer.examples[0].b.value == 0 and answer.examples[0].b.limit == 2


def test_a_sample_is_drawn_and_the_same_each_time(tmp_path: Path) -> None:
    run = finished(tmp_path, ["gopher"], pages(tmp_path, [{"text": f"the of {number}"} for number in range(50)]))
    one, two = (difference(run, side(run, "run"), side(run, "gopher.profile=dolma"), 20) for _ in range(2))
    assert one == two and one.pages == 20


def test_a_config_file_and_a_recipe_are_sides(tmp_path: Path) -> None:
    run = finished(tmp_path, ["gopher"], pages(tmp_path, [{"text": "the of"}]))
    path = tmp_path / "other.yaml"
    path.write_text("input: none.jsonl\noutput: o/\nstages: [fineweb]\n")
    answer = difference(run, side(run, str(path)), side(run, "dedup-only", ("url_dedup",)), 5)
    assert answer.pages == 1


def test_the_command_prints_both_counts_and_reasons() -> None:
    done = call("rules", "diff", "run", OTHER, "--on", sample_run().folder)
    assert "a: run" in done.output and "b keeps what a drops for" in done.output
    assert "gopher: too_few_words" in done.output and "from what it recorded" in done.output


def test_values_may_hold_commas() -> None:
    assert list(_parts("a.b=[x, y],c.d=1,e.f={g: 1, h: 2}")) == ["a.b=[x, y]", "c.d=1", "e.f={g: 1, h: 2}"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("finewep", "no recipe 'finewep', did you mean 'fineweb'"),
        ("goopher.min_words=3", "the run has no stage 'goopher', did you mean 'gopher'"),
        ("gopher.min_words", "no recipe"),
        ("min_words=3", "give STAGE.OPTION=VALUE"),
        ("gopher.min_words=many", "min_words"),
    ],
)
def test_what_names_nothing_is_told(word: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        side(sample_run(), word)


def test_pages_that_are_gone_are_told(tmp_path: Path) -> None:
    source = pages(tmp_path, [{"text": "the of"}])
    run = finished(tmp_path, ["gopher"], source)
    Path(source).unlink()
    with pytest.raises(UserError, match="not to be found"):
        difference(run, side(run, "run"), side(run, "gopher.profile=dolma"), 5)
