"""`curate sample`: the pages asked for, the same ones for the same seed, with the text that they had."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.inspect.samples import choose
from tests.report.finished import call, finished, pages, sample_run, truth


def drawn(*arguments: object) -> list[dict[str, Any]]:
    done = call("sample", sample_run().folder, "--jsonl", *arguments)
    return [json.loads(line) for line in done.output.splitlines()]


def test_pages_have_the_reason_asked_for() -> None:
    found = drawn("--reason", "too_few_words", "-n", 100)
    expected = {row["url"] for row in truth() if row["expect"] == "gopher.too_few_words"}
    assert {page["url"] for page in found} == expected and len(found) == len(expected)
    assert all(page["origin"] == "samples" and len(page["text"].split()) == page["value"] for page in found)


def test_a_seed_draws_the_same_pages_another_one_others() -> None:
    first, again, other = drawn("-n", 5), drawn("-n", 5), drawn("-n", 5, "--seed", 1)
    assert first == again and [page["url"] for page in first] != [page["url"] for page in other]
    assert drawn("-n", 3) == first[:3]


def test_kept_pages_come_with_their_text() -> None:
    found = drawn("--kept", "-n", 1000)
    assert len(found) == sample_run().stats["kept"]["documents"]
    assert all(page["origin"] == "shards" and page["text"] and page["reason"] is None for page in found)


def test_pages_without_a_text_say_so() -> None:
    found = drawn("--stage", "read", "-n", 100)
    assert found and all(page["text"] is None and page["missing"] == "it had no text yet" for page in found)


def test_texts_that_were_not_stored_are_made_again_or_said_to_be_gone(tmp_path: Path) -> None:
    rows = [{"text": f"few words {number}", "url": f"http://a.example/{number}"} for number in range(9)]
    run = finished(tmp_path, [{"gopher": {"min_words": 9}}], {"path": pages(tmp_path, rows), "url": "url"}, samples=2)
    found = choose(run, 9, 0, False, [], ["too_few_words"])
    assert {page.text for page in found} == {row["text"] for row in rows}
    assert sorted(str(page.origin) for page in found) == ["input"] * 7 + ["samples"] * 2
    shutil.move(tmp_path / "pages.jsonl", tmp_path / "elsewhere")
    found = choose(run, 9, 0, False, [], [])
    assert sum(page.text is None and "is not to be found" in str(page.missing) for page in found) == 7


def test_a_document_written_more_than_once_is_drawn_once(tmp_path: Path) -> None:
    rows = [{"text": f"word number {n}", "url": f"http://a.example/{n}"} for n in range(6)]
    stages = ["tokens", {"mixture": {"weights": {"crawl": 1}, "tokens": 48, "repeat": "rows"}}]
    run = finished(tmp_path, stages, {"path": pages(tmp_path, rows), "url": "url"})
    found = choose(run, 6, 0, True, [], [])
    assert len({page.url for page in found}) == len(found) == 6


def test_what_was_never_dropped_is_refused_with_what_was() -> None:
    with pytest.raises(UserError, match=r"reason 'too_few_wrods'; there are .*too_few_words"):
        call("sample", sample_run().folder, "--reason", "too_few_wrods")
    assert call("sample", sample_run().folder, "--kept", "--stage", "gopher").exit_code == 2


def test_the_terminal_is_safe_from_the_pages(tmp_path: Path) -> None:
    source = pages(tmp_path, [{"text": "a \x1b[31m red word and more"}])
    run = finished(tmp_path, ["exact_dedup"], source)
    assert "\x1b" not in call("sample", run.folder, "--kept").output
