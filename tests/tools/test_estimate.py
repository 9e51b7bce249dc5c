"""What a sample says of the whole: the ranges hold what a full run finds."""

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from curate.commands.make.estimate import duration, for_workers, lines
from curate.config.file import parse_config
from curate.errors import UserError
from curate.executors.processes import Processes
from curate.scan.crawl import input_files
from curate.tools.estimate import draw, estimate, ratio, student_95
from tests.engine import crawl, run_it, settings, texts, write_jsonl
from tests.report.finished import call

STAGES = ["language", "gopher", "exact_dedup"]


@pytest.fixture(scope="module")
def executor() -> Iterator[Processes]:
    made = Processes(2)
    yield made
    made.close()


def estimated_of(config: dict[str, Any], executor: Processes, work: Path, share: float) -> dict[str, Any]:
    work.mkdir()
    return estimate(parse_config(config), executor, work, share, 0, 4 << 30)


def test_the_ranges_hold_what_the_whole_run_finds(executor: Processes, tmp_path: Path) -> None:
    glob = crawl(tmp_path / "in", files=3, each=1000)
    config = settings(glob, tmp_path / "out", stages=STAGES)
    estimated = estimated_of(config, executor, tmp_path / "work", 0.3)
    stats = run_it(config).stats
    passed = 3000 - sum(row["documents"] for row in stats["dropped"] if row["stage"] != "exact_dedup")
    assert 0.25 < estimated["sample"]["share"] < 0.4
    assert 600 < estimated["sample"]["pages"] < 1300
    for name, actual in (("pages", 3000), ("pass_pages", passed), ("pass_share", passed / 3000)):
        assert estimated[name]["low"] <= actual <= estimated[name]["high"], name
        assert estimated[name]["high"] - estimated[name]["low"] < estimated[name]["value"]
    written = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.parquet"))
    assert estimated["output_bytes"] == pytest.approx(written, rel=0.5)
    assert estimated["worker_memory_bytes"] > 50e6


def test_with_all_of_the_input_there_is_nothing_to_guess(executor: Processes, tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=2, each=50), tmp_path / "out", stages=STAGES)
    estimated = estimated_of(config, executor, tmp_path / "work", 1.0)
    assert estimated["pages"] == {"value": 100.0, "low": 100.0, "high": 100.0}
    assert estimated["sample"]["slices"] == estimated["sample"]["of_slices"]
    shown = "\n".join(lines(for_workers(estimated, 2)))
    assert f"sample   all {estimated['sample']['slices']} slices, " in shown and "pages    100\n" in shown
    assert "range    none, since the sample is the whole input" in shown


def test_more_slices_may_be_drawn_than_the_guess_of_how_many_there_are(tmp_path: Path) -> None:
    config = parse_config(settings(crawl(tmp_path / "in", files=9, each=20), tmp_path / "out", stages=STAGES))
    sample = draw(config, input_files(config), tmp_path, 1.0, 0)
    assert len(sample.tasks) == sample.slices >= 9


def test_the_time_begins_with_the_start_of_the_workers(executor: Processes, tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=50), tmp_path / "out", stages=STAGES)
    estimated = estimated_of(config, executor, tmp_path / "work", 1.0)
    assert estimated["start_up_seconds"] > 0
    assert f"time     start about {duration(estimated['start_up_seconds'])}, scan " in "\n".join(
        lines(for_workers(estimated, 2))
    )


def test_one_slice_has_no_range(executor: Processes, tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=50), tmp_path / "out", stages=STAGES)
    estimated = estimated_of(config, executor, tmp_path / "work", 1.0)
    estimated["sample"] = {**estimated["sample"], "slices": 1, "share": 0.5}
    assert "range    none, since one slice" in "\n".join(lines(for_workers(estimated, 2)))


def test_nothing_is_left_where_the_run_would_write(executor: Processes, tmp_path: Path) -> None:
    config = settings(crawl(tmp_path / "in", files=1, each=50), tmp_path / "out", stages=STAGES)
    estimated_of(config, executor, tmp_path / "work", 1.0)
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_cut_is_drawn_whole(executor: Processes, tmp_path: Path) -> None:
    for number in range(2):
        path = write_jsonl(tmp_path / f"{number}.jsonl", texts(300))
        (tmp_path / f"{number}.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    config = settings(f"{tmp_path}/*.jsonl.gz", tmp_path / "out", stages=STAGES)
    estimated = estimated_of(config, executor, tmp_path / "work", 0.01)
    assert estimated["sample"]["slices"] == 1 or estimated["sample"]["share"] == 1
    assert estimated["pages"]["value"] == pytest.approx(600, rel=0.05)


def test_an_empty_input_is_told(executor: Processes, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    with pytest.raises(UserError, match="the input is empty"):
        estimated_of(settings(str(tmp_path / "a.jsonl"), tmp_path / "out"), executor, tmp_path / "work", 0.1)


def test_the_seed_chooses_the_slices(tmp_path: Path) -> None:
    config = parse_config(settings(crawl(tmp_path / "in", files=3, each=1000), tmp_path / "out"))
    files = input_files(config)

    def parts(seed: int) -> list[Any]:
        return [(task.file_index, task.part) for task in draw(config, files, tmp_path, 0.2, seed).tasks]

    assert parts(1) == parts(1) != parts(2)
    assert len(set(parts(1))) == len(parts(1))


def test_the_range_of_a_ratio_holds_the_truth_as_often_as_it_says() -> None:
    rng = Random(5)
    sizes = [rng.uniform(0.5, 2) for _ in range(400)]
    amounts = [size * rng.gauss(10, 3) for size in sizes]
    truth, held = sum(amounts) / sum(sizes), 0
    for _ in range(2000):
        drawn = rng.sample(range(400), 12)
        estimated = ratio([amounts[i] for i in drawn], [sizes[i] for i in drawn], 12 / 400)
        assert estimated.low is not None and estimated.high is not None
        held += estimated.low <= truth <= estimated.high
    assert 0.92 < held / 2000 < 0.97


@pytest.mark.parametrize(("freedom", "quantile"), [(3, 3.18245), (7, 2.36462), (11, 2.20099), (29, 2.04523)])
def test_quantiles_of_students_t(freedom: int, quantile: float) -> None:
    assert math.isclose(student_95(freedom), quantile, rel_tol=2e-3)


def test_the_command_as_text_and_as_json(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(json.dumps(settings(crawl(tmp_path / "in", files=2, each=200), tmp_path / "out", stages=STAGES)))
    done = call("estimate", config, "--workers", 64)
    assert done.exit_code == 0
    for word in ("sample", "pages", "kept", "time", "disk", "memory", "range", "with 64 workers"):
        assert word in done.output
    estimated = json.loads(call("estimate", config, "--json", "--workers", 64).output)
    assert estimated["workers"] == 64
    assert estimated["scan_wall_seconds"]["value"] == pytest.approx(estimated["scan_cpu_seconds"]["value"] / 64)
