"""`curate what-if` as a person calls it."""

import json

import pytest

from curate.errors import UserError
from tests.report.finished import call, sample_run


def test_text_and_json_say_the_same() -> None:
    out = sample_run().folder
    text = call("what-if", out, "gopher.min_words=30", "language.min_score=0.5").output
    content = json.loads(call("what-if", out, "gopher.min_words=30", "language.min_score=0.5", "--json").output)
    line = next(line for line in text.splitlines() if line.startswith("pass the document stages"))
    assert line.split()[-4:] == [
        f"{content['passed_before'][0]}",
        f"{content['passed'][0]}",
        "+3",
        f"{content['passed'][1]:,}",
    ]
    assert "kept after near_dedup" in text and "15 pages not measured, so still dropped" in text


def test_a_sweep_is_a_table_and_a_curve() -> None:
    out = sample_run().folder
    done = call("what-if", out, "--sweep", "gopher.min_words=20:320:50")
    points = json.loads(call("what-if", out, "--sweep", "gopher.min_words=20:320:50", "--json").output)
    assert [point["value"] for point in points] == [20, 70, 120, 170, 220, 270, 320]
    assert "█" in done.output and done.output.splitlines()[1].split()[0] == "20"


def test_a_question_without_a_change_is_a_usage_error() -> None:
    done = call("what-if", sample_run().folder)
    assert done.exit_code == 2 and "--sweep" in done.output


def test_what_is_no_option_is_not_told_as_one() -> None:
    for word in ("gopher.nothing=3", "gopher.measures=3"):
        with pytest.raises(UserError, match="gopher has no option") as refused:
            call("what-if", sample_run().folder, word)
        assert "known are annotate, profile, languages" in str(refused.value)
