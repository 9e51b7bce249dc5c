"""A page that kills its worker costs exactly that page; a stranger's kill costs nothing."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from curate.executor import Executor
from curate.processes import Processes
from tests.engine import run_it, settings, table, text, tree_hash, write_jsonl

MEMORY = 4 << 30
ROOT = Path(__file__).parents[1]


def hostile(tmp_path: Path, **options: Any) -> dict[str, Any]:
    glob = write_jsonl(tmp_path / "a.jsonl", [text(n) for n in range(12)])
    return settings(str(glob), tmp_path / "out", stages=[{"tests.hostile:Hostile": options}], cpu_seconds=1.0)


def run_hostile(config: dict[str, Any], workers: int = 1) -> None:
    executor: Executor = Processes(workers)
    try:
        run_it(config, executor, memory=MEMORY)
    finally:
        executor.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"hang": 5}, "hung"), ({"crash": 5}, "crashed"), ({"eat": 5}, "out_of_memory"), ({"killed": 5}, "out_of_memory")],
)
def test_the_page_is_entered_and_all_others_pass(options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    run_hostile(hostile(tmp_path, **options))
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["stage"], row["reason"]) == ("guard", reason)
    assert row["url"].endswith("/5")
    assert table(tmp_path / "out", "shards").num_rows == 11


def test_several_bad_pages_with_several_workers(tmp_path: Path) -> None:
    run_hostile(hostile(tmp_path, hang=2, crash=3, eat=9), workers=2)
    reasons = {row["url"][-1]: row["reason"] for row in table(tmp_path / "out", "ledger").to_pylist()}
    assert reasons == {"2": "hung", "3": "crashed", "9": "out_of_memory"}


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_strangers_kills_cost_nothing(times: int, tmp_path: Path) -> None:
    """Also where they hit the process in which the page is tried alone."""
    run_hostile(hostile(tmp_path, killed_once=5, times=times, marker=str(tmp_path / "marker")))
    assert (tmp_path / "marker").stat().st_size == times
    assert table(tmp_path / "out", "ledger").num_rows == 0
    assert table(tmp_path / "out", "shards").num_rows == 12


def test_verdicts_are_replayed(tmp_path: Path) -> None:
    config = hostile(tmp_path, hang=5)
    run_hostile(config)
    first = tree_hash(tmp_path / "out")
    executor = Processes(1)
    run_it(config, executor, memory=MEMORY, fresh=True)
    executor.close()
    assert tree_hash(tmp_path / "out") == first


def test_a_page_that_took_a_serial_run_down_is_tried_alone_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(hostile(tmp_path, crash=5)))
    command = [sys.executable, "-c", "from curate.cli import main; main()", "run", str(path), "--executor", "serial"]
    first = subprocess.run(command, cwd=ROOT, capture_output=True)
    assert first.returncode == -signal.SIGSEGV
    again = subprocess.run(command, cwd=ROOT, capture_output=True)
    assert again.returncode == 0, again.stderr
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["reason"], row["url"][-2:]) == ("crashed", "/5")
