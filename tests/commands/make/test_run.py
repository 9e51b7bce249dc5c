"""`curate run` as a process: stopped and gone on with, watched and not watched."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.calling import written
from tests.engine import apart, crawl, run_it, settings, tree_hash

ROOT = Path(__file__).parents[3]


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    folder = tmp_path / "gate"
    folder.mkdir()
    return folder


@pytest.fixture
def config(tmp_path: Path, gate: Path) -> dict[str, Any]:
    """A run in which each file has a page that waits at the gate."""
    stages = [{"tests.gate:Gate": {"folder": str(gate), "page": 25}}, "language", "gopher", "exact_dedup", "near_dedup"]
    return settings(apart(crawl(tmp_path / "in", files=3, each=40)), tmp_path / "out", stages=stages)


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are ended with the test."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def start(path: str, *options: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """`curate run` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", "from curate.cli import main; main()", "run", path, *options],
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def wait_for_waiting(gate: Path, count: int, process: subprocess.Popen[str]) -> None:
    for _ in range(1200):
        if len(list(gate.glob("waits-*"))) >= count:
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    raise AssertionError("no page came to the gate")


@pytest.mark.parametrize("executor", ["serial", "processes"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_says_so_and_goes_on_to_the_same_tree(
    number: int,
    status: int,
    executor: str,
    config: dict[str, Any],
    gate: Path,
    tmp_path: Path,
    started: list[subprocess.Popen[str]],
) -> None:
    path = written(tmp_path, config)
    process = start(path, "--executor", executor, "--workers", "2")
    started.append(process)
    wait_for_waiting(gate, 2 if executor == "processes" else 1, process)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == status, said
    assert "the same command goes on where it was" in said and "Traceback" not in said
    assert not (tmp_path / "out" / "manifest.json").exists()
    (gate / "open").touch()
    again = start(path, "--executor", executor, "--workers", "2")
    started.append(again)
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert "going on with the run" in said
    run_it({**config, "output": str(tmp_path / "undisturbed")})
    assert tree_hash(tmp_path / "out") == tree_hash(tmp_path / "undisturbed")


def test_a_second_run_into_one_output_is_refused(
    config: dict[str, Any], gate: Path, tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    path = written(tmp_path, config)
    first = start(path, "--executor", "serial")
    started.append(first)
    wait_for_waiting(gate, 1, first)
    second = start(path, "--executor", "serial", "--fresh")
    started.append(second)
    _, said = second.communicate(timeout=120)
    assert second.returncode == 2
    assert f"another run is at work here (process {first.pid} on " in said and said.count("\n") == 1
    (gate / "open").touch()
    assert first.communicate(timeout=120) and first.returncode == 0


def test_where_no_one_watches_there_are_lines(config: dict[str, Any], gate: Path, tmp_path: Path) -> None:
    (gate / "open").touch()
    process = start(written(tmp_path, config), "--workers", "1")
    out, said = process.communicate(timeout=120)
    assert process.returncode == 0
    lines = said.splitlines()
    assert lines[0].startswith("curate: scan 3 slices, ")
    work, (end, *next_steps) = lines[:-4], lines[-4:]
    assert work[-1] == "curate: write 1 shard" and "curate: decide near_dedup" in work
    assert all(line.startswith("curate: ") for line in work) and "\r" not in said
    assert end.startswith("curate: ") and end.endswith(f", in {tmp_path / 'out'}")
    assert [line.split()[:2] for line in next_steps] == [["curate", word] for word in ("stats", "report", "why")]
    assert out.splitlines()[-1].startswith("kept ")


def test_on_a_terminal_there_is_a_bar(config: dict[str, Any], gate: Path, tmp_path: Path) -> None:
    (gate / "open").touch()
    ours, theirs = pty.openpty()
    process = start(written(tmp_path, config), "--workers", "1", stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # what Linux says when the other side is closed
            break
        if not piece:
            break
        shown += piece
    process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0
    bar = shown.decode()
    assert "scan 100%" in bar and "pages/s" in bar and "pass" in bar and "\r" in bar


def test_timings_and_stats_are_apart(config: dict[str, Any], gate: Path, tmp_path: Path) -> None:
    (gate / "open").touch()
    run_it(config)
    timings = json.loads((tmp_path / "out" / "timings.json").read_text())
    assert {"scan", "decide", "write"} == set(timings["wall_seconds"])
    assert "wall_seconds" not in json.loads((tmp_path / "out" / "stats.json").read_text())
