"""A run at work, seen from outside: what it wrote so far, where it is, how it ended."""

import json
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.executors.processes import Processes
from curate.inspect.running import FINISHED, RUNNING, STOPPED, RunningRun, Snapshot
from curate.output.folder import Output
from curate.scan import crawl as scanning
from curate.scan import live
from tests.engine import crawl, run_it, settings


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SECONDS", 0.02)
    monkeypatch.setattr(scanning, "GROUP_FILES", 1)  # a task a file


def watched(folder: Path, at: str, documents: int, **options: Any) -> list[Snapshot]:
    """Runs stages over made pages; a snapshot at each call of the phase `at`, when so many pages are told."""
    found: list[Snapshot] = []
    output = Output.at(str(folder / "out"), None)
    seen = Counter[str]()

    def progress(phase: str, about: Mapping[str, Any]) -> None:
        seen["documents"] += about["documents"] if phase == "scan" else 0
        if phase != at:
            return
        end = time.monotonic() + 20
        while time.monotonic() < end:
            snapshot = RunningRun(output).snapshot()
            if snapshot["documents"] >= seen["documents"] and snapshot["phase"] == at:
                break
            time.sleep(0.01)
        found.append(snapshot)

    run_it(settings(crawl(folder / "in"), folder / "out"), progress=progress, slice_bytes=1 << 20, **options)
    assert seen["documents"] == documents
    return found


def test_while_it_scans_and_when_all_is_read(tmp_path: Path) -> None:
    found = watched(tmp_path, "scan", 120)
    assert [one["documents"] for one in found] == [40, 80, 120] and {one["state"] for one in found} == {RUNNING}
    shares = [one["share"] for one in found]
    assert shares[-1] == 1.0 and all(share is not None and 0.2 < share < 0.8 for share in shares[:2])
    speed = found[1]["pages_per_second"]
    assert speed is not None and 0 < speed < 80 / max(1e-9, found[1]["seconds"]) + 1
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    lost = Counter[str]()
    for row in stats["dropped"]:
        lost[row["stage"]] += row["documents"]
    left = 120
    for row in found[-1]["stages"]:
        if row["stage"] in ("exact_dedup", "near_dedup"):
            assert row["pages"] is None and row["dropped"] is None  # they have not decided yet
            continue
        assert (row["pages"], row["dropped"]) == (left, lost[row["stage"]])
        left -= lost[row["stage"]]
    assert found[-1]["passed"] == left > stats["kept"]["documents"]
    slow = found[-1]["slowest"]
    assert len(slow) == live.SLOWEST and slow == sorted(slow, key=lambda page: -page["cpu_seconds"])
    assert {page["file"] for page in slow} <= {str(path) for path in (tmp_path / "in").iterdir()}


def test_tasks_at_work_are_counted_too(tmp_path: Path) -> None:
    """The second file is at work when the first is done: its committed records count."""
    watched(tmp_path, "write", 120, keep_work=True)
    work = tmp_path / "out" / ".work"
    (tmp_path / "out" / "manifest.json").unlink()
    facts = json.loads((work / live.NAME).read_text())
    done = json.loads((work / "scan" / "000001" / "result.json").read_text())
    (work / "scan" / "000001").rename(work / "scan" / "000001.tmp")
    (work / "scan" / "000001.tmp" / "state.json").write_text(json.dumps(done))
    facts |= {"phase": "scan", "documents": 80, "survivors": facts["survivors"] - done["survivors"], "tasks_done": 2}
    (work / live.NAME).write_text(json.dumps(facts | {"bytes_done": facts["bytes"] // 2}))
    found = RunningRun(Output.at(str(tmp_path / "out"), None)).snapshot()
    assert (found["state"], found["documents"]) == (STOPPED, 120)
    (task,) = found["at_work"]
    assert task["documents"] == 40 and task["share"] == 1.0 and task["file"].endswith("part-1.jsonl")
    assert found["share"] is not None and 0.8 < found["share"] <= 1.0
    assert "survivors" not in task and "dropped" not in task


def test_small_files_that_share_a_task_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "GROUP_FILES", 64)
    watched(tmp_path, "none", 120, keep_work=True)
    work = tmp_path / "out" / ".work"
    (tmp_path / "out" / "manifest.json").unlink()
    (work / "scan" / "000000").rename(work / "scan" / "000000.tmp")
    state = json.loads((work / "scan" / "000000.tmp" / "result.json").read_text())
    state["pieces"] = state["pieces"][:2]
    (work / "scan" / "000000.tmp" / "state.json").write_text(json.dumps(state))
    facts = json.loads((work / live.NAME).read_text()) | {"phase": "scan", "documents": 0, "bytes_done": 0}
    (work / live.NAME).write_text(json.dumps(facts))
    (task,) = RunningRun(Output.at(str(tmp_path / "out"), None)).snapshot()["at_work"]
    sizes = [path.stat().st_size for path in sorted((tmp_path / "in").iterdir())]
    assert task["file"].endswith("part-1.jsonl") and task["offset"] == sizes[1]
    assert task["share"] == pytest.approx(sum(sizes[:2]) / sum(sizes))


def test_a_trial_run_counts_each_page_once(tmp_path: Path) -> None:
    """A task that is let read further is told again."""
    for source in ("a", "b"):
        crawl(tmp_path / source, files=1, each=5 if source == "a" else 40)
    inputs = {source: {"path": f"{tmp_path / source}/*.jsonl", "url": "url"} for source in ("a", "b")}
    found: list[Any] = []

    def progress(phase: str, about: Mapping[str, Any]) -> None:
        if phase == "decide":
            time.sleep(0.2)
            found.append(json.loads((tmp_path / "out" / ".work" / live.NAME).read_text()))

    run_it(settings(inputs, tmp_path / "out"), progress=progress, limit=30)
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    corpus = {"exact_dedup", "near_dedup"}
    lost = sum(row["documents"] for row in stats["dropped"] if row["stage"] not in corpus)
    assert found[0]["documents"] == 30 == found[0]["survivors"] + lost
    assert sum(sum(reasons.values()) for reasons in found[0]["dropped"].values()) == lost


def test_a_finished_run_says_what_its_stats_say(tmp_path: Path) -> None:
    watched(tmp_path, "none", 120)
    assert not (tmp_path / "out" / ".work").exists()
    found = RunningRun(Output.at(str(tmp_path / "out"), None)).snapshot()
    stats = json.loads((tmp_path / "out" / "stats.json").read_text())
    assert (found["state"], found["documents"], found["passed"]) == (FINISHED, 120, stats["kept"]["documents"])
    assert [row["stage"] for row in found["stages"]][-1] == "near_dedup"


def test_a_run_that_died_is_stopped_and_goes_on(tmp_path: Path) -> None:
    class Killed(Exception):
        """Ends a run as a kill would."""

    def progress(phase: str, about: Mapping[str, Any]) -> None:
        if phase == "scan":
            raise Killed

    config = settings(crawl(tmp_path / "in"), tmp_path / "out")
    with pytest.raises(Killed):
        run_it(config, progress=progress)
    found = RunningRun(Output.at(str(tmp_path / "out"), None)).snapshot()
    assert (found["state"], found["phase"], found["documents"]) == (STOPPED, "scan", 40)
    before: list[Any] = []

    def seen(phase: str, about: Mapping[str, Any]) -> None:
        if phase == "decide":
            before.append(json.loads((tmp_path / "out" / ".work" / live.NAME).read_text()))
            time.sleep(0.1)

    run_it(config, progress=seen)
    assert before[-1]["documents_before"] == 40 and before[-1]["documents"] == 120
    assert 0 < before[-1]["bytes_before"] < before[-1]["bytes_done"] == before[-1]["bytes"]


def test_workers_tell_as_one_process_does(tmp_path: Path) -> None:
    executor = Processes(2)
    found: list[Snapshot] = []

    def progress(phase: str, about: Mapping[str, Any]) -> None:
        if phase == "write":
            time.sleep(0.2)
            found.append(RunningRun(Output.at(str(tmp_path / "out"), None)).snapshot())

    try:
        run_it(settings(crawl(tmp_path / "in"), tmp_path / "out"), executor, progress)
    finally:
        executor.close()
    assert (found[0]["phase"], found[0]["documents"], found[0]["workers"]) == ("write", 120, 2)


def test_alarms(tmp_path: Path) -> None:
    watched(tmp_path, "none", 120, keep_work=True)
    out = tmp_path / "out"
    (out / "manifest.json").unlink()
    work = out / ".work"
    facts = json.loads((work / live.NAME).read_text())
    dropped = {"read": {"damaged": 2}, "gopher": {"too_few_words": 1900, "bullets": 3}}
    state = {"phase": "scan", "documents": 2000, "dropped": dropped, "failed": 3, "failure": "f.warc:0 in x: E: broken"}
    (work / live.NAME).write_text(json.dumps(facts | state))
    (work / "guard" / "000000-77.json").write_text(json.dumps({"reason": "hung", "cause": ""}))
    found = RunningRun(Output.at(str(out), None)).snapshot()
    assert found["alarms"] == [
        "stages failed on 3 pages (max_failed allows 0.01 of all); first: f.warc:0 in x: E: broken",
        "2 damaged places in the input",
        "1 page hung",
        "gopher drops 95.2% of its pages, most for too_few_words",
    ]


def test_where_no_run_is(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no run is at work here"):
        RunningRun(Output.at(str(tmp_path), None)).snapshot()
