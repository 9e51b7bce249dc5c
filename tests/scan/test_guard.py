"""A page that kills its worker costs exactly that page; a stranger's kill costs nothing."""

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.executors.executor import Executor
from curate.executors.processes import Processes
from curate.scan import guard
from tests.engine import run_it, settings, table, text, tree_hash, write_jsonl
from tests.together import CALLS

MEMORY = 4 << 30
ROOT = Path(__file__).parents[2]


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
    [
        ({"hang": 5}, "hung: signal 27"),
        ({"crash": 5}, "crashed: signal 11"),
        ({"leave": 5, "status": 3}, "crashed: also alone, exit status 3"),
        ({"leave": 5, "status": 0}, "crashed: also alone, exit status 0"),
        ({"eat": 5}, "out_of_memory: in tests.hostile:Hostile"),
        ({"killed": 5}, "out_of_memory: also alone, signal 9"),
    ],
)
def test_the_page_is_entered_and_all_others_pass(options: dict[str, Any], reason: str, tmp_path: Path) -> None:
    run_hostile(hostile(tmp_path, **options))
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["stage"], f"{row['reason']}: {row['cause']}") == ("guard", reason)
    assert row["url"].endswith("/5")
    assert table(tmp_path / "out", "shards").num_rows == 11


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"hang": 5}, "hung"), ({"crash": 5}, "crashed"), ({"leave": 5}, "crashed"), ({"eat": 5}, "out_of_memory")],
)
def test_a_page_among_many_that_a_stage_has_at_once_is_found(options: Any, reason: str, tmp_path: Path) -> None:
    config = hostile(tmp_path)
    config["stages"] = [{"tests.together:HostileTogether": options}]
    config["cpu_seconds"] = 0.2
    run_hostile(config, workers=2)
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["stage"], row["reason"], row["url"][-2:]) == ("guard", reason, "/5")
    assert table(tmp_path / "out", "shards").num_rows == 11


def test_an_interrupt_that_a_stage_raises_is_its_pages_error(tmp_path: Path) -> None:
    run_hostile(hostile(tmp_path, interrupt=5))
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["stage"], row["reason"]) == ("tests.hostile:Hostile", "failed")
    assert row["cause"].startswith("KeyboardInterrupt") and table(tmp_path / "out", "shards").num_rows == 11


@pytest.mark.parametrize(
    ("place", "way", "message"),
    [
        ("sketch", "0", r"the worker died 5 times in sketch\(\) over .*a.jsonl \(exit status 0\); mend the stage"),
        ("sketch", "crash", r"the worker died 5 times in sketch\(\) over .*a.jsonl \(signal 11\); mend the stage"),
        ("sketch", "interrupt", r"KeyboardInterrupt \(hostile.py:\d+\); mend the stage"),
        ("decide", "0", r"its process ended in decide\(\) \(exit status 0\); mend the stage"),
        ("decide", "crash", r"its process ended in decide\(\) \(signal 11\); mend the stage"),
        ("decide", "interrupt", r"KeyboardInterrupt \(hostile.py:\d+\); mend the stage"),
    ],
)
def test_a_corpus_stage_that_ends_its_process_is_named(place: str, way: str, message: str, tmp_path: Path) -> None:
    config = hostile(tmp_path)
    config["stages"] = [{"tests.hostile:HostileCorpus": {"place": place, "way": way}}]
    with pytest.raises(UserError, match=f"^stage 'tests.hostile:HostileCorpus': {message}"):
        run_hostile(config)
    assert not (tmp_path / "out/manifest.json").exists()


def test_a_run_goes_on_with_the_corpus_stage_that_took_it_down(tmp_path: Path) -> None:
    """And the stages before it are not done again."""
    config = hostile(tmp_path)
    config["stages"] = ["exact_dedup", {"tests.hostile:HostileCorpus": {"place": "decide", "way": "7"}}]
    for _ in range(2):
        with pytest.raises(UserError, match=r"exit status 7"):
            run_hostile(config)
        notes = tmp_path / "out/.work/decide/verdicts/notes.json"
        assert list(json.loads(notes.read_text())) == ["exact_dedup"]


def test_a_corpus_stage_of_ones_own_decides_as_one_of_ours(tmp_path: Path) -> None:
    config = hostile(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", [text(n % 5) for n in range(12)])
    ends = []
    for name in ("exact_dedup", "tests.hostile:OneMore"):
        out = tmp_path / name
        run_hostile({**config, "stages": [name], "output": str(out)}, workers=2)
        ends.append([table(out, "shards").to_pylist(), table(out, "ledger").drop_columns("stage").to_pylist()])
    assert ends[0] == ends[1] and len(ends[0][0]) == 5


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


def test_the_timer_runs_while_a_page_is_on_the_belt_and_not_while_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    armed: list[float | None] = []
    monkeypatch.setattr(guard, "arm", armed.append)
    run_it(hostile(tmp_path, hang=99))
    assert armed == [1.0, None, 1.0, None] * 12 + [None]  # to be decoded, and on the belt


def test_a_body_is_decoded_under_the_cursor_and_the_timer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a reader does with a text beyond finding it costs that text and no other."""
    seen: list[tuple[int, bool]] = []

    def watched(text: str) -> str:
        if text.startswith(("first", "eater")):
            (cursor,) = tmp_path.glob("out/.work/scan/*.tmp/cursor")
            seen.append((guard.cursor_at(cursor).offset, signal.getitimer(signal.ITIMER_PROF)[0] > 0))
        if text.startswith("eater"):
            raise MemoryError
        return text

    monkeypatch.setattr("curate.sources.jsonl.clean", watched)
    path = write_jsonl(tmp_path / "a.jsonl", ["first " + text(1), "eater", text(2)])
    run_it(settings(str(path), tmp_path / "out", stages=["exact_dedup"], cpu_seconds=5.0))
    assert seen == [(0, True), (len(path.read_bytes().split(b"\n")[0]) + 1, True)]
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["stage"], row["reason"], row["url"][-2:]) == ("guard", "out_of_memory", "/1")
    assert table(tmp_path / "out", "shards").num_rows == 2


def test_nothing_of_the_guard_is_left_in_a_process_whose_run_failed(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    config = hostile(tmp_path, interrupt=5)
    with pytest.raises(KeyboardInterrupt):  # in the driver itself it is taken for a person's
        run_it(config, memory=MEMORY)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_many_at_once_give_the_bytes_of_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{'A meadow and ' if n % 7 == 0 else ''}{text(n)}" for n in range(600)]
    config = settings(str(write_jsonl(tmp_path / "a.jsonl", lines)), tmp_path / "out")
    config["stages"] = ["tests.together:Scoring", "tests.together:Reversing", "exact_dedup"]
    CALLS.clear()
    run_it(config)
    hashes, most = [tree_hash(tmp_path / "out")], max(CALLS)
    run_it(config, slice_bytes=20_000, fresh=True)
    hashes.append(tree_hash(tmp_path / "out"))
    monkeypatch.setattr("curate.belt.takes_many", lambda stage: False)
    CALLS.clear()
    run_it(config, fresh=True)
    assert most == 256 and set(CALLS) == {1}
    assert {*hashes, tree_hash(tmp_path / "out")} == {hashes[0]}


def test_a_limit_counts_the_pages_that_wait(tmp_path: Path) -> None:
    config = settings(str(write_jsonl(tmp_path / "a.jsonl", [text(n) for n in range(30)])), tmp_path / "out")
    config["stages"] = [{"tests.together:Scoring": {"min_share": None}}]
    run_it(config, limit=10)
    assert table(tmp_path / "out", "shards").num_rows == 10


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
    place = f"{tmp_path / 'a.jsonl'}:"
    assert place in first.stderr.decode() and "--executor processes" in first.stderr.decode()
    again = subprocess.run(command, cwd=ROOT, capture_output=True)
    assert again.returncode == 0, again.stderr
    (row,) = table(tmp_path / "out", "ledger").to_pylist()
    assert (row["reason"], row["url"][-2:]) == ("crashed", "/5")
