"""`curate stats` as a person calls it."""

import csv
import json
from pathlib import Path

from tests.report.finished import ROOT, call, sample_run


def test_text_json_and_csv_say_the_same() -> None:
    out = sample_run().folder
    content = json.loads(call("stats", out, "--json").output)
    table = list(csv.DictReader(call("stats", out, "--csv").output.splitlines()))
    assert [(row["stage"], row["reason"], row["dropped"]) for row in table] == [
        (row["stage"], row["reason"] or "", "" if row["dropped"] is None else str(row["dropped"]))
        for row in content["rows"]
    ]
    text = call("stats", out).output
    for row in content["rows"]:
        assert (row["reason"] or row["stage"]) in text


def test_groups_are_cut_in_text_alone() -> None:
    out = sample_run().folder
    rows = json.loads(call("stats", out, "--by", "domain", "--json").output)["rows"]
    text = call("stats", out, "--by", "domain", "--top", 2).output.splitlines()
    assert len(text) == 4 and text[-1].startswith(f"and {len(rows) - 2} more")


def test_a_price_is_told_for_a_million_tokens() -> None:
    out = sample_run().folder
    assert "for a million kept tokens (estimated)" in call("stats", out, "--price", "0.04").output
    assert "dollars_per_million_kept_tokens" in json.loads(call("stats", out, "--price", 0.04, "--json").output)


def test_a_trial_run_is_not_told_as_a_whole_one(tmp_path: Path) -> None:
    config, out = tmp_path / "config.yaml", tmp_path / "out"
    config.write_text(f"input: {ROOT}/sample_crawl/*.warc\noutput: {out}\nstages: [extract, gopher]\n")
    assert call("run", config, "--limit", 3, "--quiet", "--executor", "serial", "--allow-empty").exit_code == 0
    for more in ([], ["--by", "language"]):
        assert call("stats", out, *more).output.startswith("a trial run: --limit 3\n")
        assert "trial" not in call("stats", sample_run().folder, *more).output
    assert json.loads(call("stats", out, "--json").output)["limit"] == 3
    assert call("report", out).exit_code == 0
    assert "Of 3 pages read in a trial run (--limit 3)," in (out / "report.html").read_text(encoding="utf-8")
