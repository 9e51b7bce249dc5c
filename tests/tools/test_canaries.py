"""Canaries: nothing of the output changes by them, and each stage's share of them is told."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from curate.config.file import parse_config
from curate.executors.executor import Serial
from curate.run import Options, Report, run
from curate.tools.canaries import COPIES, plant, report_lines
from curate.tools.canary_pages import BOILERPLATE, FOREIGN, rule_breaking
from tests.report.finished import ROOT, call, pages

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "en", "ist")]
EASY = {"languages": None, "min_stop_words": None, "min_mean_word_length": None}


def crawl(documents: int) -> list[dict[str, Any]]:
    draw = random.Random(11)
    made: list[list[str]] = []
    for _ in range(documents):
        words = [draw.choice(WORDS) for _ in range(draw.randrange(60, 140))]
        if made and draw.random() < 0.5:
            words = list(draw.choice(made[-30:]))
            for _ in range(draw.choice([0, 1, 2, 4])):
                words[draw.randrange(len(words))] = draw.choice(WORDS)
        made.append(words)
    return [{"text": " ".join(words), "rank": draw.randrange(9)} for words in made]


def ran(folder: Path, stages: list[Any], source: Any, canaries: bool) -> Report:
    config = parse_config({"input": source, "output": str(folder), "stages": stages})
    options = Options(decided=plant if canaries else None)
    return run(config, Serial(), options, lambda phase, figures: None, lambda sentence: None)


def tree(folder: Path) -> dict[str, bytes]:
    apart = (".canaries.json", "timings.json")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.name not in apart
    }


@pytest.mark.parametrize("cluster", ["kept", "component"])
@pytest.mark.parametrize("keep", ["first", "longest", {"by": "rank"}], ids=str)
def test_the_output_is_that_of_a_run_without(keep: Any, cluster: str, tmp_path: Path) -> None:
    source = {"path": pages(tmp_path, crawl(150)), "columns": {"rank": "int64"}}
    near = {"near_dedup": {"threshold": 0.7, "keep": keep, "cluster": cluster}}
    mixture = {"mixture": {"weights": {"crawl": 1}, "tokens": 4000, "repeat": "never"}}
    stages = [{"gopher": EASY}, "tokens", "exact_dedup", near, mixture]
    without = ran(tmp_path / "without", stages, source, False)
    planted = ran(tmp_path / "with", stages, source, True)
    assert tree(tmp_path / "with") == tree(tmp_path / "without")
    assert without.decided is None and planted.decided is not None
    assert planted.decided["stages"]["exact_dedup"]["recall"] == 1.0
    assert planted.decided["stages"]["near_dedup"]["recall"] > 0.8


def test_the_sample_crawl_catches_each_kind(tmp_path: Path) -> None:
    config = (ROOT / "configs" / "sample.yaml").read_text().replace("sample_crawl/", f"{ROOT}/sample_crawl/")
    (tmp_path / "sample.yaml").write_text(config.replace("out/", f"{tmp_path}/out/"))
    done = call("run", tmp_path / "sample.yaml", "--canaries", "--executor", "serial")
    planted = json.loads((tmp_path / "out" / ".canaries.json").read_text())
    assert "\n".join(report_lines(planted)) in done.output
    kinds = planted["kinds"]
    assert {kind: counts["planted"] for kind, counts in kinds.items()} == {
        "exact_copy": COPIES,
        "near_copy": COPIES,
        "foreign": len(FOREIGN),
        "boilerplate": len(BOILERPLATE),
        "rule_breaking": len(rule_breaking()),
    }
    for kind in ("exact_copy", "foreign", "boilerplate", "rule_breaking"):
        assert not kinds[kind]["passed"], kind
    assert planted["stages"]["exact_dedup"]["recall"] == planted["stages"]["language"]["recall"] == 1.0
    near = [page for page in planted["pages"] if page["kind"] == "near_copy"]
    assert all(page["stage"] == "near_dedup" for page in near if page["similarity"] > 0.9)
    assert all(abs(page["similarity"] - 0.875) < 0.1 for page in near)
    again = call("run", tmp_path / "sample.yaml", "--canaries", "--executor", "serial")
    assert "give --fresh" in again.output


def test_a_run_that_keeps_nothing_has_made_pages_alone(tmp_path: Path) -> None:
    source = pages(tmp_path, [{"text": "few words"}])
    planted = ran(tmp_path / "out", ["language", {"gopher": {"min_words": 99}}, "near_dedup"], source, True).decided
    assert planted is not None and set(planted["kinds"]) == {"foreign", "boilerplate", "rule_breaking"}
