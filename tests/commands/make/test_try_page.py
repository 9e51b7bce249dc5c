"""`curate try`: one page on the belt gets the verdict that a run gives it."""

import json
from pathlib import Path

import pytest

from curate.errors import UserError
from curate.inspect.opened import OpenedRun
from curate.tools.trial import against, page_at
from tests.report.finished import ROOT, call, finished, pages, sample_run, truth

KINDS = {row["kind"]: row for row in truth()}
SAMPLE = ROOT / "sample_crawl"
DOCUMENT_KINDS = {
    kind: row for kind, row in KINDS.items() if not row["expect"].startswith(("exact_dedup", "near_dedup"))
}


@pytest.mark.parametrize("row", DOCUMENT_KINDS.values(), ids=DOCUMENT_KINDS.keys())
def test_the_verdict_is_that_of_the_truth(row: dict[str, str]) -> None:
    trial = json.loads(call("try", sample_run().folder, f"{SAMPLE / row['file']}:{row['offset']}", "--json").output)
    dropped = [f"{stage['stage']}.{stage['reason']}" for stage in trial["stages"] if stage["verdict"] == "dropped"]
    assert dropped == ([] if row["expect"] == "kept" else [row["expect"]])
    assert trial["dropped"] == bool(dropped)


@pytest.mark.parametrize("kind", ["exact_copy", "near_words", "chain_near"])
def test_a_copy_is_found_among_the_kept_documents(kind: str) -> None:
    run, row = sample_run(), KINDS[kind]
    trial = json.loads(
        call("try", run.folder, f"{row['file']}:{row['offset']}", "--against", run.folder, "--json").output
    )
    stage, _, reason = row["expect"].partition(".")
    found = next(one for one in trial["resembles"] if one["stage"] == stage)
    assert found["reason"] == reason and found["compared"] == run.stats["kept"]["documents"]
    text = call("try", run.folder, f"{row['file']}:{row['offset']}", "--against", run.folder).output
    assert f"verdict  dropped by {stage}: {reason}" in text


def test_a_kept_page_is_not_its_own_copy() -> None:
    run, row = sample_run(), KINDS["article"]
    document = page_at(run.config, f"{row['file']}:{row['offset']}").document
    assert document is not None
    assert [one.reason for one in against(run.config, document, run)] == [None, None]


def test_pages_are_named_by_url_file_or_standard_input(tmp_path: Path) -> None:
    row = KINDS["cookie_notice"]
    by_url = call("try", sample_run().folder, f"{SAMPLE / row['file']}#{row['url']}").output
    assert "words 36 where min_words is 50" in by_url and "title    Cookie notice" in by_url
    page = tmp_path / "page.html"
    page.write_bytes(page_at(sample_run().config, f"{row['file']}:{row['offset']}").document.html or b"")  # type: ignore[union-attr]
    assert "words 36 where min_words is 50" in call("try", ROOT / "configs" / "sample.yaml", page).output
    assert call("try", sample_run().folder, page, "--html").output.encode() == page.read_bytes()
    (tmp_path / "page.txt").write_text("few words")
    assert "words 2 where min_words is 50" in call("try", sample_run().folder, tmp_path / "page.txt").output


def test_damage_is_named_by_file_and_offset() -> None:
    row = next(row for row in truth() if row["expect"] == "read.damaged")
    output = call("try", sample_run().folder, f"{row['file']}:{row['offset']}").output
    assert output.startswith(f"page     {SAMPLE / row['file']}:{row['offset']}\nverdict  dropped by read: damaged")


def test_pages_that_are_not_there_are_said(tmp_path: Path) -> None:
    file = KINDS["article"]["file"]
    cases = {
        f"{file}:1": "no page starts here",
        f"{file}#http://no/": "has that URL",
        SAMPLE / file: "is no page; one record",
        "none.html": "can't be read",
        "none.warc.gz:0": "there is no such file",
    }
    for place, message in cases.items():
        with pytest.raises(UserError, match=message):
            call("try", sample_run().folder, place)


def test_a_run_with_nothing_kept_has_nothing_alike(tmp_path: Path) -> None:
    source = {"path": pages(tmp_path, [{"text": "few words", "url": "http://a.example/"}]), "url": "url"}
    empty: OpenedRun = finished(tmp_path, [{"gopher": {"min_words": 99}}, "exact_dedup"], source)
    row = KINDS["article"]
    ended = call("try", sample_run().folder, f"{row['file']}:{row['offset']}", "--against", empty.folder)
    assert ended.exit_code == 0 and "needs the other documents" in ended.output
