"""The path of a page says what the truth says, stage by stage."""

import json
from pathlib import Path
from typing import Any

import pytest

from curate.document import Address, Document
from curate.errors import UserError
from curate.inspect.limits import absence
from curate.inspect.lookup import find
from curate.inspect.opened import OpenedRun
from curate.inspect.path import DROPPED, MEASURED, PASSED, UNREACHED, PagePath, page_path
from curate.inspect.path_text import path_lines, verdict
from curate.inspect.reopen import Gone, Reopened, text_by_belt, title
from stages.gopher import PROFILES, Gopher
from tests.report.finished import finished, pages, sample_run, truth

KINDS = {row["kind"]: row for row in truth()}


def path_of(run: OpenedRun, place: str) -> PagePath:
    (found,) = find(run, place)
    return page_path(run, found)


@pytest.mark.parametrize("row", KINDS.values(), ids=KINDS.keys())
def test_a_page_of_each_kind_is_found_by_its_address(row: dict[str, Any]) -> None:
    run = sample_run()
    path = path_of(run, f"{row['file']}:{row['offset']}")
    drops = [f"{station.stage}.{station.reason}" for station in path.stations if station.verdict == DROPPED]
    assert drops == ([] if row["expect"] == "kept" else [row["expect"]])
    assert [station.stage for station in path.stations][-len(run.options) :] == list(run.options)
    assert len(path_lines(path, run.options)) > len(run.options)


def test_a_url_finds_the_same_page_as_its_address() -> None:
    row = KINDS["near_words"]
    run = sample_run()
    for place in (row["url"], row["record_id"], row["record_id"].strip("<>")):
        assert [found.offset for found in find(run, place)] == [row["offset"]]


def test_stages_before_the_drop_passed_and_those_after_measured_or_were_not_reached() -> None:
    path = path_of(sample_run(), KINDS["language_fr"]["url"])
    verdicts = {station.stage: station.verdict for station in path.stations}
    assert verdicts == {
        "read": PASSED,
        "extract": PASSED,
        "language": DROPPED,
        "gopher": MEASURED,
        "exact_dedup": UNREACHED,
        "near_dedup": UNREACHED,
    }


def test_measures_stand_with_the_limits_of_the_run() -> None:
    run = sample_run()
    path = path_of(run, KINDS["cookie_notice"]["url"])
    gopher = next(station for station in path.stations if station.stage == "gopher")
    words = next(measure for measure in gopher.measures if measure.name == "words")
    assert [str(limit) for limit in words.limits] == ["min_words 50", "max_words 100000"]
    assert [limit.field for limit in words.broken] == ["min_words"] and words.value < 50
    assert verdict(path, run.options) == f"dropped by gopher: too_few_words, words {words.value} where min_words is 50"


def test_a_drop_for_a_word_is_told_by_the_word() -> None:
    run = sample_run()
    path = path_of(run, KINDS["language_de"]["url"])
    assert "language de where keep is en" in verdict(path, run.options)


def test_a_duplicate_names_its_twin_and_the_twin_its_copies() -> None:
    run = sample_run()
    for kind in ("near_words", "exact_copy"):
        copy = path_of(run, KINDS[kind]["url"])
        assert copy.twin and copy.twin.score and copy.twin.score >= 0.8 and copy.twin.fate == "kept"
        twin = path_of(run, f"{copy.twin.file}:{copy.twin.offset}")
        assert twin.kept and copy.found.offset in {other.offset for other in twin.copies}
        assert twin.copies_in_all >= 1


def test_an_offset_within_damage_finds_the_damage() -> None:
    row = KINDS["damaged"]
    path = path_of(sample_run(), f"{row['file']}:{row['offset'] + 5}")
    assert path.found.offset == row["offset"]
    assert "damaged" in verdict(path, sample_run().options)


def test_a_page_that_was_never_read_is_told_with_what_is_near() -> None:
    with pytest.raises(UserError, match=r"read no page .* it read https://errors\.example/\d"):
        find(sample_run(), "https://errors.example/499")
    with pytest.raises(UserError, match="the nearest are at"):
        find(sample_run(), "sample-00000.warc.gz:1")


def test_titles_and_texts_come_from_the_input() -> None:
    run = sample_run()
    (found,) = find(run, KINDS["cookie_notice"]["url"])
    document = Reopened(run).document(found.file, found.offset)
    assert title(document) == "Cookie notice"
    assert len(text_by_belt(run, document, "gopher").split()) == 36


def test_an_input_that_is_gone_or_has_changed_is_said(tmp_path: Path) -> None:
    rows = [{"text": "the words of a page and that of others", "url": "http://a.example/"}]
    run = finished(tmp_path, ["gopher"], {"path": pages(tmp_path, rows), "url": "url"})
    (found,) = find(run, "http://a.example/")
    assert Reopened(run).document(found.file, found.offset).url == "http://a.example/"
    Path(found.file).write_text(json.dumps(rows[0]) + "\n\n")
    with pytest.raises(Gone, match="has 80 bytes now, 79 when"):
        Reopened(run).document(found.file, found.offset)
    Path(found.file).unlink()
    with pytest.raises(Gone, match="is not to be found"):
        Reopened(run).document(found.file, found.offset)


def test_a_page_on_which_a_stage_failed_has_a_path(tmp_path: Path) -> None:
    rows = [{"text": "boom", "url": "http://a.example/1"}, {"text": "a b c", "url": "http://a.example/2"}]
    source = {"path": pages(tmp_path, rows), "url": "url"}
    run = finished(tmp_path, ["language", "tests.report.odd_stages:Brittle"], source, max_failed=1.0)
    failed = path_of(run, "http://a.example/1")
    assert failed.found.row["stage"] in ("language", "tests.report.odd_stages:Brittle")
    only = finished(tmp_path / "only", ["tests.report.odd_stages:Brittle"], source, max_failed=1.0)
    failed, kept = path_of(only, "http://a.example/1"), path_of(only, "http://a.example/2")
    assert verdict(failed, only.options) == "dropped by tests.report.odd_stages:Brittle: failed (ValueError: met boom)"
    assert kept.kept and kept.stations[-1].measures[0].value == 5


def test_a_page_read_twice_has_two_paths(tmp_path: Path) -> None:
    rows = [{"text": "one " * 3, "url": "http://a.example/"}, {"text": "two " * 3, "url": "http://a.example/"}]
    run = finished(tmp_path, ["exact_dedup"], {"path": pages(tmp_path, rows), "url": "url"})
    assert [found.offset for found in find(run, "http://a.example/")] == [0, 53]


def test_a_measure_that_a_page_lacks_says_why() -> None:
    row = KINDS["near_words"]
    text = "\n".join(path_lines(path_of(sample_run(), row["url"]), sample_run().options))
    assert "-        max_symbol_ratio 0.1 (this profile counts hashes and ellipses apart)\n" in text


@pytest.mark.parametrize("profile", PROFILES)
def test_each_measure_that_gopher_may_lack_has_its_reason(profile: Any) -> None:
    for text in ("two words", "one line of words\n" * 20):
        measured = Gopher(profile=profile).measure(Document(Address("", "", 0), text=text))
        lacking = {name for name, value in measured.items() if value is None}
        assert lacking <= Gopher.absent.keys()
        assert not any("not taken" in absence("gopher", name) for name in lacking)


def test_a_stage_that_does_not_say_why_or_is_gone() -> None:
    assert absence("extract", "x") == absence("no_such_stage", "x") == "not taken of this page"
