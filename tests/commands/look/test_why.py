"""`curate why` as a person calls it."""

import json
from pathlib import Path

from tests.report.finished import call, finished, pages, sample_run, truth

KINDS = {row["kind"]: row for row in truth()}


def test_a_dropped_page_is_told_with_title_text_and_the_way_to_reopen_it() -> None:
    out = sample_run().folder
    done = call("why", out, KINDS["cookie_notice"]["url"])
    assert done.exit_code == 0
    assert "too_few_words, words 36 where min_words is 50" in done.output
    for line in ("title    Cookie notice", "text     This website uses", f"reopen   curate try {out} "):
        assert line in done.output


def test_a_copy_is_reopened_with_the_documents_it_is_compared_with() -> None:
    out, row = sample_run().folder, KINDS["near_words"]
    reopen = call("why", out, row["url"]).output.rpartition("reopen   curate ")[2].split()
    assert reopen[-2:] == ["--against", str(out)]
    assert f"verdict  dropped by {row['expect'].partition('.')[0]}" in call(*reopen).output


def test_the_text_of_an_unsampled_page_is_made_again() -> None:
    out = sample_run().folder
    kept = call("why", out, KINDS["article"]["url"], "--text").output
    dropped = call("why", out, KINDS["exact_copy"]["url"], "--text").output
    assert len(kept.split()) > 300 and len(dropped.split()) > 300


def test_a_row_without_url_is_found_by_its_id_and_a_url_is_looked_for_first(tmp_path: Path) -> None:
    rows: list[dict[str, object]]
    rows = [{"text": "few words", "id": 7}, {"text": "many more words", "id": "a"}, {"text": "few", "url": "a"}]
    run = finished(tmp_path, [{"gopher": {"min_words": 3}}], {"path": pages(tmp_path, rows), "url": "url"})
    assert "record   7" in call("why", run.folder, "7").output
    assert "page     a" in call("why", run.folder, "a").output


def test_json_has_every_stage_and_limit() -> None:
    row = KINDS["near_words"]
    (page,) = json.loads(call("why", sample_run().folder, row["url"], "--json").output)
    assert [stage["stage"] for stage in page["stages"]] == ["read", *sample_run().options]
    assert not page["kept"] and page["twin"]["fate"] == "kept" and page["title"]
    limits = [limit for stage in page["stages"] for measure in stage["measures"] for limit in measure["limits"]]
    assert {"option": "min_words", "value": 50, "broken": False} in limits


def test_the_terminal_is_safe_from_the_pages(tmp_path: Path) -> None:
    rows = [{"text": "a \x1b[31m red word", "url": "http://a.example/\x1b[2J"}]
    run = finished(tmp_path, ["exact_dedup"], {"path": pages(tmp_path, rows), "url": "url"})
    for more in ((), ("--text",)):
        assert "\x1b" not in call("why", run.folder, "pages.jsonl:0", *more).output


def test_a_large_value_keeps_its_digits(tmp_path: Path) -> None:
    words = "the river and a stone " * 20_100
    run = finished(tmp_path, ["gopher"], pages(tmp_path, [{"text": words, "url": "http://long.example/"}]))
    output = call("why", run.folder, "http://long.example/").output
    assert "too_many_words, words 100,500 where" in output
    assert "too_many_words, 100,500 (limit 100,000)" in call("sample", run.folder).output
