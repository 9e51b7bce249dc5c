"""The belt as a function: `from curate import curate`."""

from pathlib import Path
from typing import Any

import pytest

from curate import CRAWL_SAMPLE, curate
from curate.config.file import parse_config
from curate.errors import UserError
from curate.library import Verdict
from tests.engine import STAGES, run_it, settings, table, text, write_jsonl
from tests.together import CALLS


def test_the_seeds_belt_keeps_two_of_its_seven_pages_and_says_why() -> None:
    verdicts = curate(CRAWL_SAMPLE)
    assert len(verdicts) == len(CRAWL_SAMPLE) == 7
    assert sum(map(bool, verdicts)) == 2
    assert [index for index, verdict in enumerate(verdicts) if verdict.kept] == [0, 6]
    drops = [(verdict.stage, verdict.reason, verdict.matched) for verdict in verdicts if not verdict]
    assert drops[-1][0] == "near_dedup" and drops[-1][2] == 0
    assert {stage for stage, _, _ in drops} == {"language", "gopher", "exact_dedup", "near_dedup"}


def test_a_verdict_reads_as_a_sentence() -> None:
    short, first, copy = curate(["too few words", text(1), text(1)])
    assert str(first) == "kept"
    assert str(copy) == "exact_dedup: exact_duplicate of page 1"
    assert str(short).startswith("language: ") or str(short) == "gopher: too_few_words (3, limit 50)"
    assert str(Verdict("gopher", "too_few_words", 3.0, 50.0)) == "gopher: too_few_words (3, limit 50)"


def test_a_config_as_a_mapping_needs_no_input_and_no_output() -> None:
    config: dict[str, Any] = {"stages": [{"gopher": {"min_words": 5}}, "exact_dedup"]}
    verdicts = curate([text(1), text(2), text(1).upper()], config)
    assert [verdict.kept for verdict in verdicts] == [True, True, False]
    assert verdicts[2].matched == 0 and verdicts[2].score == 1.0
    whole = parse_config({"input": "unused", "output": "unused", **config})
    assert curate([text(1), text(2), text(1).upper()], whole) == verdicts


def test_html_pages_go_through_extract() -> None:
    paragraphs = "".join(f"<p>{text(number)}</p>" for number in range(3))
    page = f"<html><body><nav>Home</nav><article>{paragraphs}</article></body></html>"
    config = {"stages": ["extract", *STAGES]}
    for given in (page, page.encode(), {"html": page}, {"html": page.encode("latin-1"), "charset": "latin-1"}):
        (verdict,) = curate([given], config)
        assert verdict.kept, str(verdict)
        assert text(0) in verdict.text and "<p>" not in verdict.text
    (empty,) = curate([b"<html></html>"], config)
    assert (empty.stage, empty.reason) == ("extract", "no_text")


@pytest.mark.parametrize("head", ["<!DOCTYPE html>", "\ufeff <HTML lang=en>", "<!-- a comment -->\n<head>"])
def test_html_that_no_stage_turns_into_text_is_refused_and_not_judged_as_text(head: str) -> None:
    page = f"{head}<p>{text(1)}</p>"
    for given in (page, page.encode(), {"html": page}):
        for config in (None, {"stages": ["gopher"]}):
            with pytest.raises(UserError, match=r"page 1: is HTML.*'extract'.*'text'"):
                curate([text(0), given], config)
    (verdict,) = curate([{"text": page}], {"stages": ["exact_dedup"]})
    assert verdict.text == page


@pytest.mark.parametrize(
    "given", ["<p> is a tag.", "a < b", "<a> stands for a link", "", "In HTML, <html> comes first"]
)
def test_a_text_with_some_markup_is_a_text(given: str) -> None:
    (verdict,) = curate([given], {"stages": ["extract", "exact_dedup"]})
    assert verdict.text == given


def test_attributes_and_urls_reach_the_stages() -> None:
    pages = [{"text": text(number), "url": f"http://{host}/", "topic": host} for number, host in enumerate("aab")]
    stages = ["tokens", {"mixture": {"by": "topic", "weights": {"a": 0.0, "b": 1.0}, "tokens": 1000}}]
    kept = [verdict.kept for verdict in curate(pages, {"stages": stages})]
    assert kept == [False, False, True]


def test_a_generator_and_no_page_at_all_will_do() -> None:
    assert curate(iter([])) == []
    assert [verdict.kept for verdict in curate(text(number) for number in range(300))] == [True] * 300


@pytest.mark.parametrize("page", [7, None, {"url": "http://a/"}, ["text"]])
def test_what_is_no_page_is_told_by_its_number(page: Any) -> None:
    with pytest.raises(UserError, match="page 1: must be a text, HTML bytes, or a mapping"):
        curate([text(0), page])


def test_a_config_with_a_fault_is_told() -> None:
    with pytest.raises(UserError, match="did you mean 'threshold'"):
        curate([], {"stages": [{"near_dedup": {"treshold": 0.8}}]})


@pytest.mark.parametrize("page", ["one text", b"<p>one page", {"text": "one text"}])
def test_one_page_is_no_list_of_its_letters(page: Any) -> None:
    with pytest.raises(UserError, match=r"pages: is one page; give a list of pages"):
        curate(page)
    assert len(curate([page], {"stages": ["extract"]})) == 1


def test_a_path_is_no_config() -> None:
    with pytest.raises(UserError, match=r"config: must be a mapping with 'stages', or what read_config\(FILE\)"):
        curate(["a text"], "configs/sample.yaml")  # type: ignore[arg-type]


def test_large_numbers_of_a_verdict_keep_their_digits() -> None:
    verdict = Verdict("gopher", "too_many_words", 1234567, 100_000)
    assert str(verdict) == "gopher: too_many_words (1,234,567, limit 100,000)"


def test_texts_are_cut_as_a_run_on_files_cuts_them(tmp_path: Path) -> None:
    """Stages behind one that cuts see the cut text, and a page that is dropped for it keeps its own."""
    lines = ["menu", "menu\none two three", "one two three", "menu\nfour five\nmenu", "a b c d e", "x a b c d y"]
    stages = ["tokens", {"line_dedup": {"scope": "corpus"}}, "exact_dedup", {"substring_dedup": {"min_tokens": 4}}]
    verdicts = curate([{"text": line} for line in lines], {"stages": stages})
    assert [verdict.text for verdict in verdicts] == [
        "menu",
        "one two three",
        "one two three",
        "four five",
        "a b c d e",
        "x y",
    ]
    assert [(v.reason, v.value, v.matched) for v in verdicts if not v] == [("nothing_left", 0, 1)]
    path = write_jsonl(tmp_path / "in.jsonl", lines)
    run_it(settings(str(path), tmp_path / "out", stages=stages))
    kept = table(tmp_path / "out", "shards")["text"].to_pylist()
    assert kept == [verdict.text for verdict in verdicts if verdict]


def test_a_stage_that_takes_many_at_once_gets_the_pages_in_blocks() -> None:
    CALLS.clear()
    verdicts = curate([f"page {number}" for number in range(300)], {"stages": ["tests.together:Reversing"]})
    assert CALLS == [256, 44]
    assert [verdict.text for verdict in verdicts] == [f"page {number}"[::-1] for number in range(300)]
